"""What the loopback can do, one file a subject. Importing this package enters every route into `router.TABLE`."""

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
