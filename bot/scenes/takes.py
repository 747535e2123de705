"""The takes of a turn: new ones, longer ones, earlier ones, and ones edited by hand."""

from __future__ import annotations

import contextlib
import logging
from typing import TYPE_CHECKING

from bot.errors import ContentRejected, PostingError, Refused, Remedy
from bot.her.beats import BeatKind, PrivateBeat, PublicBeat, select_public
from bot.her.player_text import parse_player_text
from bot.library.normalise import is_blank
from bot.scenes.scene import SceneState
from bot.scenes.take_delivery import deliver_take
from bot.scenes.take_destinations import carry_destinations, redirect
from bot.scenes.turn import TurnKind, TurnState
from bot.scenes.turn_rights import require_current_button, require_place, require_turn

if TYPE_CHECKING:
    from bot.her.beats import Beat
    from bot.scenes.reveal import Destination
    from bot.scenes.scene import Scene
    from bot.scenes.scene_delivery import Delivery
    from bot.scenes.scene_store import SceneStore
    from bot.scenes.theatre import Theatre
    from bot.scenes.turn import Take, Turn

_log = logging.getLogger(__name__)


class Takes:
    """Changes the takes of a turn. The current take is the one that every mind remembers.

    Methods take the user who asks, and raise Refused. Unless they say otherwise, they are for game
    masters and the person whom the reply answers.
    """

    def __init__(self, theatre: Theatre, store: SceneStore, delivery: Delivery) -> None:
        self._theatre = theatre
        self._store = store
        self._delivery = delivery

    async def retry(self, turn_id: int, by: int) -> None:
        """Try a failed reply again."""
        turn, running = await require_turn(self._theatre, self._store, turn_id, by, answered=True)
        if turn.state is not TurnState.FAILED:
            raise Refused("That reply has not failed, so it can't be tried again.")
        async with running.lock:
            if turn.public:  # it was never heard, so the characters on stage now hear it
                await self._store.set_audience([turn_id], running.scene.audience)
            await self._store.rethink(turn_id)
        running.runner.wake()

    async def retake(self, turn_id: int, by: int, *, lengthen: bool = False) -> None:
        """Generate a new take of a reply, or with `lengthen` one that continues the current take.

        The new take becomes the current one. If the generation fails, the earlier one remains.
        """
        turn, running = await require_turn(self._theatre, self._store, turn_id, by, answered=True)
        async with running.lock:
            turn = await self._require_finished(turn)
            if running.scene.state is not SceneState.PLAYING:
                raise Refused("The scene is paused, so no reply comes.", Remedy.UNPAUSE_SCENE)
            part = running.scene.find_part(turn.speaker)
            if part is None or not part.answers:
                raise Refused(
                    f"The model does not speak for {turn.speaker} at the moment.", Remedy.LIST_CAST
                )
            await self._store.retake(turn_id, lengthen=lengthen)
        running.runner.wake()

    async def step(self, turn_id: int, by: int, steps: int) -> None:
        """Make the take so many steps after the current one, or before it, the current one."""
        turn, running = await require_turn(self._theatre, self._store, turn_id, by, answered=True)
        async with running.lock:
            turn = await self._require_finished(turn)
            index = turn.takes.index(turn.take.id) + steps if turn.take else -1
            if not 0 <= index < len(turn.takes):
                raise Refused("There is no other take in that direction.", Remedy.MAKE_TAKE)
            await self._store.choose_take(turn_id, turn.takes[index])
        await self._show_change(running.scene, turn)

    async def require_turn_of_message(self, message_id: int, channel_id: int, by: int) -> Turn:
        """Return the turn that a message in this channel belongs to."""
        turn = await self._store.turn_by_message(message_id)
        if turn is None or _has_no_words(turn):
            raise Refused("That message does not belong to a scene.")
        await require_place(self._store, turn, channel_id)
        return await self.require_turn(turn.id, by)

    async def require_turn(self, turn_id: int, by: int) -> Turn:
        """Return the current state of a turn."""
        return (await require_turn(self._theatre, self._store, turn_id, by, answered=True))[0]

    async def require_current_button(
        self, turn_id: int, channel_id: int, message_id: int | None
    ) -> None:
        """Raise Refused if a button is out of date; see `turn_rights.require_current_button`."""
        await require_current_button(self._theatre, self._store, turn_id, channel_id, message_id)

    async def read_text(self, turn_id: int, by: int) -> tuple[Take, str]:
        """Return the current take of a reply and its public text for editing. For game masters."""
        turn, _ = await require_turn(self._theatre, self._store, turn_id, by)
        turn = await self._require_finished(turn)
        if turn.take is None:
            raise Refused("That reply has no text.")
        return turn.take, format_public_text(select_public(turn.take.beats))

    async def rewrite(self, turn_id: int, take_id: int, text: str, by: int) -> bool:
        """Replace the public text of that take. Thoughts stay. Return whether the text differs.

        For game masters.
        """
        turn, running = await require_turn(self._theatre, self._store, turn_id, by)
        beats = parse_player_text(text)
        if is_blank(text) or not beats:
            raise Refused("A reply can't be empty.", Remedy.HIDE_REPLY)
        async with running.lock:
            turn = await self._require_finished(turn)
            if turn.take is None or turn.take.id != take_id:
                raise Refused("That reply has changed since you opened it. Open it again.")
            before = turn.take.beats
            if beats == parse_player_text(format_public_text(select_public(before))):
                return False
            edited = replace_public_beats(before, beats)
            rewritten = await self._store.rewrite(
                turn_id, edited, text, by, carry_destinations(turn.take, edited)
            )
        try:
            await self._show_change(running.scene, turn)
        except ContentRejected:
            if rewritten.take is not None:
                await self._store.discard_take(turn_id, rewritten.take.id)
            raise
        return True

    async def redirect(
        self, turn_id: int, kind: BeatKind, destination: Destination, by: int
    ) -> None:
        """Change the destination of private beats of an earlier reply. For game masters.

        Only the reply's current take changes. Raises PostingError.
        """
        turn, running = await require_turn(self._theatre, self._store, turn_id, by)
        turn = await self._require_finished(turn)
        if turn.take is None or not any(beat.kind is kind for beat in turn.take.beats):
            raise Refused("This reply has no thoughts.")
        take = redirect(turn.take, kind, destination)
        await self._store.save_destinations(take.id, take.destinations)
        await self._store.mark_posts_outdated(turn.id)
        await self.align(running.scene, turn.id)

    async def align(self, scene: Scene, turn_id: int) -> None:
        """Make the channel show a turn's current state: its take, or that it left the story.

        Raises PostingError.
        """
        turn = await self._store.turn(turn_id)
        if turn is None or turn.take is None or turn.kind is TurnKind.LINE:
            return
        if turn.state is TurnState.DONE:
            await deliver_take(self._delivery, self._store, scene, turn, turn.take)
        elif turn.state is TurnState.HIDDEN:
            await self._delivery.cover(scene, turn)

    async def align_all(self) -> None:
        """Correct the posts that the program could not update before it stopped."""
        for turn in await self._store.find_outdated_turns():
            if running := self._theatre.find_running(turn.scene_id):
                try:
                    await self.align(running.scene, turn.id)
                except PostingError as error:
                    _log.warning("The posts of turn %d are out of date: %s", turn.id, error)

    async def _show_change(self, scene: Scene, before: Turn) -> None:
        """Show another take of a turn. If Discord rejects it, the earlier take is current again."""
        try:
            await self.align(scene, before.id)
        except PostingError as error:
            if before.take is not None:
                await self._store.choose_take(before.id, before.take.id)
                if isinstance(error, ContentRejected):  # some of its parts may be posted
                    with contextlib.suppress(PostingError):
                        await self.align(scene, before.id)
            raise

    async def _require_finished(self, turn: Turn) -> Turn:
        """Return the current state of a turn. Raise Refused if it is not a finished reply."""
        current = await self._store.turn(turn.id)
        if current is None or current.kind is not TurnKind.REPLY:
            raise Refused("You can only retry or edit a finished reply.")
        if current.state is TurnState.THINKING:
            raise Refused(f"{current.speaker} is still replying. Wait until the reply is finished.")
        if current.state is TurnState.FAILED:
            raise Refused("That reply failed.", Remedy.TRY_AGAIN)
        if current.state is TurnState.HIDDEN:
            raise Refused("That reply is no longer part of the story.")
        return current


def _has_no_words(turn: Turn) -> bool:
    return turn.kind is TurnKind.LINE and turn.take is not None and not turn.take.beats


def format_public_text(beats: tuple[PublicBeat, ...]) -> str:
    """Return public beats as people write them: actions between asterisks, a line per beat.

    `parse_player_text` turns the text into the same beats again.
    """
    return "\n".join(
        f"*{beat.text}*" if beat.kind is BeatKind.ACTION else beat.text for beat in beats
    )


def replace_public_beats(
    before: tuple[Beat, ...], public: tuple[PublicBeat, ...]
) -> tuple[Beat, ...]:
    """Return a take's beats with other public ones.

    If number and kinds are the same, each new beat takes the place of its original. Otherwise all
    of them follow the private beats.
    """
    if [beat.kind for beat in select_public(before)] == [beat.kind for beat in public]:
        new = iter(public)
        return tuple(next(new) if isinstance(beat, PublicBeat) else beat for beat in before)
    return (*(beat for beat in before if isinstance(beat, PrivateBeat)), *public)
