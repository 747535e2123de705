"""The runner plays what one scene owes: one task, alive only while something is owed."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from bot.errors import AsideError, PostingError
from bot.scenes import narrator
from bot.scenes.auto_mode import AutoMode
from bot.scenes.notices import Notice
from bot.scenes.prefetch import prefetch_minds
from bot.scenes.retrying import retry_until_done
from bot.scenes.scene import SceneState
from bot.scenes.turn import TurnKind, TurnState

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Sequence

    from bot.her.beats import PublicBeat
    from bot.scenes.dependencies import SceneDependencies
    from bot.scenes.reply_generation import GeneratedReply
    from bot.scenes.scene import Scene
    from bot.scenes.turn import Take, Turn

_log = logging.getLogger(__name__)

RESTART_WINDOW: Final = timedelta(seconds=30)
"""How long a reply may be begun anew since somebody else spoke to the same character."""

_UNEXPECTED = (
    "An internal error occurred. The log of Aside has the details. Nothing is lost. Try again."
)

_UNSTORABLE = (
    "The reply of {speaker} is ready but can't be stored at the moment. It will appear as soon as it "
    "is stored. Whoever runs Aside finds the reason in its log."
)


@dataclass(slots=True)
class _Speaking:
    """A turn in the making: `heard` once some of it may be public, `dropped` where another one will answer instead."""

    turn: Turn
    task: asyncio.Task[Turn | None]
    heard: bool = False
    dropped: bool = False


class Runner:
    """Settles the owed turns of one scene, one after the other, while it is playing.

    `scene` returns the scene as it is now; `history_cut` is called when turns had to leave the context.
    """

    def __init__(
        self,
        house: SceneDependencies,
        scene: Callable[[], Scene],
        history_cut: Callable[[], Awaitable[None]],
    ) -> None:
        self._house = house
        self._scene = scene
        self._history_cut = history_cut
        self._initiative = AutoMode(house)
        self._wanted = False
        self._task: asyncio.Task[None] | None = None
        self._speaking: _Speaking | None = None
        self._delivering: tuple[int, asyncio.Event] | None = (
            None  # a turn, and what is set when it is told
        )
        self._heard = False  # whether some of the turn that was last in the making was shown
        self._choosing: asyncio.Task[str | None] | None = None

    def wake(self) -> None:
        """See to it that everything owed is played. Costs nothing where the runner is at it already."""
        self._wanted = True
        if self._choosing is not None:
            self._choosing.cancel()  # there is something new to consider
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run(), name=f"scene {self._scene().id}")

    def prefetch_minds(self) -> None:
        """Have the minds that may be asked next prepared. A runner that is at something does so when it is done."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._prepare(), name=f"scene {self._scene().id}")

    async def rest(self) -> None:
        """Wait until everything that can be played now has been."""
        while self._task is not None and not self._task.done():
            await asyncio.wait((self._task,))

    async def stop(self) -> None:
        """Stop at once. What is owed stays owed, in the store."""
        self._wanted = False
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def delivered(self, turn_id: int) -> None:
        """Wait until a take of this turn that is just being delivered is done with: people see it before that."""
        if self._delivering is not None and self._delivering[0] == turn_id:
            await self._delivering[1].wait()

    def make_way(self, speakers: Collection[str]) -> int | None:
        """Break off the reply in the making where one of these is to give it and nobody has heard any of it yet, so
        that one reply can answer what is said now too.

        Returns the turn that is too far for that, or is owed for too long to begin anew.
        """
        speaking = self._speaking
        if (
            speaking is None
            or speaking.turn.kind is not TurnKind.REPLY
            or speaking.turn.speaker not in speakers
        ):
            return None
        if (
            speaking.heard
            or not timedelta() <= self._house.now() - speaking.turn.created_at <= RESTART_WINDOW
        ):
            return speaking.turn.id
        speaking.dropped = True
        speaking.task.cancel()
        return None

    async def _prepare(self) -> None:
        await prefetch_minds(self._house, self._scene())
        await self._run()  # what was asked for meanwhile

    async def _run(self) -> None:
        while self._wanted:
            self._wanted = False
            try:
                for turn in await retry_until_done(self._owed, f"Scene {self._scene().id}"):
                    if self._scene().state is SceneState.PLAYING:
                        await self._settle(turn)
                if not self._wanted and (name := await self._volunteer()):
                    await self._owe(name)
                    self._wanted = True
            except AsideError as error:
                _log.error("Scene %d rests until it is next spoken to: %s", self._scene().id, error)

    async def _owed(self) -> list[Turn]:
        return await self._house.store.owed(self._scene().id)

    async def _volunteer(self) -> str | None:
        """Return who speaks of its own accord; None where nobody does, or somebody said something meanwhile."""
        self._choosing = asyncio.create_task(self._consider())
        try:
            return await self._choosing
        except asyncio.CancelledError:
            if _is_cancelled():
                raise
            return None
        finally:
            self._choosing = None

    async def _consider(self) -> str | None:
        """Choose who speaks of its own accord; where nobody does, there is time for looking ahead."""
        name = await self._initiative.next(self._scene())
        if name is None:
            await prefetch_minds(self._house, self._scene())
        return name

    async def _owe(self, name: str) -> None:
        scene = self._scene()
        await self._house.store.add_reply(
            scene.id, name, None, self._house.now(), heard_by=scene.audience
        )

    async def _settle(self, turn: Turn) -> None:
        try:
            played = await self._played(turn)
            if played is not None and (take := played.take) is not None:
                await retry_until_done(lambda: self._deliver(played, take), f"Turn {turn.id}")
        except AsideError as error:
            _log.warning("Turn %d failed: %s", turn.id, error, exc_info=error.__cause__)
            await self._fail(turn, str(error))
        except Exception:
            _log.exception("Turn %d failed", turn.id)
            await self._fail(turn, _UNEXPECTED)

    async def _deliver(self, turn: Turn, take: Take) -> None:
        there = asyncio.Event()
        self._delivering = (turn.id, there)
        try:
            now = await self._house.store.turn(turn.id)
            if now is not None and now.state is TurnState.THINKING:
                await self._house.stage.deliver(self._scene(), turn, take)
                await self._house.store.settle(turn.id)
        finally:
            self._delivering = None
            there.set()

    async def _played(self, turn: Turn) -> Turn | None:
        """Return an owed turn with its take, played now if it wasn't; None where it is not owed any more."""
        speaking = self._speaking = _Speaking(turn, asyncio.create_task(self._play(turn)))
        try:
            played = await speaking.task
        except asyncio.CancelledError:
            if _is_cancelled() or not speaking.dropped:
                raise
            return None
        finally:
            self._heard = speaking.heard
            self._speaking = None
        if played is None and speaking.heard:
            await self._withdraw(turn)
        return played

    async def _play(self, turn: Turn) -> Turn | None:
        if not await self._still_owed(turn):
            return None
        return turn if turn.take is not None else await self._perform(turn)

    async def _perform(self, turn: Turn) -> Turn | None:
        """Have the turn played and keep the take; None where the turn was taken out of the story meanwhile."""
        store = self._house.store
        earlier = [told for told in await store.turns(turn.scene_id) if told.id < turn.id]
        story = [told for told in earlier if told.state is TurnState.DONE]
        async with self._house.stage.thinking(self._scene(), turn):
            performed = await self._performed(turn, story)
        what = f"Turn {turn.id}"
        if performed.left_out:
            await retry_until_done(self._history_cut, what)
        return await retry_until_done(
            lambda: self._keep(turn, performed), what, waits=lambda _: self._unstorable(turn)
        )

    async def _performed(self, turn: Turn, story: Sequence[Turn]) -> GeneratedReply:
        performance, scene = self._house.performance, self._scene()
        if turn.kind is TurnKind.NARRATION:
            return await narrator.generate_narration(performance, scene, story)
        notes = [
            note.text
            for note in await self._house.store.notes(scene.id)
            if note.concerns(turn.speaker)
        ]

        async def progress(beats: tuple[PublicBeat, ...]) -> None:
            await self._progress(turn, beats)

        if turn.lengthens is not None:
            return await performance.longer(
                scene, turn.speaker, story, turn.lengthens.beats, progress, notes
            )
        return await performance.reply(scene, turn.speaker, story, progress, notes)

    async def _progress(self, turn: Turn, beats: tuple[PublicBeat, ...]) -> None:
        if turn.public:  # a whisper never streams into the channel
            if self._speaking is not None:
                self._speaking.heard = True
            await self._house.stage.progress(self._scene(), turn, beats)

    async def _keep(self, turn: Turn, performed: GeneratedReply) -> Turn | None:
        if not await self._still_owed(turn):
            return None
        return await self._house.store.keep_take(
            turn.id, performed.beats, performed.raw, performed.seed
        )

    async def _unstorable(self, turn: Turn) -> None:
        """Say why a reply that is ready doesn't come yet."""
        try:
            notice = Notice(_UNSTORABLE.format(speaker=turn.speaker))
            await self._house.stage.announce(self._scene(), notice)
        except PostingError as error:
            _log.warning(
                "Turn %d can't be stored, and the channel could not be told: %s", turn.id, error
            )

    async def _still_owed(self, turn: Turn) -> bool:
        """Whether the model still has to play this turn; where a player took the part, it is given up."""
        now = await self._house.store.turn(turn.id)
        if now is None or now.state is not TurnState.THINKING:
            return False
        if turn.kind is TurnKind.NARRATION or self._scene().part(turn.speaker).answers:
            return True
        await self._house.store.give_up([turn.id])
        return False

    async def _withdraw(self, turn: Turn) -> None:
        """Have what shows of a reply taken away that nobody waits for any more."""
        if now := await self._house.store.turn(turn.id):
            try:
                await self._house.stage.withdraw(self._scene(), now)
            except PostingError as error:
                _log.error(
                    "Turn %d is not owed any more, and what shows of it stays: %s", turn.id, error
                )

    async def _fail(self, turn: Turn, sentence: str) -> None:
        failed = await retry_until_done(
            lambda: self._house.store.fail(turn.id, sentence), f"The failure of turn {turn.id}"
        )
        try:
            if failed.state is TurnState.DONE:
                if self._heard:
                    await self._withdraw(turn)
                notice = Notice(f"{sentence} The earlier reply of {turn.speaker} remains.")
                await retry_until_done(
                    lambda: self._house.stage.announce(self._scene(), notice),
                    f"The notice about turn {turn.id}",
                )
            elif failed.state is TurnState.FAILED:
                await retry_until_done(
                    lambda: self._house.stage.fail(self._scene(), failed, sentence),
                    f"The notice about turn {turn.id}",
                )
        except PostingError as error:
            _log.error("Turn %d failed, and the channel could not be told: %s", turn.id, error)


def _is_cancelled() -> bool:
    """Whether it is this task itself that is to stop, and not one that it waits for."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
