"""The permissions that Aside needs in the place of a scene."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

import discord

from bot.errors import MissingPermission

if TYPE_CHECKING:
    from collections.abc import Sequence

PlayableChannel: TypeAlias = discord.abc.GuildChannel | discord.Thread

INVITE_PERMISSIONS = discord.Permissions(
    view_channel=True,
    send_messages=True,
    send_messages_in_threads=True,
    create_public_threads=True,
    create_private_threads=True,
    embed_links=True,
    attach_files=True,
    read_message_history=True,
    manage_webhooks=True,
    manage_roles=True,
)
"""The permissions that Aside's invitation asks for.

Only mentionable characters need Manage Roles. Only branches need Create Public Threads, or Create
Private Threads if the scene plays in a private thread.
"""

HIDDEN_NAME: Final = "___hidden___"
"""The name that Discord gives a bot for a channel that the bot can't see."""

_OPTIONAL = ("attach_files", "read_message_history", "manage_webhooks")
_IMPLIED_BY_SENDING = ("embed_links", "attach_files")  # Discord denies them with Send Messages
_NAMES = {"send_messages_in_threads": "Send Messages in Threads"}


def list_missing_permissions(channel: PlayableChannel, me: discord.Member) -> list[str]:
    """Return the permissions that Aside lacks in a channel or thread.

    They are named as in Discord's settings.
    """
    return _list_missing(channel, me, (*_essential(channel), *_OPTIONAL))


def require_playable(channel: PlayableChannel, me: discord.Member) -> None:
    """Raise MissingPermission if a permission is missing that every scene needs.

    Without the other permissions a scene can still be played, with some features missing.
    """
    if missing := _list_missing(channel, me, _essential(channel)):
        raise explain_missing_permission(missing, describe_channel(channel))


def describe_channel(channel: object) -> str:
    """Return a channel or thread as error sentences name it: "#name" or "this channel"."""
    name = getattr(channel, "name", None)
    return f"#{name}" if name and name != HIDDEN_NAME else "this channel"


def create_invitation(client: discord.Client, guild_id: int | None = None) -> str:
    """Return the address that invites the bot, to this server if one is given."""
    guild = discord.Object(guild_id) if guild_id else discord.utils.MISSING
    return discord.utils.oauth_url(
        client.application_id or 0, permissions=INVITE_PERMISSIONS, guild=guild
    )


def explain_missing_permission(names: Sequence[str], where: str) -> MissingPermission:
    """Return the error that names the missing permissions and the place that lacks them."""
    return MissingPermission(f"I lack a permission in {where}. Allow me {join_names(names)} there.")


def join_names(names: Sequence[str]) -> str:
    """Return names joined as in a sentence: "A, B and C"."""
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)


def _essential(channel: PlayableChannel) -> tuple[str, ...]:
    """Return the permissions that every scene needs. Later ones depend on earlier ones."""
    sending = "send_messages_in_threads" if isinstance(channel, discord.Thread) else "send_messages"
    return ("view_channel", sending, "embed_links")


def _list_missing(channel: PlayableChannel, me: discord.Member, flags: Sequence[str]) -> list[str]:
    """Return the names of the missing permissions, without those that a missing one implies."""
    try:
        granted = channel.permissions_for(me)
    except discord.ClientException:
        # The thread's parent is not in the cache. Discord's response will show the cause.
        return []
    missing = [flag for flag in flags if not getattr(granted, flag)]
    view, sending, _ = _essential(channel)
    if view in missing:
        missing = [view]
    elif sending in missing:
        missing = [flag for flag in missing if flag not in _IMPLIED_BY_SENDING]
    return [_NAMES.get(flag, flag.replace("_", " ").title()) for flag in missing]
