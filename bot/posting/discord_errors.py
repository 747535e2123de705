"""Discord's errors as sentences for people."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Final

import aiohttp
import discord

from bot.errors import ContentRejected, DiscordNotResponding, PostingError
from bot.posting.permissions import explain_missing_permission

if TYPE_CHECKING:
    from collections.abc import Sequence

UNCERTAIN: Final = (discord.DiscordServerError, aiohttp.ClientError, OSError, TimeoutError)
"""Errors that leave it open whether Discord carried out the request."""

REQUEST_ERRORS: Final = (discord.HTTPException, discord.RateLimited, *UNCERTAIN)
"""Every error that a request to Discord may raise."""


class Code(IntEnum):
    """Discord's error codes that Aside handles."""

    UNKNOWN_CHANNEL = 10003
    UNKNOWN_MEMBER = 10007
    UNKNOWN_MESSAGE = 10008
    UNKNOWN_USER = 10013
    UNKNOWN_WEBHOOK = 10015
    EXPLICIT_CONTENT = 20009
    TOO_MANY_WEBHOOKS = 30007
    TOO_MANY_EMOJIS = 30008
    EDITED_TOO_OFTEN = 30046
    TAG_REQUIRED = 40067
    NO_ACCESS = 50001
    DM_CLOSED = 50007
    NO_PERMISSION = 50013
    WEBHOOK_TOKEN = 50027
    THREAD_ARCHIVED = 50083
    DM_UNREACHABLE = 50278
    TWO_FACTOR_REQUIRED = 60003
    HAS_THREAD = 160004
    THREAD_LOCKED = 160005
    AUTOMOD_MESSAGE = 200000
    AUTOMOD_TITLE = 200001
    HARMFUL_LINK = 240000


FILTERED: Final = frozenset(
    {Code.EXPLICIT_CONTENT, Code.AUTOMOD_MESSAGE, Code.AUTOMOD_TITLE, Code.HARMFUL_LINK}
)
"""The codes of a filter that refuses words. It refuses the same words again."""


def is_temporary(error: Exception) -> bool:
    """Return whether the same request may succeed in a moment."""
    if isinstance(error, (*UNCERTAIN, discord.RateLimited)):
        return True
    return getattr(error, "status", 0) == 429


def explain_discord_error(
    error: Exception, where: str, needed: Sequence[str] = ("Send Messages",)
) -> PostingError:
    """Return the PostingError that explains an error of Discord's.

    `where` is the name of the place. `needed` are the permissions that the request takes.
    """
    code = getattr(error, "code", 0)
    if code == Code.NO_PERMISSION:
        return explain_missing_permission(needed, where)
    if code == Code.NO_ACCESS:
        return explain_missing_permission(("View Channel",), where)
    if code == Code.UNKNOWN_CHANNEL:
        return PostingError(
            f"I could not post in {where}. The channel was deleted. Start the scene in another"
            " channel."
        )
    if code == Code.THREAD_ARCHIVED:
        return explain_missing_permission(("Manage Threads",), f"{where}, which is archived")
    if code == Code.THREAD_LOCKED:
        return PostingError(
            f"I could not post in {where}. The thread is locked. Unlock it, then try again."
        )
    if code in FILTERED:
        return ContentRejected(f"A filter refused these words in {where}. Use other words.")
    if code == Code.TAG_REQUIRED:
        return PostingError(f"{where} requires a tag for each post. Create the post yourself.")
    if isinstance(error, UNCERTAIN):
        return DiscordNotResponding(
            f"Discord did not respond when I posted in {where}. Try again in a moment."
        )
    if getattr(error, "status", 0) == 429 or isinstance(error, discord.RateLimited):
        return PostingError(f"Discord limits how fast I post in {where}. Try again in a minute.")
    return PostingError(f"Discord rejected my message in {where} (error {code}). Try again.")
