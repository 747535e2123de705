"""The posts of a turn, brought in line with a take of it: each part posted once, whatever went wrong before."""

from __future__ import annotations

import logging
from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bot.errors import MissingPermission, PostingError, WebhookLimitReached
from bot.her.beats import select_public
from bot.posting import escaping, lost_posts
from bot.posting.buttons import reply_view
from bot.posting.escaping import escape_name
from bot.posting.persona_messages import Posted
from bot.posting.render import render_covered_messages, render_public_messages
from bot.posting.reply_draft import CURSOR, ReplyDraft, take_away
from bot.scenes.posts import Post, PostPurpose
from bot.scenes.turn import TurnKind

if TYPE_CHECKING:
    import discord

    from bot.posting.persona_messages import PersonaMessages
    from bot.posting.render import Outgoing
    from bot.posting.webhooks import Persona
    from bot.scenes.posts import PersonaWebhook, Posts
    from bot.scenes.scene import Place, Scene
    from bot.scenes.turn import Take, Turn

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Showing:
    """One take on its way to the channel."""

    place: Place
    turn: Turn
    take: Take
    persona: Persona
    hook: PersonaWebhook | None  # None: the bot speaks for the persona
    view: discord.ui.View | None  # the buttons under its last message, where it is the latest reply
    messages: list[Outgoing]
    older: deque[Post]  # posts of an earlier take, to be changed
    lost: list[discord.Message]  # posts that stand there though nobody remembers them

    def buttons(self, part: int) -> discord.ui.View | None:
        """The buttons under this part."""
        return self.view if part == len(self.messages) - 1 else None


class PersonaPosts:
    """Shows takes in the channel, and remembers what it posted. `earlier` is the last turn that another life of the
    program has begun."""

    def __init__(self, voice: PersonaMessages, posts: Posts, earlier: int) -> None:
        self._voice = voice
        self._posts = posts
        self._earlier = earlier
        self._doubtful: set[int] = set()  # turns of which a part may stand there unremembered
        self._told: set[int] = set()  # channels that know that the bot speaks for the characters

    async def draft(self, scene: Scene, turn: Turn, persona: Persona) -> ReplyDraft:
        """Return the posts of a reply that is being written. Raises PostingError."""
        hook = await self.hook(scene.place, persona)
        rows = await self._rows(turn)
        return ReplyDraft(
            self._voice, self._posts, self._doubtful, scene.place, turn, persona, hook, rows
        )

    async def show(self, scene: Scene, turn: Turn, take: Take, persona: Persona) -> int:
        """Make the channel show exactly this take of the turn; return the id of its first message.

        Parts that stand there already stay. Posts of an earlier take are changed in place, those left over removed.
        The latest reply has buttons. Raises PostingError.
        """
        showing = await self._showing(scene, turn, take, persona)
        current: dict[int, int] = {}
        for row in tuple(showing.older):
            buttons = row.part < len(showing.messages) and showing.buttons(row.part) is not None
            if (
                row.take_id == take.id
                and row.part < len(showing.messages)
                and row.controls == buttons
            ):
                current[row.part] = row.message_id
                showing.older.remove(row)
        self._doubtful.add(
            turn.id
        )  # until it is done: whatever breaks it off may do so between a post and its row
        for part, message in enumerate(showing.messages):
            if part not in current:
                current[part] = await self._place(showing, part, message)
        leaving = [
            row for row in await self._posts.posts(turn.id) if row.purpose is PostPurpose.LEAVING
        ]
        for row in (*showing.older, *leaving):
            await self._drop(scene.place, row)
        self._doubtful.discard(turn.id)
        return current[0]

    async def pass_on(self, scene: Scene, turn: Turn) -> None:
        """Take the buttons from replies before this one: only the latest has them."""
        earlier = (
            await self._posts.controlled(scene.place.channel_id)
            if turn.kind is TurnKind.REPLY
            else []
        )
        for row in earlier:
            if row.turn_id < turn.id:
                await self._voice.edit(scene.place, row, None)
                await self._posts.add_post(replace(row, controls=False))

    async def withdraw(self, scene: Scene, turn: Turn, persona: Persona) -> None:
        """Take away what shows of a reply that was never finished. Raises PostingError."""
        for row in await self._rows(turn):
            if row.take_id is None:
                await self._drop(scene.place, row)
        for message in await self._lost(scene, turn, persona):
            if message.content.endswith(CURSOR):
                await self._voice.remove(scene.place, Posted(message.id, message.webhook_id))
        self._doubtful.discard(turn.id)

    async def cover(self, scene: Scene, turn: Turn) -> None:
        """Cover a reply that was taken out of the story: its posts stay where they are. Raises PostingError."""
        rows = await self._rows(turn)
        if turn.take is None or not rows:
            return
        head = "" if rows[0].webhook_id else _head(turn)
        for row, message in zip(
            rows,
            render_covered_messages(select_public(turn.take.beats), head=head, most=len(rows)),
            strict=True,
        ):
            await self._posts.add_post(replace(row, take_id=None, controls=False))
            await self._voice.edit(scene.place, row, message)

    async def hook(self, place: Place, persona: Persona) -> PersonaWebhook | None:
        """Return the webhook for a persona, or None where there can be none; the channel is told why, once."""
        try:
            return await self._voice.webhooks.of(place, persona)
        except (MissingPermission, WebhookLimitReached) as error:
            if place.channel_id not in self._told:
                await self._voice.channels.say(
                    place,
                    f"-# {escaping.format_sentence(str(error))} Until then, characters speak through me.",
                )
                self._told.add(place.channel_id)
            return None

    async def _showing(self, scene: Scene, turn: Turn, take: Take, persona: Persona) -> _Showing:
        hook = await self.hook(scene.place, persona)
        messages = render_public_messages(
            scene.reveal.shown(take.beats), head="" if hook else _head(turn)
        )
        if not messages:
            raise PostingError(
                f"{turn.speaker} said and did nothing that could be shown. Try again."
            )
        lost = await self._lost(scene, turn, persona)
        drafts = [message for message in lost if message.content.endswith(CURSOR)]
        rows = [
            *await self._rows(turn),
            *(_draft_row(scene.place, turn, message) for message in drafts),
        ]
        later = any(
            row.turn_id > turn.id for row in await self._posts.controlled(scene.place.channel_id)
        )
        return _Showing(
            place=scene.place,
            turn=turn,
            take=take,
            persona=persona,
            hook=hook,
            view=None if later or turn.kind is not TurnKind.REPLY else reply_view(turn, take),
            messages=messages,
            older=deque(sorted(rows, key=lambda row: row.message_id)),
            lost=[message for message in lost if message not in drafts],
        )

    async def _rows(self, turn: Turn) -> list[Post]:
        return [
            row for row in await self._posts.posts(turn.id) if row.purpose is PostPurpose.PERSONA
        ]

    async def _place(self, showing: _Showing, part: int, message: Outgoing) -> int:
        """Bring one part into the channel, the gentlest way there is, and remember it; return its message's id."""
        view = showing.buttons(part)
        posted = await self._changed(showing, message, view) or await self._found(
            showing, message, view
        )
        if posted is None:
            posted = await self._voice.send(
                showing.turn.id, showing.place, showing.persona, showing.hook, message, view
            )
        post = Post(
            message_id=posted.message_id,
            channel_id=showing.place.channel_id,
            turn_id=showing.turn.id,
            take_id=showing.take.id,
            part=part,
            purpose=PostPurpose.PERSONA,
            webhook_id=posted.webhook_id,
            controls=view is not None,
        )
        await self._posts.add_post(post)
        return posted.message_id

    async def _changed(
        self, showing: _Showing, message: Outgoing, view: discord.ui.View | None
    ) -> Posted | None:
        while showing.older:
            row = showing.older[0]
            same_speaker = (row.webhook_id is None) == (showing.hook is None)
            changed = same_speaker and await self._voice.edit(showing.place, row, message, view)
            showing.older.popleft()
            if changed:
                return Posted(row.message_id, row.webhook_id)
            await self._drop(showing.place, row)
        return None

    async def _found(
        self, showing: _Showing, message: Outgoing, view: discord.ui.View | None
    ) -> Posted | None:
        """Return the lost message that is this one, if it is there."""
        for at, lost in enumerate(showing.lost):
            if lost_posts.shows(lost, message):
                del showing.lost[: at + 1]
                if view is not None and not lost.components:
                    await self._voice.edit(
                        showing.place, Posted(lost.id, lost.webhook_id), None, view
                    )
                return Posted(lost.id, lost.webhook_id)
        return None

    async def _lost(self, scene: Scene, turn: Turn, persona: Persona) -> list[discord.Message]:
        """Return what may have been posted of this turn and not remembered: before a crash, or in trouble."""
        if turn.id > self._earlier and turn.id not in self._doubtful:
            return []
        return await self._voice.lost(turn.id, scene.place, persona)

    async def _drop(self, place: Place, row: Post) -> None:
        await take_away(self._voice, self._posts, place, row)


def _head(turn: Turn) -> str:
    """Return what begins a message in which the bot itself speaks for a character."""
    return f"**{escape_name(turn.speaker)}**\n"


def _draft_row(place: Place, turn: Turn, message: discord.Message) -> Post:
    """Return an unfinished post that nobody remembered as the row it should have had."""
    return Post(
        message.id, place.channel_id, turn.id, None, 0, PostPurpose.PERSONA, message.webhook_id
    )
