"""The posts of a reply while it is being written: they show what is public so far."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bot.posting.escaping import escape_name
from bot.posting.graphemes import utf16_length
from bot.posting.render import Outgoing, render_public_messages
from bot.scenes.posts import Post, PostPurpose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.her.beats import PublicBeat
    from bot.posting.persona_messages import PersonaMessages
    from bot.posting.webhooks import Persona
    from bot.scenes.posts import PersonaWebhook, Posts
    from bot.scenes.scene import Place
    from bot.scenes.turn import Turn

CURSOR: Final = " ▌"
"""Ends a post that is still being written. After a crash it tells such a post from those that are finished."""


class ReplyDraft:
    """A reply in the making, in as many posts as it takes. Every new post is stored as soon as it stands.

    Posts of an earlier take, `rows`, are changed in place. `doubtful` is told the turn while one of its posts may stand
    unremembered; `hook` is None where the bot speaks for the persona.
    """

    def __init__(
        self,
        voice: PersonaMessages,
        posts: Posts,
        doubtful: set[int],
        place: Place,
        turn: Turn,
        persona: Persona,
        hook: PersonaWebhook | None,
        rows: Sequence[Post],
    ) -> None:
        self._voice = voice
        self._posts = posts
        self._doubtful = doubtful
        self._place = place
        self._turn = turn
        self._persona = persona
        self._hook = hook
        self._head = "" if hook else f"**{escape_name(turn.speaker)}**\n"
        self._rows = list(rows)
        self._earlier = len(self._rows)  # how many of them this reply did not begin
        self._texts: dict[int, str] = {}  # what each post shows that was changed

    def rendered(self, beats: tuple[PublicBeat, ...]) -> list[Outgoing]:
        """Return what is public as the messages it makes, with room for the mark."""
        return render_public_messages(beats, head=self._head, spare=utf16_length(CURSOR))

    async def show(self, messages: Sequence[Outgoing]) -> bool:
        """Bring the channel in line with these messages; False where a post can't be changed any more.

        Raises PostingError.
        """
        for part, message in enumerate(messages):
            if part == len(self._rows):
                await self._begin(part, message.text)
            elif not await self._change(part, message.text, last=part == len(messages) - 1):
                return False
        while messages and len(self._rows) > max(
            self._earlier, len(messages)
        ):  # it was begun anew, and is shorter
            await take_away(self._voice, self._posts, self._place, self._rows.pop())
        return True

    async def _begin(self, part: int, text: str) -> None:
        self._doubtful.add(self._turn.id)
        posted = await self._voice.send(
            *(self._turn.id, self._place, self._persona, self._hook, Outgoing(text + CURSOR))
        )
        row = Post(
            message_id=posted.message_id,
            channel_id=self._place.channel_id,
            turn_id=self._turn.id,
            take_id=None,
            part=part,
            purpose=PostPurpose.PERSONA,
            webhook_id=posted.webhook_id,
        )
        await self._posts.add_post(row)
        self._doubtful.discard(self._turn.id)
        self._rows.append(row)
        self._texts[row.message_id] = text + CURSOR

    async def _change(self, part: int, text: str, *, last: bool) -> bool:
        row = self._rows[part]
        shown = text + CURSOR if last else text
        if self._texts.get(row.message_id) == shown:
            return True
        if (row.webhook_id is None) != (self._hook is None):
            return False
        if row.take_id is not None:
            row = self._rows[part] = replace(row, take_id=None, controls=False)
            await self._posts.add_post(row)
        self._texts[row.message_id] = shown
        return await self._voice.edit(self._place, row, Outgoing(shown))


async def take_away(voice: PersonaMessages, posts: Posts, place: Place, row: Post) -> None:
    """Remove a post of ours, and forget it."""
    await posts.add_post(replace(row, purpose=PostPurpose.LEAVING))
    await voice.remove(place, row)
    await posts.forget_post(row.message_id)
