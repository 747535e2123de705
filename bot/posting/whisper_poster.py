"""Posts whispered answers to the person who whispered, and whispers to the game masters."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from bot.errors import PostingError
from bot.her.beats import action, select_public
from bot.library.scenario import NARRATOR
from bot.posting.buttons import try_again_view
from bot.posting.discord_errors import FILTERED, REQUEST_ERRORS, explain_discord_error
from bot.posting.escaping import escape_name, escape_text
from bot.posting.failure_notices import format_failure
from bot.posting.render import Outgoing, render_gm_messages, render_public_messages
from bot.scenes.posts import Post, PostPurpose
from bot.scenes.reveal import Audience

if TYPE_CHECKING:
    from collections.abc import Sequence

    import discord

    from bot.her.beats import PrivateBeat
    from bot.posting.channels import Channels
    from bot.posting.direct_messages import DirectMessages
    from bot.scenes.posts import Posts
    from bot.scenes.scene import Scene
    from bot.scenes.turn import Take, Turn

_log = logging.getLogger(__name__)

_UNDELIVERED = (
    "{speaker} has answered your whisper, but the answer can't reach you. Your direct messages are"
    " closed to me, and I can only reply to a command for 15 minutes. Open your direct messages,"
    " then whisper again."
)


class PrivateAnswers(Protocol):
    """Shows a person messages in the channel that only they see, while Discord allows it."""

    async def confide(
        self,
        channel_id: int,
        user_id: int,
        messages: Sequence[Outgoing],
        view: discord.ui.View | None,
    ) -> list[int] | None:
        """Show messages to one person and return their ids, or None if that is not possible."""
        ...


@dataclass(frozen=True, slots=True)
class WhisperPoster:
    """Posts whispers.

    A whispered answer goes to the whisperer as a message that only they see in the channel. If that
    is not possible, it goes to their direct messages. Every game master reads every whisper in
    their direct messages.
    """

    channels: Channels
    direct_messages: DirectMessages
    posts: Posts
    private_answers: PrivateAnswers

    async def deliver(self, scene: Scene, turn: Turn, take: Take) -> None:
        """Send a whisper to everyone who may read it and does not have it yet.

        Raises PostingError.
        """
        rows = await self.posts.posts(turn.id)
        delivered = any(
            row.purpose is PostPurpose.WHISPER and row.take_id == take.id for row in rows
        )
        if turn.listener_id is not None and not delivered:
            await self._answer(scene, turn, take, turn.listener_id)
        await self._send_to_gms(scene, turn, take)

    async def fail(self, scene: Scene, turn: Turn, sentence: str) -> None:
        """Tell the whisperer that no answer came, with a button to try again.

        If they can't be reached, log a warning.
        """
        if turn.listener_id is None or self.direct_messages.is_undelivered(turn.listener_id):
            return
        messages = [Outgoing(format_failure(sentence))]
        try:
            await self._send(scene, turn, turn.listener_id, messages, try_again_view(turn.id))
        except PostingError as error:
            _log.warning("Turn %d failed, and the whisperer can't be reached: %s", turn.id, error)

    async def show_thoughts(self, scene: Scene, turn: Turn, beats: tuple[PrivateBeat, ...]) -> None:
        """Show the thoughts of a whispered answer without words.

        The whisperer reads the ones that the reveal policy releases to the channel. If they can't
        be reached, log a warning.
        """
        await self.direct_messages.send_to_gms(
            scene,
            turn,
            None,
            render_gm_messages(turn.speaker, scene.reveal.release(beats, Audience.GM)),
            link=self.channels.messageable(scene.place).jump_url,
            exclude=(turn.author_id, turn.listener_id),
        )
        messages = render_public_messages(
            scene.reveal.select_for_channel(beats), head=f"🤫 **{escape_name(turn.speaker)}** "
        )
        if not messages or turn.listener_id is None:
            return
        try:
            await self._send(scene, turn, turn.listener_id, messages, None)
        except PostingError as error:
            _log.warning("The thoughts of turn %d can't reach the whisperer: %s", turn.id, error)

    async def _answer(self, scene: Scene, turn: Turn, take: Take, listener_id: int) -> None:
        head = f"🤫 **{escape_name(turn.speaker)}** "
        messages = render_public_messages(
            scene.reveal.select_for_channel(take.beats, take.destinations), head=head
        )
        ids = await self._send(scene, turn, listener_id, messages, None)
        for part, message_id in enumerate(ids):
            await self.posts.add_post(
                Post(
                    message_id=message_id,
                    channel_id=scene.place.channel_id,
                    turn_id=turn.id,
                    take_id=take.id,
                    part=part,
                    purpose=PostPurpose.WHISPER,
                )
            )

    async def _send(
        self,
        scene: Scene,
        turn: Turn,
        listener_id: int,
        messages: Sequence[Outgoing],
        view: discord.ui.View | None,
    ) -> list[int]:
        await self.direct_messages.require_reader(scene, listener_id)
        shown = await self.private_answers.confide(
            scene.place.channel_id, listener_id, messages, view
        )
        if shown is not None:
            return shown
        try:
            return await self.direct_messages.send(listener_id, messages, view)
        except REQUEST_ERRORS as error:
            if getattr(error, "code", 0) in FILTERED:
                raise explain_discord_error(error, "a direct message") from error
            notice = _UNDELIVERED.format(speaker=escape_text(turn.speaker))
            self.direct_messages.set_undelivered(listener_id, notice)
            raise PostingError(
                "The person who whispered can't be reached. Their direct messages are closed."
            ) from error

    async def _send_to_gms(self, scene: Scene, turn: Turn, take: Take) -> None:
        """Send a whisper to the game masters who neither said nor heard it."""
        words = select_public(take.beats)
        if turn.speaker == NARRATOR:
            words = tuple(action(beat.text) for beat in words)
        heading = _format_heading(turn)
        messages = [
            *(Outgoing(one.text, author=heading) for one in render_public_messages(words)),
            *render_gm_messages(
                turn.speaker, scene.reveal.release(take.beats, Audience.GM, take.destinations)
            ),
        ]
        await self.direct_messages.send_to_gms(
            scene,
            turn,
            take,
            messages,
            link=self.channels.messageable(scene.place).jump_url,
            exclude=(turn.author_id, turn.listener_id),
        )


def _format_heading(turn: Turn) -> str:
    """Return the heading under which a game master reads a whisper."""
    listeners = ", ".join(sorted(turn.heard_by or ())) or "game masters only"
    if turn.listener_id is not None:
        return f"{turn.speaker} whispers back"
    if turn.speaker == NARRATOR:
        return f"To {listeners}"
    return f"{turn.speaker} whispers to {listeners}"
