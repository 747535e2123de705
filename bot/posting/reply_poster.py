"""Posts the characters' replies, in one piece or while they are generated."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING, Final
from weakref import WeakValueDictionary

from bot.errors import PostingError
from bot.her.beats import BeatKind
from bot.posting.discord_errors import REQUEST_ERRORS
from bot.posting.escaping import escape_name
from bot.posting.opening_views import open_view
from bot.posting.render import render_gm_messages, render_public_messages
from bot.posting.streaming import RenderQueue, ReplyStream
from bot.posting.webhook_names import assign_webhook_names, format_webhook_name
from bot.posting.webhooks import Persona
from bot.scenes.reveal import Audience
from bot.scenes.turn import TurnKind, TurnState

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.her.beats import PrivateBeat, PublicBeat
    from bot.posting.channels import Channels
    from bot.posting.character_faces import CharacterFaces
    from bot.posting.direct_messages import DirectMessages
    from bot.posting.failure_notices import FailureNotices
    from bot.posting.persona_posts import PersonaPosts
    from bot.posting.reply_draft import ReplyDraft
    from bot.scenes.scene import Place, Scene
    from bot.scenes.turn import Take, Turn

_log = logging.getLogger(__name__)

TYPING_INTERVAL: Final = 8.0
"""Seconds between two typing notices. Discord shows each for ten."""

STREAM_TIMEOUT: Final = 5.0
"""Seconds to wait for the last request of a stream."""


class ReplyPoster:
    """Posts replies under the characters' names and faces.

    With `streaming`, replies are shown while they are generated.
    """

    def __init__(
        self,
        *,
        channels: Channels,
        direct_messages: DirectMessages,
        personas: PersonaPosts,
        failure_notices: FailureNotices,
        faces: CharacterFaces,
        streaming: bool = True,
    ) -> None:
        self._channels = channels
        self._direct_messages = direct_messages
        self._personas = personas
        self._failure_notices = failure_notices
        self._faces = faces
        self._streaming = streaming
        self._render_queue = RenderQueue()
        self._streams: dict[int, ReplyStream] = {}  # by turn id
        self._locks: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()  # by turn id

    @contextlib.asynccontextmanager
    async def show_thinking(self, scene: Scene, turn: Turn) -> AsyncGenerator[None]:
        """Show the typing indicator and the beats passed to `progress` while the context lasts.

        Errors while doing so are ignored.
        """
        typing = asyncio.create_task(self._type(scene.place), name=f"typing for turn {turn.id}")
        stream = ReplyStream(
            self._render_queue,
            lambda: self._start_draft(scene, turn),
            f"streaming of turn {turn.id}",
        )
        if self._streaming and turn.kind is TurnKind.REPLY:
            self._streams[turn.id] = stream
        try:
            yield
        finally:
            self._streams.pop(turn.id, None)
            await stream.close(STREAM_TIMEOUT)
            typing.cancel()
            await asyncio.gather(typing, return_exceptions=True)

    def progress(self, turn: Turn, beats: tuple[PublicBeat, ...]) -> None:
        """Note which beats of a reply have settled. They are shown as fast as Discord allows."""
        if stream := self._streams.get(turn.id):
            stream.update(beats)

    async def deliver(self, scene: Scene, turn: Turn, take: Take) -> None:
        """Post a take in the channel and send its private beats to the game masters.

        Parts that were sent before are not sent again. If a game master can't be reached, the reply
        is posted all the same. Raises PostingError if the channel can't be posted to.
        """
        persona = await self.find_persona(scene, turn.speaker)
        async with self._lock(turn):
            message_id = await self._personas.show(scene, turn, take, persona)
            await self._failure_notices.clear(scene.place, turn)
        # A take that a person wrote has the thoughts of the take it was made from.
        if take.seed is not None:
            await self._send_to_gms(scene, turn, take, persona, message_id)
        try:
            await self._personas.remove_earlier_buttons(scene, turn)
        except PostingError as error:
            _log.warning(
                "Turn %d: the buttons of an earlier reply can't be removed: %s", turn.id, error
            )

    async def withdraw(self, scene: Scene, turn: Turn) -> None:
        """Delete the posts of a reply that will not be finished.

        If the turn has a take, show it again, or cover it if the turn left the story. Raises
        PostingError.
        """
        persona = await self.find_persona(scene, turn.speaker)
        async with self._lock(turn):
            if turn.take is None:
                await self._personas.withdraw(scene, turn, persona)
            elif turn.state is TurnState.HIDDEN:
                await self._personas.cover(scene, turn)
            else:
                await self._personas.show(scene, turn, turn.take, persona)

    async def show_thoughts(self, scene: Scene, turn: Turn, beats: tuple[PrivateBeat, ...]) -> None:
        """Show the thoughts of a reply without words, next to the notice of its failure.

        Raises PostingError.
        """
        async with self._lock(turn):
            await self._failure_notices.add(
                scene.place,
                turn,
                render_public_messages(
                    scene.reveal.select_for_channel(beats),
                    head=f"**{escape_name(turn.speaker)}** ",
                ),
            )
        await self._direct_messages.send_to_gms(
            scene,
            turn,
            None,
            render_gm_messages(turn.speaker, scene.reveal.release(beats, Audience.GM)),
            link=self._channels.messageable(scene.place).jump_url,
            icon_url=(await self.find_persona(scene, turn.speaker)).avatar_url,
        )

    async def restore_buttons(self, scene: Scene, turn: Turn) -> None:
        """Give the reply before a failed one its buttons back. If Discord refuses, log it."""
        try:
            await self._personas.restore_buttons(scene.place, turn)
        except PostingError as error:
            _log.warning("The buttons before turn %d can't be restored: %s", turn.id, error)

    async def remove(self, scene: Scene, turn: Turn) -> None:
        """Delete all posts of a reply. Raises PostingError."""
        async with self._lock(turn):
            await self._personas.remove(scene, turn)

    async def cover(self, scene: Scene, turn: Turn) -> None:
        """Put the posts of a reply that left the story under spoilers. Raises PostingError."""
        async with self._lock(turn):
            await self._failure_notices.clear(scene.place, turn)
            await self._personas.cover(scene, turn)

    async def prepare(self, scene: Scene) -> None:
        """Create the webhook that a scene's characters share. Raises PostingError."""
        await self._personas.get_hook(scene.place, Persona(""))

    async def find_persona(self, scene: Scene, speaker: str) -> Persona:
        """Return the name and picture under which a speaker posts in a scene."""
        names = assign_webhook_names(character.name for character in scene.scenario.characters)
        face = await self._faces.find(scene, speaker)
        return Persona(names.get(speaker) or format_webhook_name(speaker), face)

    def _lock(self, turn: Turn) -> asyncio.Lock:
        """Return the lock that is held while the posts of a turn change."""
        return self._locks.setdefault(turn.id, asyncio.Lock())

    async def _start_draft(self, scene: Scene, turn: Turn) -> ReplyDraft:
        persona = await self.find_persona(scene, turn.speaker)
        return await self._personas.start_draft(scene, turn, persona)

    async def _send_to_gms(
        self, scene: Scene, turn: Turn, take: Take, persona: Persona, message_id: int
    ) -> None:
        known = len(turn.lengthens.beats) if turn.lengthens else 0
        released = scene.reveal.release(take.beats[known:], Audience.GM, take.destinations[known:])
        messages = render_gm_messages(turn.speaker, released)
        if messages:
            channel = self._channels.messageable(scene.place)
            has_thought = any(one.beat.kind is BeatKind.THOUGHT for one in released)
            await self._direct_messages.send_to_gms(
                scene,
                turn,
                take,
                messages,
                link=f"{channel.jump_url}/{message_id}",
                icon_url=persona.avatar_url,
                view=open_view(turn.id, take.id) if has_thought else None,
            )

    async def _type(self, place: Place) -> None:
        while True:
            with contextlib.suppress(*REQUEST_ERRORS):
                await self._channels.messageable(place).typing()
            await asyncio.sleep(TYPING_INTERVAL)
