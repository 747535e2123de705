"""Writes memories in the engine's idle time, before their turns leave the prompts."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from bot.errors import AsideError
from bot.scenes.memories import (
    MemoryLayer,
    NewMemory,
    choose_group,
    split_into_blocks,
)
from bot.scenes.memory_text import ask_about_memories, ask_about_turns, read_memory
from bot.scenes.mind_reader import select_remembered
from bot.scenes.prompt_assembly import measure_turn
from bot.scenes.questions import ask_engine
from bot.scenes.scene import SceneState
from bot.scenes.turn_selection import TurnSelection

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bot.scenes.dependencies import SceneDependencies
    from bot.scenes.memories import MindMemory
    from bot.scenes.questions import Question
    from bot.scenes.scene import Scene

_log = logging.getLogger(__name__)

_FULL: Final = 0.7
"""The share of the room for turns from which on the memory of the oldest ones is prepared."""

_PAGE = 64  # turns before the first memory that are read at once
_MAX_SEED = 2**32


class MemoryWriter:
    """Writes the memories of one scene's minds, one after the other, in requests that can wait.

    An engine that is busy or fails leaves a memory unwritten until the next attempt.
    """

    def __init__(self, dependencies: SceneDependencies, scene: Callable[[], Scene]) -> None:
        self._dependencies = dependencies
        self._store = dependencies.store
        self._scene = scene
        self._failed: set[tuple[int, int]] = set()  # ids and revisions that the model can't write

    async def write_all(self) -> bool:
        """Write every memory that is missing. Return whether any was written. Never raises."""
        written = False
        try:
            for part in self._scene().parts:
                while self._scene().state is SceneState.PLAYING and part.by_model:
                    if not await self._write_next(part.character):
                        break
                    written = True
        except AsideError as error:
            _log.info("Scene %d: a memory stays unwritten: %s", self._scene().id, error)
        return written

    async def _write_next(self, character: str) -> bool:
        """Do one step of a mind's memory. Return False if nothing is left to do."""
        scene_id = self._scene().id
        start = await self._store.window_start(scene_id, character)
        memories = await self._store.memories(scene_id, character)
        for memory in reversed(memories):
            if not memory.text and (memory.id, memory.revision) not in self._failed:
                await self._write_turns(character, memory)
                return True
        if group := choose_group([one for one in memories if one.last_id < start]):
            return await self._join(character, group)
        block = await self._find_earlier(character, memories, start)
        block = block or await self._find_next(character, memories, start)
        if block is None:
            return False
        await self._store.add_memory(scene_id, character, NewMemory(MemoryLayer.TURNS, *block))
        return True

    async def _write_turns(self, character: str, memory: MindMemory) -> None:
        """Write the memory of a block of turns. Delete it if no turn of the block is left."""
        scene = self._scene()
        turns = await self._store.turns(scene.id, select_remembered(memory, character))
        if not turns:
            await self._store.forget_memory(memory.id)
            return
        question = ask_about_turns(scene, character, turns, memory.id % _MAX_SEED)
        if text := await self._ask(question):
            await self._store.write_memory(memory, text, [turn.id for turn in turns])
        else:
            self._failed.add((memory.id, memory.revision))

    async def _join(self, character: str, parts: Sequence[MindMemory]) -> bool:
        """Write one memory in place of several. Return whether the model could."""
        key = (parts[-1].id, parts[-1].revision)
        if key in self._failed:
            return False
        texts = [part.text for part in parts]
        question = ask_about_memories(self._scene(), character, texts, key[0] % _MAX_SEED)
        if not (text := await self._ask(question)):
            self._failed.add(key)
            return False
        layer = MemoryLayer(parts[-1].layer + 1)
        joined = NewMemory(layer, parts[0].first_id, parts[-1].last_id, text)
        await self._store.join_memories(parts, joined)
        return True

    async def _ask(self, question: Question) -> str:
        engine = self._dependencies.generator.engine
        return read_memory(await ask_engine(engine, self._scene(), question))

    async def _find_earlier(
        self, character: str, memories: Sequence[MindMemory], start: int
    ) -> tuple[int, int] | None:
        """Return the block of turns before the first memory, if there are such turns.

        They left the prompt before Aside had memories.
        """
        room = self._find_room(character)
        if not start or not room:
            return None
        first = min((start, *(memory.first_id for memory in memories)))
        selection = TurnSelection(before=first, heard_by=character, done=True)
        turns = await self._store.latest_turns(self._scene().id, _PAGE, selection)
        sizes = [(turn.id, measure_turn(turn)) for turn in reversed(turns)]
        blocks = split_into_blocks(sizes, room)
        return (blocks[0][1], blocks[0][0]) if blocks else None

    async def _find_next(
        self, character: str, memories: Sequence[MindMemory], start: int
    ) -> tuple[int, int] | None:
        """Return the block of turns that will leave the prompt next, if it is nearly full."""
        room = self._find_room(character)
        if not room or any(memory.last_id >= start for memory in memories):
            return None
        selection = TurnSelection(since=start, heard_by=character, done=True)
        sizes = await self._store.measure_turns(self._scene().id, character, selection)
        if sum(size for _, size in sizes) < _FULL * room:
            return None
        blocks = split_into_blocks(sizes[:-1], room)
        return blocks[0] if blocks else None

    def _find_room(self, character: str) -> int:
        return self._dependencies.minds.find_room(self._scene(), character) or 0
