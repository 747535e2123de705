"""The alternatives of a turn: another take of a reply, more of it, one of those there are, one rewritten by hand."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from bot.errors import PostingError, Refused, Remedy
from bot.her.beats import BeatKind, PrivateBeat, PublicBeat, select_public
from bot.her.player_text import parse_player_text
from bot.library.normalise import is_blank
from bot.scenes.scene import SceneState
from bot.scenes.turn import TurnKind, TurnState
from bot.scenes.turn_rights import require_current_button, require_turn

if TYPE_CHECKING:
    from bot.her.beats import Beat
    from bot.scenes.interfaces import Delivery
    from bot.scenes.scene import Scene
    from bot.scenes.take_store import TakeStore
    from bot.scenes.theatre import Theatre
    from bot.scenes.turn import Take, Turn

_log = logging.getLogger(__name__)


class Takes:
    """What people do with the takes of a turn. The current take is what every mind remembers.

    Methods take who asks, and raise Refused where the rules forbid it.
    """

    def __init__(self, theatre: Theatre, store: TakeStore, stage: Delivery) -> None:
        self._theatre = theatre
        self._store = store
        self._stage = stage

    async def retry(self, turn_id: int, by: int) -> None:
        """Try a failed reply again. For game masters, and whom it answers."""
        turn, running = await require_turn(self._theatre, self._store, turn_id, by, answered=True)
        if turn.state is not TurnState.FAILED:
            raise Refused("That reply has not failed, so it can't be tried again.")
        await self._store.rethink(turn_id)
        running.runner.wake()

    async def retake(self, turn_id: int, by: int, *, lengthen: bool = False) -> None:
        """Have a character reply anew, or with `lengthen` go on with its reply: a new take of its turn, which is the
        current one from then on. Earlier takes stay stored, and the one before stands where no new one comes.

        For game masters, and whom the reply answers.
        """
        turn, running = await require_turn(self._theatre, self._store, turn_id, by, answered=True)
        async with running.lock:
            turn = await self._given(turn)
            if running.scene.state is not SceneState.PLAYING:
                raise Refused("The scene is paused, so nobody replies.", Remedy.UNPAUSE_SCENE)
            if not running.scene.part(turn.speaker).answers:
                raise Refused(
                    f"The model does not speak for {turn.speaker} at the moment.", Remedy.LIST_CAST
                )
            await self._store.retake(turn_id, lengthen=lengthen)
        running.runner.wake()

    async def step(self, turn_id: int, by: int, steps: int) -> None:
        """Choose the take so many steps after the current one, or before it. For game masters, and whom the reply
        answers."""
        turn, running = await require_turn(self._theatre, self._store, turn_id, by, answered=True)
        async with running.lock:
            turn = await self._given(turn)
            place = turn.takes.index(turn.take.id) + steps if turn.take else -1
            if not 0 <= place < len(turn.takes):
                raise Refused("There is no other take in that direction.", Remedy.MAKE_TAKE)
            await self._store.choose_take(turn_id, turn.takes[place])
        await self._changed(running.scene, turn)

    async def require_turn_of_message(self, message_id: int, by: int) -> Turn:
        """Return the turn that a message shows. For game masters, and whom the reply answers."""
        turn = await self._store.turn_by_message(message_id)
        if turn is None:
            raise Refused("That message does not belong to a scene.")
        return (await require_turn(self._theatre, self._store, turn.id, by, answered=True))[0]

    async def require_turn(self, turn_id: int, by: int) -> Turn:
        """Return a turn as it is now. For game masters, and whom the reply answers."""
        return (await require_turn(self._theatre, self._store, turn_id, by, answered=True))[0]

    async def require_current_button(
        self, turn_id: int, channel_id: int, message_id: int | None
    ) -> None:
        """Raise Refused where a button that names this turn is from another time; see `rights.stands`."""
        await require_current_button(self._theatre, self._store, turn_id, channel_id, message_id)

    async def read_text(self, turn_id: int, by: int) -> tuple[Take, str]:
        """Return the current take of a reply, and what is public of it as people write it. For game masters."""
        turn, _ = await require_turn(self._theatre, self._store, turn_id, by)
        turn = await self._given(turn)
        if turn.take is None:
            raise Refused("That reply has no text.")
        return turn.take, format_public_text(select_public(turn.take.beats))

    async def rewrite(self, turn_id: int, take_id: int, text: str, by: int) -> bool:
        """Give a reply the text that somebody made of that take of it; thoughts stay as they are. Returns whether
        anything has changed. For game masters."""
        turn, running = await require_turn(self._theatre, self._store, turn_id, by)
        beats = parse_player_text(text)
        if is_blank(text) or not beats:
            raise Refused("A reply can't be empty.", Remedy.HIDE_REPLY)
        async with running.lock:
            turn = await self._given(turn)
            if turn.take is None or turn.take.id != take_id:
                raise Refused("That reply has changed since you opened it. Open it again.")
            if beats == parse_player_text(format_public_text(select_public(turn.take.beats))):
                return False
            await self._store.rewrite(
                turn_id, replace_public_beats(turn.take.beats, beats), text, by
            )
        await self._changed(running.scene, turn)
        return True

    async def _changed(self, scene: Scene, before: Turn) -> None:
        """Have the channel show another take of a turn; where it refuses, the one it shows is remembered."""
        try:
            await self.align(scene, before.id)
        except PostingError:
            if before.take is not None:
                await self._store.choose_take(before.id, before.take.id)
            raise

    async def align(self, scene: Scene, turn_id: int) -> None:
        """Make the channel show what becomes of a turn: its current take, or that it is out of the story.

        Raises PostingError.
        """
        turn = await self._store.turn(turn_id)
        if turn is None or turn.take is None or turn.kind is TurnKind.LINE:
            return
        if turn.state is TurnState.DONE:
            await self._stage.deliver(scene, turn, turn.take)
        elif turn.state is TurnState.HIDDEN:
            await self._stage.cover(scene, turn)

    async def align_all(self) -> None:
        """Put right what a stop of the program left undone: posts that show another take than the current one."""
        for turn in await self._store.misplaced():
            if running := self._theatre.running(turn.scene_id):
                try:
                    await self.align(running.scene, turn.id)
                except PostingError as error:
                    _log.warning(
                        "The posts of turn %d do not show its current take: %s", turn.id, error
                    )

    async def _given(self, turn: Turn) -> Turn:
        """Return the turn as it is now. Raises Refused where it is no reply that was given."""
        now = await self._store.turn(turn.id)
        if now is None or now.kind is not TurnKind.REPLY:
            raise Refused("You can only retry or edit a finished reply.")
        if now.state is TurnState.THINKING:
            raise Refused(f"{now.speaker} is still replying. Wait until the reply is finished.")
        if now.state is TurnState.FAILED:
            raise Refused("That reply failed.", Remedy.TRY_AGAIN)
        if now.state is TurnState.HIDDEN:
            raise Refused("That reply is no longer part of the story.")
        return now


def format_public_text(beats: tuple[PublicBeat, ...]) -> str:
    """Return public beats as people write them, so that `parse_player_text` reads the same from it: speech plain, actions
    between asterisks, each on a line of its own."""
    return "\n".join(
        f"*{beat.text}*" if beat.kind is BeatKind.ACTION else beat.text for beat in beats
    )


def replace_public_beats(before: tuple[Beat, ...], now: tuple[PublicBeat, ...]) -> tuple[Beat, ...]:
    """Return a take's beats with other public ones: each in the place of the one it was made from where they are as
    many of the same kinds, else all of them behind what was thought."""
    old = select_public(before)
    if [beat.kind for beat in old] == [beat.kind for beat in now]:
        fresh = iter(now)
        return tuple(next(fresh) if isinstance(beat, PublicBeat) else beat for beat in before)
    return (*(beat for beat in before if isinstance(beat, PrivateBeat)), *now)
