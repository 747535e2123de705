"""The runner of one scene: it claims, generates, saves and delivers the replies that are owed."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from bot.errors import (
    AsideError,
    ContentRejected,
    PostingError,
    StoreError,
    StoreUnavailable,
)
from bot.scenes import narrator
from bot.scenes.auto_mode import AutoMode
from bot.scenes.notices import Notice
from bot.scenes.outage_retry import retry_until_done
from bot.scenes.prefetch import prefetch_minds
from bot.scenes.reply_generation import LostInThought
from bot.scenes.scene import SceneState
from bot.scenes.take_delivery import deliver_take
from bot.scenes.turn import TurnKind, TurnState

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection

    from bot.her.beats import PrivateBeat, PublicBeat
    from bot.scenes.dependencies import SceneDependencies
    from bot.scenes.reply_generation import GeneratedReply
    from bot.scenes.scene import Scene
    from bot.scenes.turn import Take, Turn

_log = logging.getLogger(__name__)

RESTART_WINDOW: Final = timedelta(seconds=30)
"""How long after a turn became owed its generation may be restarted for a later line."""

_UNEXPECTED = (
    "An internal error occurred. The log of Aside has the details. The story is not affected. "
    "Try again."
)
_REJECTED = (
    "A filter of this server or of Discord refused the reply of {speaker}. Trying again generates"
    " another one."
)

_NOT_STORED = (
    "The reply of {speaker} is ready but can't be stored at the moment. It will appear as soon as "
    "it is stored. Whoever runs Aside finds the reason in its log."
)


@dataclass(slots=True)
class _Generation:
    """The task that generates a take for a turn.

    `shown` is True once part of the reply may be visible, `dropped` once the task was cancelled
    because the turn is no longer owed, or because another turn will answer instead.
    """

    turn: Turn
    task: asyncio.Task[Turn | None]
    shown: bool = False
    dropped: bool = False

    def drop(self) -> None:
        """Cancel the generation. The engine frees its slot at once."""
        self.dropped = True
        self.task.cancel()


class Runner:
    """Processes the owed turns of one scene in order while the scene is playing.

    It has one task, which lives only while turns are owed. `scene` returns the scene's current
    state. `history_cut` is called if the oldest turns no longer fit the context.
    """

    def __init__(
        self,
        dependencies: SceneDependencies,
        scene: Callable[[], Scene],
        history_cut: Callable[[], Awaitable[None]],
    ) -> None:
        self._dependencies = dependencies
        self._store = dependencies.store
        self._delivery = dependencies.delivery
        self._scene = scene
        self._history_cut = history_cut
        self._auto_mode = AutoMode(dependencies)
        self._wanted = False
        self._task: asyncio.Task[None] | None = None
        self._generation: _Generation | None = None
        self._delivering: tuple[int, asyncio.Event] | None = None  # a turn's id, set at the end
        self._partly_shown = False  # whether part of the turn generated last was shown
        self._choosing: asyncio.Task[str | None] | None = None

    def wake(self) -> None:
        """Process everything that is owed. Has no effect if the runner is already busy."""
        self._wanted = True
        if self._choosing is not None:
            self._choosing.cancel()  # the story has changed, so the choice is out of date
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run(), name=f"scene {self._scene().id}")

    def prefetch_minds(self) -> None:
        """Prepare the minds that are likely to be asked next.

        Has no effect if the runner is busy: it prefetches when it is done.
        """
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._prefetch(), name=f"scene {self._scene().id}")

    async def wait_until_idle(self) -> None:
        """Wait until every turn that can be processed now has been processed."""
        while self._task is not None and not self._task.done():
            await asyncio.wait((self._task,))

    async def stop(self) -> None:
        """Stop at once. Owed turns stay owed in the store."""
        self._wanted = False
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def wait_for_delivery(self, turn_id: int) -> None:
        """Wait if a take of this turn is being delivered: people see it before it is stored."""
        if self._delivering is not None and self._delivering[0] == turn_id:
            await self._delivering[1].wait()

    def has_shown(self, turn_id: int) -> bool:
        """Return whether part of this turn may be visible while it is being generated."""
        generation = self._generation
        return generation is not None and generation.turn.id == turn_id and generation.shown

    def supersede(self, speakers: Collection[str]) -> int | None:
        """Cancel the reply being generated if it is one of `speakers`' and no part was shown yet.

        One reply can then answer the new line too. Return the id of the turn if its reply is too
        far advanced, or owed for too long, to be restarted.
        """
        generation = self._generation
        if (
            generation is None
            or generation.turn.kind is not TurnKind.REPLY
            or generation.turn.speaker not in speakers
        ):
            return None
        if not self._can_restart(generation):
            return generation.turn.id
        generation.drop()
        return None

    def restart_without(self, changed: Turn) -> None:
        """Generate the current reply again if its character heard this turn.

        Call this after the turn was edited or left the story. A reply that is partly shown goes on.
        """
        generation = self._generation
        if (
            generation is not None
            and changed.id < generation.turn.id
            and changed.is_heard_by(generation.turn.speaker)
            and self._can_restart(generation)
        ):
            generation.drop()
            self.wake()

    def _can_restart(self, generation: _Generation) -> bool:
        age = self._dependencies.now() - generation.turn.created_at
        fresh = timedelta() <= age <= RESTART_WINDOW
        return fresh and not (generation.shown or generation.dropped)

    async def drop_if_not_owed(self) -> None:
        """Cancel the generation if its turn left the story, or if the model may not speak for it.

        Call this after every change that may remove an owed turn or give a part to a player.
        """
        generation = self._generation
        if generation is not None and not await self._claim(generation.turn):
            generation.drop()

    async def _prefetch(self) -> None:
        await prefetch_minds(self._dependencies, self._scene())
        await self._run()  # turns may have become owed meanwhile

    async def _run(self) -> None:
        while self._wanted:
            self._wanted = False
            try:
                for turn in await retry_until_done(
                    self._find_owed_turns, f"Scene {self._scene().id}"
                ):
                    if self._scene().state is SceneState.PLAYING:
                        await self._process(turn)
                if not self._wanted and (name := await self._choose_volunteer()):
                    await self._owe_reply(name)
                    self._wanted = True
            except AsideError as error:
                _log.error("Scene %d stops until the next line: %s", self._scene().id, error)

    async def _find_owed_turns(self) -> list[Turn]:
        return await self._store.find_owed_turns(self._scene().id)

    async def _choose_volunteer(self) -> str | None:
        """Return the character that speaks without being addressed, if any.

        A choice is cancelled if the story changes meanwhile.
        """
        self._choosing = asyncio.create_task(self._choose_or_prefetch())
        try:
            return await self._choosing
        except asyncio.CancelledError:
            if _is_cancelled():
                raise
            return None
        finally:
            self._choosing = None

    async def _choose_or_prefetch(self) -> str | None:
        name = await self._auto_mode.choose_speaker(self._scene())
        if name is None:
            await prefetch_minds(self._dependencies, self._scene())
        return name

    async def _owe_reply(self, name: str) -> None:
        scene = self._scene()
        await self._store.add_reply(
            scene.id, name, None, self._dependencies.now(), heard_by=scene.audience
        )

    async def _process(self, turn: Turn) -> None:
        """Bring an owed turn to its end: delivered, failed, or no longer owed."""
        try:
            saved = await self._prepare(turn)
            if saved is not None and (take := saved.take) is not None:
                await retry_until_done(lambda: self._deliver(saved, take), f"Turn {turn.id}")
        except ContentRejected as error:
            _log.warning("Turn %d was refused by a filter", turn.id, exc_info=error.__cause__)
            await self._fail(turn, _REJECTED.format(speaker=turn.speaker), discard_take=True)
        except LostInThought as error:
            _log.warning("Turn %d failed: %s", turn.id, error)
            await self._fail(turn, self._dependencies.describe_error(error))
            await self._show_thoughts(turn, error.thoughts)
        except AsideError as error:
            _log.warning("Turn %d failed: %s", turn.id, error, exc_info=error.__cause__)
            await self._fail(turn, self._dependencies.describe_error(error))
        except Exception:
            _log.exception("Turn %d failed", turn.id)
            await self._fail(turn, _UNEXPECTED)

    async def _prepare(self, turn: Turn) -> Turn | None:
        """Return the turn with its take, if it is still owed."""
        task = asyncio.create_task(self._claim_and_generate(turn))
        generation = self._generation = _Generation(turn, task)
        try:
            saved = await task
        except asyncio.CancelledError:
            if _is_cancelled() or not generation.dropped:
                raise
            saved = None
        finally:
            self._partly_shown = generation.shown
            self._generation = None
        if saved is None and generation.shown:
            await self._withdraw(turn)
        return saved

    async def _claim_and_generate(self, turn: Turn) -> Turn | None:
        if not await self._claim(turn):
            return None
        if turn.take is not None:  # saved, but not delivered, before the program stopped
            return turn
        generated = await self._generate(turn)
        name = f"Turn {turn.id}"
        if generated.history_cut:
            await retry_until_done(self._history_cut, name)
        return await retry_until_done(
            lambda: self._save(turn, generated),
            name,
            on_first_failure=lambda _: self._report_not_stored(turn),
        )

    async def _claim(self, turn: Turn) -> bool:
        """Return whether the model still owes this turn. Give it up if the part is taken."""
        current = await self._store.turn(turn.id)
        if current is None or current.state is not TurnState.THINKING:
            return False
        part = self._scene().find_part(turn.speaker)
        if turn.kind is TurnKind.NARRATION or (part is not None and part.answers):
            return True
        await self._store.give_up([turn.id])
        return False

    async def _generate(self, turn: Turn) -> GeneratedReply:
        async with self._delivery.show_thinking(self._scene(), turn):
            if turn.kind is TurnKind.NARRATION:
                return await self._narrate(turn)
            return await self._reply(turn)

    async def _narrate(self, turn: Turn) -> GeneratedReply:
        scene = self._scene()
        known = await self._dependencies.minds.recall_public(scene, turn.id)
        return await narrator.generate_narration(self._dependencies.generator, scene, known)

    async def _reply(self, turn: Turn) -> GeneratedReply:
        generator = self._dependencies.generator
        scene = self._scene()

        async def progress(beats: tuple[PublicBeat, ...]) -> None:
            await self._show_progress(turn, beats)

        begun = turn.lengthens.beats if turn.lengthens else ()
        assembled = await self._dependencies.minds.assemble(
            scene, turn.speaker, before=turn.id, begun=begun
        )
        if turn.lengthens is not None:
            return await generator.extend(scene, turn.speaker, assembled, begun, progress)
        return await generator.reply(scene, turn.speaker, assembled, progress)

    async def _show_progress(self, turn: Turn, beats: tuple[PublicBeat, ...]) -> None:
        if turn.public:  # a whisper never streams into the channel
            if self._generation is not None:
                self._generation.shown = True
            await self._delivery.progress(self._scene(), turn, beats)

    async def _save(self, turn: Turn, generated: GeneratedReply) -> Turn | None:
        """Store the take, if the turn did not leave the story during the generation."""
        if not await self._claim(turn):
            return None
        return await self._store.keep_take(turn.id, generated.beats, generated.raw, generated.seed)

    async def _report_not_stored(self, turn: Turn) -> None:
        notice = Notice(_NOT_STORED.format(speaker=turn.speaker))
        try:
            await self._delivery.announce(self._scene(), notice)
        except PostingError as error:
            _log.warning(
                "Turn %d can't be stored, and the notice can't be posted: %s", turn.id, error
            )

    async def _deliver(self, turn: Turn, take: Take) -> None:
        delivered = asyncio.Event()
        self._delivering = (turn.id, delivered)
        try:
            current = await self._store.turn(turn.id)
            if current is None or current.state is not TurnState.THINKING:
                return
            await deliver_take(self._delivery, self._store, self._scene(), turn, take)
            settled = await self._settle(turn)
            if settled is None or (settled.state is TurnState.HIDDEN and not settled.undone_at):
                await self._withdraw_posts(replace(settled or turn, take=None))
        finally:
            self._delivering = None
            delivered.set()

    async def _settle(self, turn: Turn) -> Turn | None:
        """Mark a delivered turn done. Return its state, if it is still stored."""
        try:
            return await self._store.settle(turn.id)
        except StoreUnavailable:
            raise
        except StoreError:
            return await self._store.turn(turn.id)

    async def _withdraw(self, turn: Turn) -> None:
        """Remove the visible part of a reply that is not owed any more."""
        current = await self._store.turn(turn.id)
        await self._withdraw_posts(current or replace(turn, take=None))

    async def _withdraw_posts(self, turn: Turn) -> None:
        try:
            await self._delivery.withdraw(self._scene(), turn)
        except PostingError as error:
            _log.error(
                "Turn %d is no longer owed, but its posts can't be removed: %s", turn.id, error
            )

    async def _fail(self, turn: Turn, sentence: str, *, discard_take: bool = False) -> None:
        """Store the failure and report it in the channel.

        With `discard_take`, the next attempt generates another take instead of posting the same.
        """
        failed = await retry_until_done(
            lambda: self._store.fail(turn.id, sentence, discard_take=discard_take),
            f"The failure of turn {turn.id}",
        )
        try:
            if failed.state is TurnState.DONE:  # an earlier take is current again
                if self._partly_shown or discard_take:
                    await self._withdraw(turn)
                notice = Notice(f"{sentence} The earlier reply of {turn.speaker} remains.")
                await retry_until_done(
                    lambda: self._delivery.announce(self._scene(), notice),
                    f"The notice about turn {turn.id}",
                )
            elif failed.state is TurnState.FAILED:
                await retry_until_done(
                    lambda: self._delivery.fail(self._scene(), failed, sentence),
                    f"The notice about turn {turn.id}",
                )
        except PostingError as error:
            _log.error("Turn %d failed, and the notice can't be posted: %s", turn.id, error)

    async def _show_thoughts(self, turn: Turn, thoughts: tuple[PrivateBeat, ...]) -> None:
        """Show the thoughts of a reply that had no words, unless its turn left the story."""
        current = await self._store.turn(turn.id)
        if not thoughts or current is None or current.state is TurnState.HIDDEN:
            return
        try:
            await retry_until_done(
                lambda: self._delivery.show_thoughts(self._scene(), turn, thoughts),
                f"The thoughts of turn {turn.id}",
            )
        except PostingError as error:
            _log.error("Turn %d failed, and its thoughts can't be posted: %s", turn.id, error)


def _is_cancelled() -> bool:
    """Return whether the current task is cancelled, and not only a task that it awaits."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
