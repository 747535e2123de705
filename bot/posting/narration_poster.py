"""Posts narrations and changes of the setting in the bot's own voice."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.her.beats import action, select_public
from bot.library.scenario import NARRATOR
from bot.posting.discord_errors import REQUEST_ERRORS
from bot.posting.escaping import escape_name
from bot.posting.graphemes import utf16_length
from bot.posting.render import render_runs
from bot.posting.split import MESSAGE_LIMIT, FormattedRun, split_into_messages
from bot.scenes.posts import Post, PostPurpose

if TYPE_CHECKING:
    from bot.posting.channels import Channels
    from bot.scenes.posts import Posts
    from bot.scenes.scene import Scene
    from bot.scenes.turn import Take, Turn

_log = logging.getLogger(__name__)

_QUOTE = ">>> "


@dataclass(frozen=True, slots=True)
class NarrationPoster:
    """Posts narrations and deletes them again."""

    channels: Channels
    posts: Posts

    async def deliver(self, scene: Scene, turn: Turn, take: Take) -> None:
        """Post the parts of a narration that are not posted yet. Raises PostingError."""
        rows = await self.posts.posts(turn.id)
        posted = {row.part for row in rows if row.take_id == take.id}
        for part, text in enumerate(render_narration(turn, take)):
            if part not in posted:
                message = await self.channels.send(scene.place, text)
                await self.posts.add_post(
                    Post(
                        message_id=message.id,
                        channel_id=scene.place.channel_id,
                        turn_id=turn.id,
                        take_id=take.id,
                        part=part,
                        purpose=PostPurpose.NARRATION,
                    )
                )

    async def cover(self, scene: Scene, turn: Turn) -> None:
        """Delete the posts of a narration that was taken out of the story.

        If Discord refuses to delete one, log a warning.
        """
        for post in await self.posts.posts(turn.id):
            if post.purpose is PostPurpose.NARRATION:
                # Forget the post first: its deletion must not look like a moderator's.
                await self.posts.forget_post(post.message_id)
                try:
                    await self.channels.delete(scene.place, post.message_id)
                except REQUEST_ERRORS as error:
                    _log.warning("Message %d could not be deleted: %s", post.message_id, error)


def render_narration(turn: Turn, take: Take) -> list[str]:
    """Return a narration or a change of the setting as messages: a quotation in italics."""
    words = render_runs([action(beat.text) for beat in select_public(take.beats)])
    named = turn.speaker != NARRATOR
    label = [FormattedRun(f"**{escape_name(turn.speaker)}** ")] if named else []
    texts = split_into_messages([*label, *words], MESSAGE_LIMIT - utf16_length(_QUOTE))
    return [f"{_QUOTE}{text}" for text in texts]
