"""The runner of one scene: generates, stores and delivers the replies that are owed, in order."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from bot.errors import AsideError, ContentRejected
from bot.scenes.auto_mode import AutoMode
from bot.scenes.failure_reports import FailureReports
from bot.scenes.memory_writer import MemoryWriter
from bot.scenes.outage_retry import retry_until_done
from bot.scenes.prefetch import prefetch_minds
from bot.scenes.reply_generation import LostInThought
from bot.scenes.scene import SceneState
from bot.scenes.take_delivery import TakeDelivery
from bot.scenes.take_generation import TakeGenerator, is_cancelled
from bot.scenes.turn import TurnKind

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection

    from bot.scenes.dependencies import SceneDependencies
    from bot.scenes.scene import Scene
    from bot.scenes.take_generation import Generation
    from bot.scenes.turn import Turn

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
        self._scene = scene
        self._generator = TakeGenerator(dependencies, scene, history_cut)
        self._delivery = TakeDelivery(dependencies, scene)
        self._failures = FailureReports(dependencies, scene, self._delivery)
        self._auto_mode = AutoMode(dependencies)
        self._wanted = False
        self._task: asyncio.Task[None] | None = None
        self._choosing: asyncio.Task[str | None] | None = None
        self._memory = MemoryWriter(dependencies, scene)
        self._writing: asyncio.Task[None] | None = None

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
        tasks = [task for task in (self._task, self._writing) if task is not None]
        for task in tasks:
            task.cancel()
        for task in tasks:
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def wait_until_remembered(self) -> None:
        """Wait until every memory is written, as far as the engine can do it now."""
        await self.wait_until_idle()
        while self._writing is not None and not self._writing.done():
            await asyncio.wait((self._writing,))

    async def wait_for_delivery(self, turn_id: int) -> None:
        """Wait if a take of this turn is being delivered: people see it before it is stored."""
        await self._delivery.wait_for(turn_id)

    def has_shown(self, turn_id: int) -> bool:
        """Return whether part of this turn may be visible while it is being generated."""
        generation = self._generator.current
        return generation is not None and generation.turn.id == turn_id and generation.shown

    def supersede(self, speakers: Collection[str]) -> int | None:
        """Cancel the reply being generated if it is one of `speakers`' and no part was shown yet.

        One reply can then answer the new line too. Return the id of the turn if its reply is too
        far advanced, or owed for too long, to be restarted.
        """
        generation = self._generator.current
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
        generation = self._generator.current
        if (
            generation is not None
            and changed.id < generation.turn.id
            and changed.is_heard_by(generation.turn.speaker)
            and self._can_restart(generation)
        ):
            generation.drop()
            self.wake()

    def _can_restart(self, generation: Generation) -> bool:
        age = self._dependencies.now() - generation.turn.created_at
        fresh = timedelta() <= age <= RESTART_WINDOW
        return fresh and not (generation.shown or generation.dropped)

    async def drop_if_not_owed(self) -> None:
        """Cancel the generation if its turn left the story, or if the model may not speak for it.

        Memories that rested on changed turns are written again. Call this after every change that
        may remove an owed turn or give a part to a player.
        """
        generation = self._generator.current
        if generation is not None and not await self._generator.claim(generation.turn):
            generation.drop()
        self._write_memories()  # those that rested on turns that have changed

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
            if is_cancelled():
                raise
            return None
        finally:
            self._choosing = None

    async def _choose_or_prefetch(self) -> str | None:
        name = await self._auto_mode.choose_speaker(self._scene())
        if name is None:
            await prefetch_minds(self._dependencies, self._scene())
            self._write_memories()
        return name

    def _write_memories(self) -> None:
        """Write missing memories while the scene is idle. A reply need not wait for it."""
        is_playing = self._scene().state is SceneState.PLAYING
        if is_playing and (self._writing is None or self._writing.done()):
            name = f"memory of scene {self._scene().id}"
            self._writing = asyncio.create_task(self._remember(), name=name)

    async def _remember(self) -> None:
        if await self._memory.write_all():
            self.prefetch_minds()  # the prompts now begin with other memories

    async def _owe_reply(self, name: str) -> None:
        scene = self._scene()
        await self._store.add_reply(
            scene.id, name, None, self._dependencies.now(), heard_by=scene.audience
        )

    async def _process(self, turn: Turn) -> None:
        """Bring an owed turn to its end: delivered, failed, or no longer owed."""
        try:
            await self._generate_and_deliver(turn)
        except ContentRejected as error:
            _log.warning("Turn %d was refused by a filter", turn.id, exc_info=error.__cause__)
            await self._fail(turn, _REJECTED.format(speaker=turn.speaker), discard_take=True)
        except LostInThought as error:
            _log.warning("Turn %d failed: %s", turn.id, error)
            await self._fail(turn, self._dependencies.describe_error(error))
            await self._failures.show_thoughts(turn, error.thoughts)
        except AsideError as error:
            _log.warning("Turn %d failed: %s", turn.id, error, exc_info=error.__cause__)
            await self._fail(turn, self._dependencies.describe_error(error))
        except Exception:
            _log.exception("Turn %d failed", turn.id)
            await self._fail(turn, _UNEXPECTED)

    async def _generate_and_deliver(self, turn: Turn) -> None:
        saved = await self._generator.generate(turn)
        if saved is None:
            if self._generator.partly_shown:
                await self._delivery.withdraw(turn)
        elif (take := saved.take) is not None:
            await retry_until_done(lambda: self._delivery.deliver(saved, take), f"Turn {turn.id}")

    async def _fail(self, turn: Turn, sentence: str, *, discard_take: bool = False) -> None:
        await self._failures.report(
            turn,
            sentence,
            partly_shown=self._generator.partly_shown,
            discard_take=discard_take,
        )
