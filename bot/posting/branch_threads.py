"""Creates the threads that branches of scenes continue in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import discord

from bot.errors import PostingError
from bot.posting.discord_errors import REQUEST_ERRORS, Code, posting_error
from bot.posting.graphemes import shorten
from bot.scenes.scene import Place

if TYPE_CHECKING:
    from bot.scenes.scene import Scene

_MAX_NAME_LENGTH = 100
_REASON = "A branch of a scene"


async def create_branch_thread(
    client: discord.Client, scene: Scene, message_id: int | None
) -> Place:
    """Create a thread for a branch of a scene and return its place.

    If the scene plays in a channel, the thread starts at that message. If it plays in a thread, the
    new one is created in the same channel. Raises PostingError.
    """
    name = shorten(f"{scene.scenario.title} · branch", _MAX_NAME_LENGTH)
    parent_id = scene.place.webhook_channel_id
    try:
        parent = client.get_channel(parent_id) or await client.fetch_channel(parent_id)
        thread = None
        if scene.place.parent_id is None:
            thread = await _create_at_message(parent, message_id, name)
        thread = thread or await _create_in_channel(parent, name)
    except REQUEST_ERRORS as error:
        raise posting_error(error, f"<#{parent_id}>", ("Create Public Threads",)) from error
    return Place(scene.place.guild_id, thread.id, parent_id)


async def _create_at_message(
    parent: object, message_id: int | None, name: str
) -> discord.Thread | None:
    """Return a thread at the message, or None if the message is deleted or has a thread already."""
    if message_id is None or not isinstance(parent, discord.TextChannel):
        return None
    try:
        return await parent.get_partial_message(message_id).create_thread(name=name, reason=_REASON)
    except discord.HTTPException as error:
        if error.code not in (Code.HAS_THREAD, Code.UNKNOWN_MESSAGE):
            raise
        return None


async def _create_in_channel(parent: object, name: str) -> discord.Thread:
    if isinstance(parent, discord.TextChannel):
        return await parent.create_thread(
            name=name, type=discord.ChannelType.public_thread, reason=_REASON
        )
    if isinstance(parent, discord.ForumChannel):
        return (await parent.create_thread(name=name, content=f"-# {name}", reason=_REASON)).thread
    raise PostingError("This kind of channel has no threads. Play in a text channel to branch.")
