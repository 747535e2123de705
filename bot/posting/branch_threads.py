"""Creates the threads that branches of scenes continue in.

A branch is never open to more people than its scene. Whoever sees a channel sees its public threads
and forum posts, so the branch of a scene there is public too. The branch of a scene in a private
thread is a private thread.
"""

from __future__ import annotations

import contextlib
import logging
from typing import TYPE_CHECKING

import discord

from bot.errors import PostingError
from bot.posting.channel_access import ChannelAccess
from bot.posting.discord_errors import REQUEST_ERRORS, Code, explain_discord_error
from bot.posting.graphemes import shorten
from bot.posting.permissions import describe_channel
from bot.scenes.scene import AT_TERMINAL, Place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.scenes.scene import Scene

_log = logging.getLogger(__name__)

_MAX_NAME_LENGTH = 100
_REASON = "A branch of a scene"


async def create_branch_thread(
    client: discord.Client, scene: Scene, message_id: int | None, user_id: int
) -> Place:
    """Create a thread for a branch that this user asked for, and return its place.

    If the scene plays in a channel, the thread starts at that message. If it plays in a thread, the
    new one is created in the same channel. If that thread is private, the user, the game masters
    and the players who can read it are added to the new one. Raises PostingError.
    """
    name = shorten(f"{scene.scenario.title} · branch", _MAX_NAME_LENGTH)
    access = ChannelAccess(client)
    parent_id = scene.place.webhook_channel_id
    needed = "Create Public Threads"
    parent: object = None
    try:
        parent = await access.find_channel(parent_id)
        if scene.place.parent_id is None:
            thread = await _create_at_message(parent, message_id, name)
            thread = thread or await _create_public(parent, name)
        else:
            source = await access.find_channel(scene.place.channel_id)
            if not isinstance(source, discord.Thread):
                raise PostingError("The scene does not play in a thread any more.")
            if source.is_private():
                needed = "Create Private Threads"
                thread = await _create_private(parent, source, name, access, scene, user_id)
            elif isinstance(parent, discord.ForumChannel):
                thread = await _create_forum_post(parent, source, name)
            else:
                thread = await _create_public(parent, name)
    except REQUEST_ERRORS as error:
        raise explain_discord_error(error, describe_channel(parent), (needed,)) from error
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


async def _create_public(parent: object, name: str) -> discord.Thread:
    channel = _require_text_channel(parent)
    kinds = discord.ChannelType
    kind = kinds.news_thread if channel.is_news() else kinds.public_thread
    return await channel.create_thread(name=name, type=kind, reason=_REASON)


async def _create_private(
    parent: object,
    source: discord.Thread,
    name: str,
    access: ChannelAccess,
    scene: Scene,
    user_id: int,
) -> discord.Thread:
    """Return a private thread with those of the scene's people who can read `source`."""
    channel = _require_text_channel(parent)
    readers = await _find_readers(access, scene, user_id)
    if user_id not in readers:
        raise PostingError("You can't read the thread that the scene plays in.")
    thread = await channel.create_thread(
        name=name,
        type=discord.ChannelType.private_thread,
        invitable=source.invitable,
        reason=_REASON,
    )
    try:
        await thread.add_user(discord.Object(user_id))
    except REQUEST_ERRORS:
        with contextlib.suppress(*REQUEST_ERRORS):
            await thread.delete()
        raise
    for reader in readers:
        if reader != user_id:
            try:
                await thread.add_user(discord.Object(reader))
            except REQUEST_ERRORS as error:
                _log.warning("Thread %d: adding a person failed: %s", thread.id, error)
    return thread


async def _find_readers(access: ChannelAccess, scene: Scene, user_id: int) -> list[int]:
    """Return the ids of this user, the game masters and the players who can read the scene."""
    players = (part.player_id for part in scene.parts if part.player_id is not None)
    people = dict.fromkeys((user_id, *scene.gm_ids, *players))
    return [
        person
        for person in people
        if person != AT_TERMINAL and await access.can_read(scene.place, person)
    ]


async def _create_forum_post(
    forum: discord.ForumChannel, source: discord.Thread, name: str
) -> discord.Thread:
    post = await forum.create_thread(
        name=name,
        content=f"-# {name}",
        applied_tags=_choose_tags(forum, source) if forum.flags.require_tag else [],
        reason=_REASON,
    )
    return post.thread


def _choose_tags(forum: discord.ForumChannel, source: discord.Thread) -> Sequence[discord.ForumTag]:
    """Return the tags of the scene's own post, or any tag that everyone may use."""
    tags = (*source.applied_tags, *forum.available_tags)
    usable = [tag for tag in tags if not tag.moderated]
    if not usable:
        raise PostingError(
            f"{describe_channel(forum)} requires a tag for each post, but has no tag that everyone"
            " may use. Add one, then try again."
        )
    return usable[:1]


def _require_text_channel(parent: object) -> discord.TextChannel:
    if not isinstance(parent, discord.TextChannel):
        raise PostingError("This kind of channel has no threads. Play in a text channel to branch.")
    return parent
