"""The world as Discord's JSON, with one function for each kind of object."""

from .message_payloads import command, interaction, message, webhook
from .people_payloads import member, role, user
from .place_payloads import KNOWN_GUILD, channel, guild, thread_member

__all__ = [
    "KNOWN_GUILD",
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
