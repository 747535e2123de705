"""Permissions, computed in Discord's order: roles, then the overwrites of a channel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discord import Permissions

from .entities import THREADS, ChannelKind

if TYPE_CHECKING:
    from .entities import Channel, Guild, Member, User

ALL = Permissions.all().value
# The permissions of @everyone on a new server that matter to bots in text channels.
EVERYONE = (
    "view_channel send_messages read_message_history add_reactions embed_links attach_files "
    "use_external_emojis use_application_commands create_public_threads "
    "send_messages_in_threads change_nickname"
)
# The further permissions that a bot's invitation usually asks for.
INVITED = "manage_webhooks manage_messages manage_threads create_private_threads"
IN_DMS = "view_channel send_messages read_message_history add_reactions embed_links attach_files"
STILL_ALLOWED_IN_TIMEOUT = "view_channel read_message_history"


def bits(names: str) -> int:
    """Return the bits of permissions by discord.py's names: `bits("send_messages embed_links")`."""
    return Permissions(**dict.fromkeys(names.split(), True)).value


def in_guild(member: Member, guild: Guild) -> int:
    """Return the permissions of a member if no channel overrides them."""
    if guild.owner is member.user:
        return ALL
    granted = guild.everyone.permissions
    for role in member.roles:
        granted |= role.permissions
    return ALL if granted & bits("administrator") else granted


def in_channel(user: User, channel: Channel, now: float) -> int:
    """Return the permissions of `user` in `channel`. 0 means that they cannot see it.

    Threads use their parent's overwrites.
    """
    if channel.guild is None:
        return bits(IN_DMS) if user in channel.recipients else 0
    member = channel.guild.members.get(user.id)
    if member is None:
        return 0
    granted = in_guild(member, channel.guild)
    if granted == ALL:
        return ALL
    granted = _apply_overwrites(
        granted, member, channel.parent if channel.kind in THREADS and channel.parent else channel
    )
    if not granted & bits("view_channel") or _shut_out(user, channel, granted):
        return 0
    if channel.kind in THREADS:
        granted = _for_thread(granted)
    if member.timed_out_until and member.timed_out_until > now:
        granted &= bits(STILL_ALLOWED_IN_TIMEOUT)
    return granted


def _apply_overwrites(granted: int, member: Member, channel: Channel) -> int:
    assert channel.guild
    everyone = channel.overwrites.get(channel.guild.id)
    if everyone:
        granted = granted & ~everyone.deny | everyone.allow
    allow = deny = 0
    for role in member.roles:
        if overwrite := channel.overwrites.get(role.id):
            allow |= overwrite.allow
            deny |= overwrite.deny
    granted = granted & ~deny | allow
    if own := channel.overwrites.get(member.user.id):
        granted = granted & ~own.deny | own.allow
    return granted


def _shut_out(user: User, channel: Channel, granted: int) -> bool:
    """Return whether the member may see a thread. A private one needs membership or a moderator."""
    if channel.kind is not ChannelKind.PRIVATE_THREAD or channel.thread is None:
        return False
    return user.id not in channel.thread.members and not granted & bits("manage_threads")


def _for_thread(granted: int) -> int:
    """Replace Send Messages by Send Messages in Threads, as Discord does in threads."""
    granted &= ~bits("send_messages")
    return (
        granted | bits("send_messages") if granted & bits("send_messages_in_threads") else granted
    )
