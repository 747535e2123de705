"""What Aside must be allowed to do where a scene plays, and what of it is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import discord

from bot.errors import MissingPermission

if TYPE_CHECKING:
    from collections.abc import Sequence

Stageable: TypeAlias = discord.abc.GuildChannel | discord.Thread

INVITE_PERMISSIONS = discord.Permissions(
    view_channel=True,
    send_messages=True,
    send_messages_in_threads=True,
    create_public_threads=True,
    embed_links=True,
    attach_files=True,
    read_message_history=True,
    manage_webhooks=True,
    manage_roles=True,
)
"""What Aside asks for when it is invited. Manage Roles is for mentionable characters alone, Create Public
Threads for branches."""

_WANTED = ("attach_files", "read_message_history", "manage_webhooks")
_FOLLOWS_FROM_SENDING = ("embed_links", "attach_files")
_NAMES = {"send_messages_in_threads": "Send Messages in Threads"}


def missing_permissions(channel: Stageable, me: discord.Member) -> list[str]:
    """Return what Aside lacks in a channel or thread, in the words of Discord's own settings."""
    return _lacking(channel, me, (*_essential(channel), *_WANTED))


def require_playable(channel: Stageable, me: discord.Member) -> None:
    """Raise MissingPermission where no scene can be played at all. Without the others one can, less well."""
    if lacking := _lacking(channel, me, _essential(channel)):
        raise missing_permission(lacking, f"#{channel.name}")


def missing_permission(names: Sequence[str], where: str) -> MissingPermission:
    """Return the error that says which permissions are missing, and where."""
    return MissingPermission(f"I lack a permission in {where}: allow me {join_names(names)} there.")


def join_names(names: Sequence[str]) -> str:
    """Return names as a sentence lists them."""
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)


def _essential(channel: Stageable) -> tuple[str, ...]:
    """Return the flags without which nothing can be played, those that others hang on first."""
    sending = "send_messages_in_threads" if isinstance(channel, discord.Thread) else "send_messages"
    return ("view_channel", sending, "embed_links")


def _lacking(channel: Stageable, me: discord.Member, flags: Sequence[str]) -> list[str]:
    """Return the names of the missing flags; of a missing one others follow from, only itself."""
    try:
        granted = channel.permissions_for(me)
    except (
        discord.ClientException
    ):  # a thread whose parent isn't known yet: Discord itself will tell
        return []
    lacking = [flag for flag in flags if not getattr(granted, flag)]
    view, sending, _ = _essential(channel)
    if view in lacking:
        lacking = [view]
    elif sending in lacking:
        lacking = [flag for flag in lacking if flag not in _FOLLOWS_FROM_SENDING]
    return [_NAMES.get(flag, flag.replace("_", " ").title()) for flag in lacking]
