"""The world as Discord's JSON, with one function for each kind of object."""

from .messages import command, interaction, message, webhook
from .people import member, role, user
from .places import channel, guild, thread_member

__all__ = [
    "channel",
    "command",
    "guild",
    "interaction",
    "member",
    "message",
    "role",
    "thread_member",
    "user",
    "webhook",
]
