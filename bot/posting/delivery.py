"""The wings: what no persona tells. Narrations go out in the bot's own voice, whispers in private."""

from __future__ import annotations

import contextlib
import io
import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

import discord

from bot.errors import PostingError
from bot.her.beats import action, select_public
from bot.library.scenario import NARRATOR
from bot.posting import escaping
from bot.posting.buttons import try_again_view
from bot.posting.channels import NO_MENTIONS, Channels
from bot.posting.direct_messages import DirectMessages
from bot.posting.discord_errors import REQUEST_ERRORS
from bot.posting.escaping import escape_name, escape_text
from bot.posting.graphemes import shorten, utf16_length
from bot.posting.render import Outgoing, render_gm_messages, render_public_messages, render_runs
from bot.posting.split import MESSAGE_LIMIT, FormattedRun, split_into_messages
from bot.scenes.posts import Post, PostPurpose
from bot.scenes.reveal import Audience
from bot.scenes.turn import TurnKind

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from contextlib import AbstractAsyncContextManager

    from bot.her.beats import PublicBeat
    from bot.posting.reply_poster import ReplyPoster
    from bot.scenes.notices import Notice
    from bot.scenes.posts import Posts
    from bot.scenes.scene import Scene
    from bot.scenes.turn import Take, Turn

_log = logging.getLogger(__name__)


_QUOTE = ">>> "
_NOT_REACHED = (
    "{speaker} has answered your whisper, and I can't reach you: your direct messages are closed to me, and the "
    "command you whispered with is too old to be answered. Open them, and whisper again."
)


class PrivateAnswers(Protocol):
    """Reaches a person so that only they see it, in the channel where they are, for as long as there is a way."""

    async def confide(
        self,
        channel_id: int,
        user_id: int,
        messages: Sequence[Outgoing],
        view: discord.ui.View | None,
    ) -> list[int] | None:
        """Show these messages to that person alone; return their ids, or None where there is no way any more."""
        ...


class DiscordDelivery:
    """Everything `bot.scenes.interfaces.Stage` asks for: replies are left to the stage, the rest is told from here.

    A whispered answer goes to who whispered, as a message only they see in the channel (`private`), or else a direct
    one; the game masters read every whisper in theirs. `unreached` is told of a game master who can't be written to.
    """

    def __init__(
        self,
        stage: ReplyPoster,
        client: discord.Client,
        posts: Posts,
        private: PrivateAnswers,
        unreached: Callable[[Scene, int], Awaitable[None]],
        describe_notice: Callable[[Notice], str],
    ) -> None:
        self._stage = stage
        self._client = client
        self._posts = posts
        self._private = private
        self._unreached = unreached
        self._describe_notice = describe_notice
        self._channels = Channels(client)
        self._directs = DirectMessages(client, posts)
        self._undelivered: dict[int, str] = {}

    def undelivered(self, user_id: int) -> str | None:
        """Return, once, what somebody must be told in private because it did not reach them."""
        return self._undelivered.pop(user_id, None) or self._directs.undelivered(user_id)

    def thinking(self, scene: Scene, turn: Turn) -> AbstractAsyncContextManager[None]:
        """Show that somebody is about to speak; nobody learns that a whisper is being answered."""
        return self._stage.thinking(scene, turn) if turn.public else contextlib.nullcontext()

    async def progress(self, scene: Scene, turn: Turn, beats: tuple[PublicBeat, ...]) -> None:
        """Tell which public beats of a reply have settled so far."""
        if turn.kind is TurnKind.REPLY:
            await self._stage.progress(scene, turn, beats)

    async def deliver(self, scene: Scene, turn: Turn, take: Take) -> None:
        """Tell a turn to whom it is for; what was told before is not told twice. Raises PostingError."""
        if turn.kind in (TurnKind.NARRATION, TurnKind.SETTING):
            await self._narrate(scene, turn, take)
        elif turn.kind is TurnKind.WHISPER:
            await self._whisper(scene, turn, take)
        else:
            await self._stage.deliver(scene, turn, take)

    async def withdraw(self, scene: Scene, turn: Turn) -> None:
        """Take away what shows of a reply that will not be finished. Raises PostingError."""
        if turn.kind is TurnKind.REPLY:
            await self._stage.withdraw(scene, turn)

    async def cover(self, scene: Scene, turn: Turn) -> None:
        """Show that a turn was taken out of the story: a narration goes altogether. Raises PostingError."""
        if turn.kind is TurnKind.REPLY:
            await self._stage.cover(scene, turn)
            return
        for post in await self._posts.posts(turn.id):
            if post.purpose is PostPurpose.NARRATION:
                await self._posts.forget_post(
                    post.message_id
                )  # first: its deletion is no word of a moderator's
                try:
                    await self._channels.remove(scene.place, post.message_id)
                except REQUEST_ERRORS as error:
                    _log.warning("Message %d could not be removed: %s", post.message_id, error)

    async def fail(self, scene: Scene, turn: Turn, sentence: str) -> None:
        """Say that a turn failed, with a way to try again: in the channel, but of a whisper in private."""
        if turn.kind is not TurnKind.WHISPER:
            await self._stage.fail(scene, turn, sentence)
        elif turn.listener_id is not None and turn.listener_id not in self._undelivered:
            text = shorten(f"⚠️ {escaping.format_sentence(sentence)}", MESSAGE_LIMIT)
            try:
                await self._tell_alone(scene, turn, [Outgoing(text)], try_again_view(turn.id))
            except PostingError as error:
                _log.warning(
                    "Turn %d failed, and who whispered could not be told: %s", turn.id, error
                )

    async def announce(self, scene: Scene, notice: Notice) -> None:
        """Show a notice in the channel, with its remedy. Raises PostingError."""
        await self._stage.tell(scene, self._describe_notice(notice))

    async def _narrate(self, scene: Scene, turn: Turn, take: Take) -> None:
        there = {post.part for post in await self._posts.posts(turn.id) if post.take_id == take.id}
        for part, text in enumerate(narration(turn, take)):
            if part not in there:
                message = await self._channels.say(scene.place, text)
                await self._posts.add_post(
                    Post(
                        message.id,
                        scene.place.channel_id,
                        turn.id,
                        take.id,
                        part,
                        PostPurpose.NARRATION,
                    )
                )

    async def _whisper(self, scene: Scene, turn: Turn, take: Take) -> None:
        rows = await self._posts.posts(turn.id)
        if turn.listener_id is not None and not any(
            row.purpose is PostPurpose.WHISPER and row.take_id == take.id for row in rows
        ):
            head = f"🤫 **{escape_name(turn.speaker)}** "
            messages = render_public_messages(scene.reveal.shown(take.beats), head=head)
            ids = await self._tell_alone(scene, turn, messages, None)
            for part, message_id in enumerate(ids):
                await self._posts.add_post(
                    Post(
                        message_id,
                        scene.place.channel_id,
                        turn.id,
                        take.id,
                        part,
                        PostPurpose.WHISPER,
                    )
                )
        await self._tell_gms(scene, turn, take)

    async def _tell_alone(
        self, scene: Scene, turn: Turn, messages: Sequence[Outgoing], view: discord.ui.View | None
    ) -> list[int]:
        listener_id = turn.listener_id or 0
        shown = await self._private.confide(scene.place.channel_id, listener_id, messages, view)
        if shown is not None:
            return shown
        extras: dict[str, Any] = {"view": view} if view else {}
        try:
            channel = await self._client.create_dm(discord.Object(listener_id))
            sent = [
                await channel.send(
                    one.text, files=files(one), allowed_mentions=NO_MENTIONS, **extras
                )
                for one in messages
            ]
        except REQUEST_ERRORS as error:
            self._undelivered[listener_id] = _NOT_REACHED.format(speaker=escape_text(turn.speaker))
            raise PostingError(
                "Who whispered can't be reached: their direct messages are closed."
            ) from error
        return [message.id for message in sent]

    async def _tell_gms(self, scene: Scene, turn: Turn, take: Take) -> None:
        """Write a whisper to the game masters who have not heard it anyhow."""
        others = tuple(
            gm_id for gm_id in scene.gm_ids if gm_id not in (turn.author_id, turn.listener_id)
        )
        words = select_public(take.beats)
        if turn.speaker == NARRATOR:
            words = tuple(action(beat.text) for beat in words)
        messages = [
            *(Outgoing(one.text, author=_overheard(turn)) for one in render_public_messages(words)),
            *render_gm_messages(turn.speaker, scene.reveal.freed(take.beats, Audience.GM)),
        ]
        link = self._channels.at(scene.place).jump_url
        for gm_id in await self._directs.send(
            replace(scene, gm_ids=others), turn, take, messages, link, None
        ):
            await self._unreached(scene, gm_id)


def narration(turn: Turn, take: Take) -> list[str]:
    """Return a narration, or what was changed of the setting, as messages: a quotation in italics."""
    words = render_runs([action(beat.text) for beat in select_public(take.beats)])
    label = [] if turn.speaker == NARRATOR else [FormattedRun(f"**{escape_name(turn.speaker)}** ")]
    return [
        f"{_QUOTE}{text}"
        for text in split_into_messages([*label, *words], MESSAGE_LIMIT - utf16_length(_QUOTE))
    ]


def files(outgoing: Outgoing) -> list[discord.File]:
    """Return the files of a message, as discord.py sends them."""
    return [discord.File(io.BytesIO(file.content), filename=file.name) for file in outgoing.files]


def _overheard(turn: Turn) -> str:
    """Return over whose words a game master reads a whisper."""
    to = ", ".join(sorted(turn.heard_by or ())) or "nobody but you"
    if turn.listener_id is not None:
        return f"{turn.speaker} whispers back"
    return f"To {to}" if turn.speaker == NARRATOR else f"{turn.speaker} whispers to {to}"
