"""The posts of a turn, brought in line with a take of it: each part posted once, whatever went wrong before."""

from __future__ import annotations

import logging
from collections import deque
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from bot.errors import MissingPermission, NoRoom, PostingError
from bot.posting import traces
from bot.posting.markdown import literal, name
from bot.posting.render import public_messages
from bot.posting.voice import Posted
from bot.scenes.ports import Post

if TYPE_CHECKING:
    import discord

    from bot.posting.render import Outgoing
    from bot.posting.voice import Voice
    from bot.posting.webhooks import Persona
    from bot.scenes.ports import PersonaWebhook, Posts
    from bot.scenes.scene import Place, Scene
    from bot.scenes.turn import Take, Turn

_log = logging.getLogger(__name__)

PURPOSE: Final = "persona"


@dataclass(frozen=True, slots=True)
class _Showing:
    """One take on its way to the channel."""

    place: Place
    turn: Turn
    take: Take
    persona: Persona
    hook: PersonaWebhook | None  # None: the bot speaks for the persona
    older: deque[Post]  # posts of an earlier take, to be changed
    lost: list[discord.Message]  # posts that stand there though nobody remembers them


class PersonaPosts:
    """Shows takes in the channel, and remembers what it posted."""

    def __init__(self, voice: Voice, posts: Posts) -> None:
        self._voice = voice
        self._posts = posts
        self._since = datetime.now(UTC)
        self._doubtful: set[int] = set()  # turns of which a part may stand there unremembered
        self._told: set[int] = set()  # channels that know that the bot speaks for the characters

    async def show(self, scene: Scene, turn: Turn, take: Take, persona: Persona) -> int:
        """Make the channel show exactly this take of the turn; return the id of its first message.

        Parts that stand there already stay. Posts of an earlier take are changed in place, those left over removed.
        Raises PostingError.
        """
        hook = await self.hook(scene.place, persona)
        head = "" if hook else f"**{name(turn.speaker)}**\n"
        messages = public_messages(scene.reveal.shown(take.beats), head=head)
        if not messages:
            raise PostingError(f"{turn.speaker} said and did nothing that could be shown. Try again.")
        rows = [row for row in await self._posts.posts(turn.id) if row.purpose == PURPOSE]
        lost = await self._lost(scene, turn, persona)
        current = {row.part: row.message_id for row in rows if row.take_id == take.id}
        older = deque(row for row in rows if row.take_id != take.id or row.part >= len(messages))
        showing = _Showing(scene.place, turn, take, persona, hook, older, lost)
        self._doubtful.add(turn.id)  # until it is done: whatever breaks it off may do so between a post and its row
        for part, message in enumerate(messages):
            if part not in current:
                current[part] = await self._place(showing, part, message)
        for row in older:
            await self._drop(scene.place, row)
        self._doubtful.discard(turn.id)
        return current[0]

    async def hook(self, place: Place, persona: Persona) -> PersonaWebhook | None:
        """Return the webhook for a persona, or None where there can be none; the channel is told why, once."""
        try:
            return await self._voice.webhooks.of(place, persona)
        except (MissingPermission, NoRoom) as error:
            if place.channel_id not in self._told:
                await self._voice.channels.say(
                    place, f"-# {literal(str(error))} Until then, characters speak through me."
                )
                self._told.add(place.channel_id)
            return None

    async def _place(self, showing: _Showing, part: int, message: Outgoing) -> int:
        """Bring one part into the channel, the gentlest way there is, and remember it; return its message's id."""
        posted = await self._changed(showing, message) or _found(showing, message) or await self._sent(showing, message)
        post = Post(
            message_id=posted.message_id,
            channel_id=showing.place.channel_id,
            turn_id=showing.turn.id,
            take_id=showing.take.id,
            part=part,
            purpose=PURPOSE,
            webhook_id=posted.webhook_id,
        )
        await self._posts.add_post(post)
        return posted.message_id

    async def _changed(self, showing: _Showing, message: Outgoing) -> Posted | None:
        while showing.older:
            row = showing.older[0]
            same_speaker = (row.webhook_id is None) == (showing.hook is None)
            changed = same_speaker and await self._voice.edit(showing.place, row, message)
            showing.older.popleft()
            if changed:
                return Posted(row.message_id, row.webhook_id)
            await self._drop(showing.place, row)
        return None

    async def _sent(self, showing: _Showing, message: Outgoing) -> Posted:
        return await self._voice.send(showing.place, showing.persona, showing.hook, message)

    async def _lost(self, scene: Scene, turn: Turn, persona: Persona) -> list[discord.Message]:
        """Return what may have been posted of this turn and not remembered: before a crash, or in trouble."""
        if turn.created_at >= self._since and turn.id not in self._doubtful:
            return []
        return await self._voice.lost(scene.place, persona, turn.created_at)

    async def _drop(self, place: Place, row: Post) -> None:
        await self._voice.remove(place, row)
        await self._posts.forget_post(row.message_id)


def _found(showing: _Showing, message: Outgoing) -> Posted | None:
    """Return the lost message that is this one, if it is there."""
    for at, lost in enumerate(showing.lost):
        if traces.shows(lost, message):
            del showing.lost[: at + 1]
            return Posted(lost.id, lost.webhook_id)
    return None
