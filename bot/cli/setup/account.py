"""Look up the account of a bot token without going online."""

from __future__ import annotations

from dataclasses import dataclass

import aiohttp
import discord

from bot.cli.run.login import explain_login_error
from bot.errors import AsideError, UserInputError
from bot.posting.permissions import create_invitation


class TokenNotChecked(AsideError):
    """Discord can't be reached, so the token is not checked."""


@dataclass(frozen=True, slots=True)
class Account:
    """A bot's name, its invite link, and whether it has the message content intent."""

    name: str
    invitation: str
    message_content: bool


async def fetch_account(token: str, proxy: str | None = None) -> Account:
    """Return the account of a token.

    Raises UserInputError if Discord rejects it and TokenNotChecked if Discord can't be reached.
    """
    client = discord.Client(intents=discord.Intents.none(), proxy=proxy)
    try:
        async with client:
            await client.login(token)
            link = create_invitation(client)
            flags = client.application_flags
            reads = flags.gateway_message_content or flags.gateway_message_content_limited
            return Account(str(client.user), link, reads)
    except (discord.DiscordException, aiohttp.ClientError, OSError) as error:
        cause = explain_login_error(error)
        if isinstance(cause, UserInputError):
            raise cause from error
        raise TokenNotChecked(f"{cause} Or skip the check with --offline.") from error
