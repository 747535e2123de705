"""What stands in a channel already though nobody remembers it: posted just before a crash, or twice by a retry.

discord.py asks again by itself after an answer of 500 and above. Where Discord had done the work all the same, the
message stands twice; executing a webhook has no guard against that, so afterwards one has to look.
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

_LOOKED_AT = 50  # messages, the latest


@dataclass(frozen=True, slots=True)
class Author:
    """Whose messages to look for: a persona's through these webhooks, or the bot's own where there are none."""

    name: str
    webhook_ids: frozenset[int]
    bot_id: int

    def wrote(self, message: discord.Message) -> bool:
        """Whether this message is the author's."""
        if message.webhook_id is None:
            return not self.webhook_ids and message.author.id == self.bot_id
        return message.webhook_id in self.webhook_ids and message.author.name == self.name


async def lost(
    client: discord.Client, posts: Posts, place: Place, author: Author, after: int
) -> list[discord.Message]:
    """Return the author's messages in a place that came after that one and are stored as posts of no turn, the oldest
    first. Ids tell what came after, not times: our clock may be wrong.

    Where the history may not be read there is nothing to be found, and the log says so.
    """
    channel = client.get_partial_messageable(place.channel_id, guild_id=place.guild_id)
    try:
        found = [message async for message in channel.history(limit=_LOOKED_AT)]
    except REQUEST_ERRORS as error:
        _log.warning(
            "Channel %d: its history could not be read to look for posts: %s",
            place.channel_id,
            error,
        )
        return []
    mine = [message for message in reversed(found) if author.wrote(message) and message.id > after]
    remembered = await posts.remembered([message.id for message in mine])
    return [message for message in mine if message.id not in remembered]


def shows(message: discord.Message, outgoing: Outgoing) -> bool:
    """Whether a message on Discord is this one."""
    files = [attachment.filename for attachment in message.attachments]
    return message.content == outgoing.text and files == [file.name for file in outgoing.files]
