"""Keeps the posts of a turn in line with one of its takes.

Each part is posted once, also after a crash or an error of Discord's.
"""

from __future__ import annotations

import logging
from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bot.errors import PostingError, WebhookUnavailable
from bot.her.beats import select_public
from bot.posting import lost_posts
from bot.posting.buttons import reply_view
from bot.posting.escaping import format_sentence
from bot.posting.persona_messages import EditResult, SentMessage
from bot.posting.render import render_covered_messages, render_public_messages
from bot.posting.reply_draft import CURSOR, ReplyDraft, delete_post, format_head
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
class _Update:
    """The work that brings the channel in line with one take."""

    place: Place
    turn: Turn
    take: Take
    persona: Persona
    hook: PersonaWebhook | None  # None: the bot speaks for the persona
    view: discord.ui.View | None  # buttons of the last message; None if a later reply has them
    messages: list[Outgoing]
    older: deque[Post]  # posts of an earlier take, to be edited
    lost: list[discord.Message]  # messages on Discord that are not stored

    def buttons(self, part: int) -> discord.ui.View | None:
        """Return the buttons of this part."""
        return self.view if part == len(self.messages) - 1 else None


class PersonaPosts:
    """Shows takes in the channel and stores which messages show them.

    `last_earlier_turn` is the id of the last turn that was stored before this program started. Its
    posts and those of earlier turns may not be stored.
    """

    def __init__(self, messages: PersonaMessages, posts: Posts, last_earlier_turn: int) -> None:
        self._messages = messages
        self._posts = posts
        self._last_earlier_turn = last_earlier_turn
        self._uncertain_turns: set[int] = set()  # turns with posts that may not be stored
        self._notified_channels: set[int] = set()  # they know why the bot speaks for characters
        self._left_turns: set[int] = set()  # turns with a post that can't be deleted
        self._latest: dict[int, tuple[Turn, Take]] = {}  # by channel, the reply with buttons

    async def start_draft(self, scene: Scene, turn: Turn, persona: Persona) -> ReplyDraft:
        """Return the draft of a reply that is being generated. Raises PostingError."""
        hook = await self.get_hook(scene.place, persona)
        return ReplyDraft(
            messages=self._messages,
            posts=self._posts,
            uncertain_turns=self._uncertain_turns,
            place=scene.place,
            turn=turn,
            persona=persona,
            hook=hook,
            rows=await self._rows(turn),
            before_first_post=lambda: self.remove_earlier_buttons(scene, turn),
        )

    async def show(self, scene: Scene, turn: Turn, take: Take, persona: Persona) -> int:
        """Make the channel show exactly this take of the turn. Return its first message's id.

        Parts that the channel already shows stay. Posts of an earlier take are edited, and those
        that are left over are deleted. The latest reply gets buttons. Raises PostingError.
        """
        try:
            return await self._show(scene, turn, take, persona)
        except WebhookUnavailable:
            # The webhook was deleted meanwhile, and there can be no other. The bot speaks instead.
            return await self._show(scene, turn, take, persona)

    async def _show(self, scene: Scene, turn: Turn, take: Take, persona: Persona) -> int:
        update = await self._prepare(scene, turn, take, persona)
        current: dict[int, int] = {}
        for row in tuple(update.older):
            if _is_current(update, row) or await self._update_buttons(update, row):
                current[row.part] = row.message_id
                update.older.remove(row)
        # Until everything is done, an interruption may come between a post and its row.
        self._uncertain_turns.add(turn.id)
        for part, message in enumerate(update.messages):
            if part not in current:
                current[part] = await self._place(update, part, message)
        rows = await self._posts.posts(turn.id)
        leaving = [row for row in rows if row.purpose is PostPurpose.LEAVING]
        for row in (*update.older, *leaving):
            await self._delete(scene.place, turn, row)
        self._uncertain_turns.discard(turn.id)
        if update.view is not None:
            self._latest[scene.place.channel_id] = (turn, take)
        return current[0]

    async def remove_earlier_buttons(self, scene: Scene, turn: Turn) -> None:
        """Remove the buttons of earlier replies, since only the latest has them.

        A growing reply does so before its first post. Raises PostingError.
        """
        if turn.kind is not TurnKind.REPLY:
            return
        for row in await self._posts.posts_with_controls(scene.place.channel_id):
            if row.turn_id < turn.id:
                await self._messages.edit(scene.place, row, None)
                await self._posts.add_post(replace(row, controls=False))

    async def withdraw(self, scene: Scene, turn: Turn, persona: Persona) -> None:
        """Delete the posts of a reply that no longer counts. Raises PostingError."""
        for row in await self._rows(turn):
            await self._delete(scene.place, turn, row)
        for message in await self._find_lost(scene, turn, persona):
            if message.content.endswith(CURSOR):
                sent = SentMessage(message.id, message.webhook_id)
                await self._messages.delete(scene.place, sent)
        self._uncertain_turns.discard(turn.id)
        await self.restore_buttons(scene.place, turn)

    async def restore_buttons(self, place: Place, withdrawn: Turn) -> None:
        """Give the reply before one that did not come its buttons back. Raises PostingError."""
        turn, take = self._latest.get(place.channel_id, (withdrawn, None))
        if take is None or turn.id >= withdrawn.id:
            return
        if await self._posts.posts_with_controls(place.channel_id):
            return
        rows = [row for row in await self._rows(turn) if row.take_id == take.id]
        if rows:
            last = max(rows, key=lambda row: row.part)
            result = await self._messages.edit(place, last, None, reply_view(turn, take))
            await self._posts.add_post(replace(last, controls=result is EditResult.DONE))

    async def cover(self, scene: Scene, turn: Turn) -> None:
        """Put the posts of a reply that left the story under spoilers. Raises PostingError."""
        rows = await self._rows(turn)
        if turn.take is None or not rows:
            return
        head = "" if rows[0].webhook_id else format_head(turn)
        beats = select_public(turn.take.beats)
        messages = render_covered_messages(beats, head=head, count=len(rows))
        for row, message in zip(rows, messages, strict=True):
            await self._posts.add_post(replace(row, take_id=None, controls=False))
            result = await self._messages.edit(scene.place, row, message)
            if result is EditResult.UNCHANGEABLE:
                await self._delete(scene.place, turn, row)

    async def remove(self, scene: Scene, turn: Turn) -> None:
        """Delete all posts of a turn. Raises PostingError."""
        for row in await self._rows(turn):
            await self._delete(scene.place, turn, row)

    async def get_hook(self, place: Place, persona: Persona) -> PersonaWebhook | None:
        """Return the webhook for a persona, or None if there can't be one.

        Post the reason in the channel once. Raises PostingError.
        """
        try:
            return await self._messages.webhooks.get(place, persona)
        except WebhookUnavailable as error:
            if place.channel_id not in self._notified_channels:
                text = f"-# {format_sentence(str(error))} For now, characters speak through me."
                await self._messages.channels.send(place, text)
                self._notified_channels.add(place.channel_id)
            return None

    async def _prepare(self, scene: Scene, turn: Turn, take: Take, persona: Persona) -> _Update:
        hook = await self.get_hook(scene.place, persona)
        head = "" if hook else format_head(turn)
        messages = render_public_messages(
            scene.reveal.select_for_channel(take.beats, take.destinations), head=head
        )
        if not messages:
            raise PostingError(f"{turn.speaker}'s reply has no visible text. Try again.")
        lost = await self._find_lost(scene, turn, persona)
        drafts = [message for message in lost if message.content.endswith(CURSOR)]
        rows = [
            *await self._rows(turn),
            *(_create_draft_row(scene.place, turn, message) for message in drafts),
        ]
        with_controls = await self._posts.posts_with_controls(scene.place.channel_id)
        is_latest = not any(row.turn_id > turn.id for row in with_controls)
        return _Update(
            place=scene.place,
            turn=turn,
            take=take,
            persona=persona,
            hook=hook,
            view=reply_view(turn, take) if is_latest and turn.kind is TurnKind.REPLY else None,
            messages=messages,
            older=deque(sorted(rows, key=lambda row: row.message_id)),
            lost=[message for message in lost if message not in drafts],
        )

    async def _rows(self, turn: Turn) -> list[Post]:
        rows = await self._posts.posts(turn.id)
        return [row for row in rows if row.purpose is PostPurpose.PERSONA]

    async def _place(self, update: _Update, part: int, message: Outgoing) -> int:
        """Show one part and store its post. Return its message's id.

        Edit an older post if possible, else use a lost one, else post a new message.
        """
        view = update.buttons(part)
        sent = await self._edit_older(update, message, view)
        sent = sent or await self._reuse_lost(update, message, view)
        if sent is None:
            sent = await self._messages.send(
                update.turn.id, update.place, update.persona, update.hook, message, view
            )
        post = Post(
            message_id=sent.message_id,
            channel_id=update.place.channel_id,
            turn_id=update.turn.id,
            take_id=update.take.id,
            part=part,
            purpose=PostPurpose.PERSONA,
            webhook_id=sent.webhook_id,
            controls=view is not None,
        )
        await self._posts.add_post(post)
        return sent.message_id

    async def _edit_older(
        self, update: _Update, message: Outgoing, view: discord.ui.View | None
    ) -> SentMessage | None:
        """Edit the first older post that allows it. Delete those that don't."""
        while update.older:
            row = update.older[0]
            result = EditResult.UNCHANGEABLE
            if (row.webhook_id is None) == (update.hook is None):
                result = await self._messages.edit(update.place, row, message, view)
            if result is EditResult.UNCHANGEABLE and len(update.turn.takes) > 1:
                await self._replace_earlier_take(update, row)
            update.older.popleft()
            if result is EditResult.DONE:
                return SentMessage(row.message_id, row.webhook_id)
            await self._delete(update.place, update.turn, row)
        return None

    async def _replace_earlier_take(self, update: _Update, row: Post) -> None:
        """Delete a post of an earlier take that can't be edited.

        Raises PostingError if it can't be deleted either: two takes of a reply must not be visible
        at the same time.
        """
        if not await self._messages.delete(update.place, row):
            where = self._messages.channels.display_name(update.place)
            raise PostingError(
                f"The earlier reply of {update.turn.speaker} can't be changed, because its webhook"
                f" was deleted. Allow me Manage Messages in {where}, then try again."
            )

    async def _update_buttons(self, update: _Update, row: Post) -> bool:
        """Give a post that shows its part of the take the right buttons.

        Return whether the post still exists. If it can't be edited, it stays as it is.
        """
        if row.take_id != update.take.id or row.part >= len(update.messages):
            return False
        view = update.buttons(row.part)
        result = await self._messages.edit(update.place, row, None, view)
        if result is EditResult.DELETED:
            return False
        controls = view is not None and result is EditResult.DONE
        await self._posts.add_post(replace(row, controls=controls))
        return True

    async def _reuse_lost(
        self, update: _Update, message: Outgoing, view: discord.ui.View | None
    ) -> SentMessage | None:
        """Return the lost post that shows this message, with its buttons added if it lacks them."""
        for at, lost in enumerate(update.lost):
            if lost_posts.shows(lost, message):
                del update.lost[: at + 1]
                sent = SentMessage(lost.id, lost.webhook_id)
                if view is not None and not lost.components:
                    await self._messages.edit(update.place, sent, None, view)
                return sent
        return None

    async def _find_lost(self, scene: Scene, turn: Turn, persona: Persona) -> list[discord.Message]:
        """Return messages that may be unstored posts of this turn."""
        if turn.id > self._last_earlier_turn and turn.id not in self._uncertain_turns:
            return []
        return await self._messages.find_lost(turn.id, scene.place, persona)

    async def _delete(self, place: Place, turn: Turn, row: Post) -> None:
        """Delete a post. If Discord refuses, say once in the channel that it is left."""
        is_gone = await delete_post(self._messages, self._posts, place, row)
        if not is_gone and turn.id not in self._left_turns:
            self._left_turns.add(turn.id)
            await self._messages.channels.send(place, _format_left(turn))


def _is_current(update: _Update, row: Post) -> bool:
    """Return whether a post already shows its part of the take, with the right buttons."""
    if row.take_id != update.take.id or row.part >= len(update.messages):
        return False
    return row.controls == (update.buttons(row.part) is not None)


def _format_left(turn: Turn) -> str:
    sentence = (
        f"A message of {turn.speaker} above does not count any more, but I can't delete it. Delete"
        " it by hand, or allow me Manage Messages."
    )
    return f"-# {format_sentence(sentence)}"


def _create_draft_row(place: Place, turn: Turn, message: discord.Message) -> Post:
    """Return the row of an unfinished post that was not stored."""
    return Post(
        message_id=message.id,
        channel_id=place.channel_id,
        turn_id=turn.id,
        take_id=None,
        part=0,
        purpose=PostPurpose.PERSONA,
        webhook_id=message.webhook_id,
    )
