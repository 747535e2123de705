"""Who may do what where, by Discord's own order: base roles, then overwrites for @everyone, roles, the member."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discord import Permissions

from .entities import THREADS, ChannelKind

if TYPE_CHECKING:
    from .entities import Channel, Guild, Member, User

ALL = Permissions.all().value
# What @everyone may do on a fresh server, as far as a bot for text channels notices.
EVERYONE = (
    "view_channel send_messages read_message_history add_reactions embed_links attach_files use_external_emojis "
    "use_application_commands create_public_threads send_messages_in_threads change_nickname"
)
# What a bot's invitation usually asks for on top of that.
INVITED = "manage_webhooks manage_messages manage_threads create_private_threads"
IN_DMS = "view_channel send_messages read_message_history add_reactions embed_links attach_files"
STILL_ALLOWED_IN_TIMEOUT = "view_channel read_message_history"


def bits(names: str) -> int:
    """The number for permissions named as discord.py names them: `bits("send_messages embed_links")`."""
    return Permissions(**dict.fromkeys(names.split(), True)).value


def in_guild(member: Member, guild: Guild) -> int:
    """What a member may do where no channel says otherwise."""
    if guild.owner is member.user:
        return ALL
    granted = guild.everyone.permissions
    for role in member.roles:
        granted |= role.permissions
    return ALL if granted & bits("administrator") else granted


def in_channel(user: User, channel: Channel, now: float) -> int:
    """What `user` may do in `channel`, threads by their parent's overwrites. 0: not even see it."""
    if channel.guild is None:
        return bits(IN_DMS) if user in channel.recipients else 0
    member = channel.guild.members.get(user.id)
    if member is None:
        return 0
    granted = in_guild(member, channel.guild)
    if granted == ALL:
        return ALL
    granted = _overwritten(
        granted, member, channel.parent if channel.kind in THREADS and channel.parent else channel
    )
    if not granted & bits("view_channel") or _shut_out(user, channel, granted):
        return 0
    if channel.kind in THREADS:
        granted = _for_thread(granted)
    if member.timed_out_until and member.timed_out_until > now:
        granted &= bits(STILL_ALLOWED_IN_TIMEOUT)
    return granted


def _overwritten(granted: int, member: Member, channel: Channel) -> int:
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
    """A private thread is seen by its members and by those who manage threads."""
    if channel.kind is not ChannelKind.PRIVATE_THREAD or channel.thread is None:
        return False
    return user.id not in channel.thread.members and not granted & bits("manage_threads")


def _for_thread(granted: int) -> int:
    """In threads Send Messages counts for nothing and Send Messages in Threads takes its place."""
    granted &= ~bits("send_messages")
    return (
        granted | bits("send_messages") if granted & bits("send_messages_in_threads") else granted
    )
