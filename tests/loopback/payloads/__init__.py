"""Writes the world as Discord's JSON: one function a kind of object."""

from .people import member, role, user
from .places import channel, guild, thread_member
from .said import command, interaction, message, webhook

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
