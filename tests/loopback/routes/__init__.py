"""The routes, one file for each subject. Importing this package fills `router.TABLE`."""

from . import (
    channel_routes,
    command_routes,
    emoji_routes,
    guild_routes,
    interaction_routes,
    member_routes,
    message_routes,
    reaction_routes,
    thread_routes,
    user_routes,
    webhook_routes,
)

__all__ = [
    "channel_routes",
    "command_routes",
    "emoji_routes",
    "guild_routes",
    "interaction_routes",
    "member_routes",
    "message_routes",
    "reaction_routes",
    "thread_routes",
    "user_routes",
    "webhook_routes",
]
