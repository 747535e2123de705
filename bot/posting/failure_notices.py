"""Notices in the channel that a reply failed, each with a button to try again."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.errors import PostingError
from bot.posting.buttons import try_again_view
from bot.posting.discord_errors import REQUEST_ERRORS, Code
from bot.posting.escaping import format_sentence
from bot.posting.graphemes import shorten
from bot.posting.split import MESSAGE_LIMIT
from bot.scenes.posts import Post, PostPurpose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.posting.channels import Channels
    from bot.posting.render import Outgoing
    from bot.scenes.posts import Posts
    from bot.scenes.scene import Place
    from bot.scenes.turn import Turn

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FailureNotices:
    """Posts and deletes the failure notices of turns."""

    channels: Channels
    posts: Posts

    async def post(self, place: Place, turn: Turn, sentence: str) -> None:
        """Say that a turn failed, in place of an earlier notice. Raises PostingError."""
        await self.clear(place, turn)
        message = await self.channels.send(
            place, format_failure(sentence), view=try_again_view(turn.id)
        )
        await self._remember(place, turn, message.id)

    async def add(self, place: Place, turn: Turn, messages: Sequence[Outgoing]) -> None:
        """Post messages that belong to the notice and are deleted with it. Raises PostingError."""
        for one in messages:
            message = await self.channels.send_rendered(place, one)
            await self._remember(place, turn, message.id)

    async def _remember(self, place: Place, turn: Turn, message_id: int) -> None:
        await self.posts.add_post(
            Post(
                message_id=message_id,
                channel_id=place.channel_id,
                turn_id=turn.id,
                take_id=None,
                part=0,
                purpose=PostPurpose.FAULT,
            )
        )

    async def clear(self, place: Place, turn: Turn) -> None:
        """Delete the notices of a turn's earlier failures.

        If Discord refuses to delete one, log a warning and forget it all the same.
        """
        for row in await self.posts.posts(turn.id):
            if row.purpose is PostPurpose.FAULT:
                try:
                    await self.channels.delete(place, row.message_id)
                except (*REQUEST_ERRORS, PostingError) as error:
                    if getattr(error, "code", 0) != Code.UNKNOWN_MESSAGE:
                        _log.warning("Message %d could not be deleted: %s", row.message_id, error)
                await self.posts.forget_post(row.message_id)


def format_failure(sentence: str) -> str:
    """Return the text of a failure notice."""
    return shorten(f"⚠️ {format_sentence(sentence)}", MESSAGE_LIMIT)
