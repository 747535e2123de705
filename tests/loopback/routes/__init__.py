"""The routes, one file for each subject. Importing this package fills `router.TABLE`."""

from . import (
    channels,
    commands,
    guilds,
    interactions,
    members,
    messages,
    reactions,
    threads,
    users,
    webhooks,
)

__all__ = [
    "channels",
    "commands",
    "guilds",
    "interactions",
    "members",
    "messages",
    "reactions",
    "threads",
    "users",
    "webhooks",
]
