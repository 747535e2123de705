"""The posts of a reply while it is being generated."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bot.posting.escaping import escape_name
from bot.posting.graphemes import utf16_length
from bot.posting.persona_messages import EditResult
from bot.posting.render import Outgoing, render_public_messages
from bot.scenes.posts import Post, PostPurpose

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from bot.her.beats import PublicBeat
    from bot.posting.persona_messages import PersonaMessages
    from bot.posting.webhooks import Persona
    from bot.scenes.posts import PersonaWebhook, Posts
    from bot.scenes.scene import Place
    from bot.scenes.turn import Turn

CURSOR: Final = " ▌"
"""The end of a post that is still growing. After a crash it identifies unfinished posts."""


class ReplyDraft:
    """The public part of a growing reply, in as many posts as it needs.

    Each new post is stored as soon as Discord has it. The posts of an earlier take, `rows`, are
    edited. `before_first_post` is called before the first new post. `uncertain_turns` contains the
    turn while one of its posts may not be stored. `hook` is None if the bot speaks for the persona.
    """

    def __init__(
        self,
        *,
        messages: PersonaMessages,
        posts: Posts,
        uncertain_turns: set[int],
        place: Place,
        turn: Turn,
        persona: Persona,
        hook: PersonaWebhook | None,
        rows: Sequence[Post],
        before_first_post: Callable[[], Awaitable[None]],
    ) -> None:
        self._messages = messages
        self._posts = posts
        self._uncertain_turns = uncertain_turns
        self._place = place
        self._turn = turn
        self._persona = persona
        self._hook = hook
        self._head = "" if hook else format_head(turn)
        self._before_first_post = before_first_post
        self._rows = list(rows)
        self._earlier_count = len(self._rows)  # posts of an earlier take
        self._texts: dict[int, str] = {}  # by message id, the text of each post changed here

    def render(self, beats: tuple[PublicBeat, ...]) -> list[Outgoing]:
        """Return the messages for the beats so far, each with room for the cursor."""
        return render_public_messages(beats, head=self._head, spare=utf16_length(CURSOR))

    async def show(self, messages: Sequence[Outgoing]) -> bool:
        """Make the channel show these messages.

        Return False if a post can't be edited any more. Raises PostingError.
        """
        for part, message in enumerate(messages):
            if part == len(self._rows):
                await self._add(part, message.text)
            elif not await self._edit(part, message.text, last=part == len(messages) - 1):
                return False
        # A reply that started again may be shorter. Posts of an earlier take stay until the end.
        while messages and len(self._rows) > max(self._earlier_count, len(messages)):
            await delete_post(self._messages, self._posts, self._place, self._rows.pop())
        return True

    async def _add(self, part: int, text: str) -> None:
        if part == 0:
            await self._before_first_post()
        self._uncertain_turns.add(self._turn.id)
        outgoing = Outgoing(text + CURSOR)
        sent = await self._messages.send(
            self._turn.id, self._place, self._persona, self._hook, outgoing
        )
        row = Post(
            message_id=sent.message_id,
            channel_id=self._place.channel_id,
            turn_id=self._turn.id,
            take_id=None,
            part=part,
            purpose=PostPurpose.PERSONA,
            webhook_id=sent.webhook_id,
        )
        await self._posts.add_post(row)
        self._uncertain_turns.discard(self._turn.id)
        self._rows.append(row)
        self._texts[row.message_id] = outgoing.text

    async def _edit(self, part: int, text: str, *, last: bool) -> bool:
        row = self._rows[part]
        shown = text + CURSOR if last else text
        if self._texts.get(row.message_id) == shown:
            return True
        if (row.webhook_id is None) != (self._hook is None):
            return False
        changed = replace(row, take_id=None, controls=False)
        if row.take_id is not None:
            await self._posts.add_post(changed)
        result = await self._messages.edit(self._place, row, Outgoing(shown))
        if result is EditResult.UNCHANGEABLE:
            await self._posts.add_post(row)
            return False
        self._rows[part] = changed
        self._texts[row.message_id] = shown
        return result is EditResult.DONE


def format_head(turn: Turn) -> str:
    """Return the first line of a message in which the bot itself speaks for a character."""
    return f"**{escape_name(turn.speaker)}**\n"


async def delete_post(messages: PersonaMessages, posts: Posts, place: Place, row: Post) -> bool:
    """Delete a post of Aside's own and forget it. Return whether it is gone."""
    await posts.add_post(replace(row, purpose=PostPurpose.LEAVING))
    is_gone = await messages.delete(place, row)
    await posts.forget_post(row.message_id)
    return is_gone
