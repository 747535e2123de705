"""Finds messages that Aside posted but did not store.

This happens if the program crashes between the post and its row. It also happens if Discord carries
out a request and then responds with a server error: discord.py repeats the request, and the message
is posted twice. Discord offers no guard against that for webhooks, so Aside looks afterwards.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.posting.discord_errors import REQUEST_ERRORS

if TYPE_CHECKING:
    import discord

    from bot.posting.render import Outgoing
    from bot.scenes.posts import Posts
    from bot.scenes.scene import Place

_log = logging.getLogger(__name__)

_SEARCHED_MESSAGES = 50


@dataclass(frozen=True, slots=True)
class Author:
    """The author whose messages to look for.

    This is a persona that posts through these webhooks, or the bot itself if there are no webhooks.
    """

    name: str
    webhook_ids: frozenset[int]
    bot_id: int

    def is_author_of(self, message: discord.Message) -> bool:
        """Return whether this author wrote the message."""
        if message.webhook_id is None:
            return not self.webhook_ids and message.author.id == self.bot_id
        return message.webhook_id in self.webhook_ids and message.author.name == self.name


async def find_lost_posts(
    client: discord.Client, posts: Posts, place: Place, author: Author, after: int
) -> list[discord.Message]:
    """Return the author's messages in a place that are not stored as posts, the oldest first.

    Only messages later than the message with the id `after` count. Ids are compared instead of
    times because this machine's clock may be wrong. If the history can't be read, log a warning and
    return an empty list.
    """
    channel = client.get_partial_messageable(place.channel_id, guild_id=place.guild_id)
    try:
        latest = [message async for message in channel.history(limit=_SEARCHED_MESSAGES)]
    except REQUEST_ERRORS as error:
        _log.warning(
            "The history of channel %d can't be read to look for lost posts: %s",
            place.channel_id,
            error,
        )
        return []
    own = [
        message
        for message in reversed(latest)
        if author.is_author_of(message) and message.id > after
    ]
    stored = await posts.find_stored_message_ids([message.id for message in own])
    return [message for message in own if message.id not in stored]


def shows(message: discord.Message, outgoing: Outgoing) -> bool:
    """Return whether a message on Discord has this text and these files."""
    files = [attachment.filename for attachment in message.attachments]
    return message.content == outgoing.text and files == [file.name for file in outgoing.files]
