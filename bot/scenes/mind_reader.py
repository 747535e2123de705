"""Reads what a mind remembers from the store, and assembles its prompt.

Only the latest turns are read, however long the story is. The store keeps the first turn of each
mind's prompt, so that the prompts of one mind begin with the same text until the context is full,
also after a restart.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Final

from bot.her.layout import format_open_turn
from bot.scenes.memories import MemoryLayer, NewMemory, split_into_blocks
from bot.scenes.memory_text import FADED_LINES, format_faded, introduce_memory
from bot.scenes.prompt_assembly import (
    KEPT_SHARE,
    MOST_CHARACTERS_PER_TOKEN,
    fit_memory,
    measure_turn,
)
from bot.scenes.recollection import Recollection
from bot.scenes.reply_generation import mind_key
from bot.scenes.turn_selection import TurnSelection

if TYPE_CHECKING:
    from bot.her.beats import Beat
    from bot.scenes.memories import MindMemory
    from bot.scenes.prompt_assembly import AssembledPrompt
    from bot.scenes.reply_generation import ReplyGenerator
    from bot.scenes.scene import Scene
    from bot.scenes.scene_store import SceneStore
    from bot.scenes.turn import Turn

_PAGE = 64  # turns that are read at once
_SPARSE = 0.25  # share of the room for turns below which earlier turns come back

_MOST_ATTEMPTS = 4  # at a prompt whose first turn is the stored one
_MOST_FADED = 2  # blocks of turns whose last lines stand in for their memory
_MOST_ROOMS = 4096  # minds whose room for turns is known

NARRATOR_TURNS: Final = 12
"""Turns that the narrator and the director read."""


class MindReader:
    """Reads minds from the store and assembles their prompts."""

    def __init__(self, store: SceneStore, generator: ReplyGenerator) -> None:
        self._store = store
        self._generator = generator
        self._rooms: OrderedDict[str, int] = OrderedDict()

    def find_room(self, scene: Scene, character: str) -> int | None:
        """Return the characters of text that fit this mind's prompt as turns, if it is known."""
        return self._rooms.get(mind_key(scene, character))

    async def assemble(
        self,
        scene: Scene,
        character: str,
        *,
        before: int | None = None,
        begun: tuple[Beat, ...] = (),
    ) -> AssembledPrompt:
        """Return the prompt for this character's next turn, or for its turn with the id `before`.

        `begun` are the beats of a turn that has already begun. Raises StoreError, PromptTooLong
        and EngineError.
        """
        opening = format_open_turn(character, begun) if begun else ""
        start = await self._store.window_start(scene.id, character)
        if before is not None and before <= start:
            return await self._assemble_past(scene, character, before, opening)
        for attempt in range(_MOST_ATTEMPTS):
            recollection = await self.recall(scene, character, before=before, since=start)
            assembled = await self._generator.assemble(scene, character, recollection, opening)
            self._note_room(scene, character, assembled)
            first = _find_first(assembled)
            if attempt == 0 and start and assembled.turn_tokens < _SPARSE * assembled.room:
                # Turns were undone. Those before them fit again.
                first = await self._step_back(scene, character, before, start)
            if first == start:
                break
            if first > start:
                left = [turn for turn in recollection.turns if turn.id < first]
                await self._expect_memories(scene, character, left)
            await self._store.save_window_start(scene.id, character, first)
            start = first
        return assembled

    async def _assemble_past(
        self, scene: Scene, character: str, before: int, opening: str
    ) -> AssembledPrompt:
        """Return the prompt for a turn that left the later prompts, such as for a new take.

        It contains nothing of what came after that turn.
        """
        room = self.find_room(scene, character) or self._generator.engine.info.context
        turns = await self._read_turns(scene.id, character, before, 0, room)
        start = turns[0].id if turns else 0
        recollection = await self.recall(scene, character, before=before, since=start)
        return await self._generator.assemble(scene, character, recollection, opening)

    async def recall(
        self, scene: Scene, character: str, *, before: int | None = None, since: int = 0
    ) -> Recollection:
        """Return what this mind remembers before the turn `before`, from the turn `since` on.

        The turns are at most as long as the context.
        """
        info = self._generator.engine.info
        turns = await self._read_turns(
            scene.id, character, before, since, info.context * MOST_CHARACTERS_PER_TOKEN
        )
        notes = await self._store.notes(scene.id)
        return Recollection(
            turns=tuple(turns),
            settings=tuple(await self._store.latest_settings(scene.id, before)),
            notes=tuple(note.text for note in notes if note.concerns(character)),
            memory=await self._recall_memory(scene, character, since),
            prepared_to=await self._find_prepared(scene, character, since),
            people=tuple(await self._store.speakers(scene.id)),
            cut=await self._has_earlier(scene.id, character, turns, before),
        )

    async def recall_public(self, scene: Scene, before: int) -> Recollection:
        """Return what everyone knows before the turn `before`, for the narrator."""
        selection = TurnSelection(before=before, done=True, public=True)
        return Recollection(
            turns=tuple(await self._store.latest_turns(scene.id, NARRATOR_TURNS, selection)),
            settings=tuple(await self._store.latest_settings(scene.id, before)),
            people=tuple(await self._store.speakers(scene.id)),
        )

    async def _recall_memory(self, scene: Scene, character: str, start: int) -> str:
        """Return what a mind remembers of the turns before `start`."""
        language = scene.scenario.language
        memories = await self._list_memories(scene.id, character, start)
        unwritten = [memory.id for memory in memories if not memory.text][-_MOST_FADED:]
        parts = []
        for memory in memories:
            if memory.id in unwritten:
                turns = await self._store.latest_turns(
                    scene.id, FADED_LINES, select_remembered(memory, character)
                )
                parts.append(format_faded(character, language, turns))
            elif memory.text:
                parts.append(memory.text)
        text = await fit_memory([part for part in parts if part], self._generator.engine)
        return introduce_memory(character, language, text)

    async def _list_memories(
        self, scene_id: int, character: str, start: int, within: int | None = None
    ) -> list[MindMemory]:
        """Return the memories of turns before `start`, of the highest layers possible."""
        memories: list[MindMemory] = []
        for memory in await self._store.memories(scene_id, character, within):
            if memory.last_id < start:
                memories.append(memory)
            elif memory.first_id < start and memory.layer is not MemoryLayer.TURNS:
                memories += await self._list_memories(scene_id, character, start, memory.id)
        return memories

    async def _find_prepared(self, scene: Scene, character: str, start: int) -> int:
        """Return the id of the last turn from `start` on that has a memory already, or 0."""
        memories = await self._store.memories(scene.id, character)
        return max((one.last_id for one in memories if one.last_id >= start), default=0)

    async def _expect_memories(self, scene: Scene, character: str, left: list[Turn]) -> None:
        """Store unwritten memories of turns that left the prompt and have none."""
        memories = await self._store.memories(scene.id, character)
        sizes = [
            (turn.id, measure_turn(turn))
            for turn in left
            if not any(one.first_id <= turn.id <= one.last_id for one in memories)
        ]
        for first_id, last_id in split_into_blocks(sizes, self.find_room(scene, character) or 0):
            memory = NewMemory(MemoryLayer.TURNS, first_id, last_id)
            await self._store.add_memory(scene.id, character, memory)

    async def _step_back(
        self,
        scene: Scene,
        character: str,
        before: int | None,
        start: int,
    ) -> int:
        """Return an earlier first turn for a prompt that has few turns left.

        Whole blocks come back, so that no turn is neither in the prompt nor remembered.
        """
        room = self.find_room(scene, character) or 0
        while block := await self._store.block_before(scene.id, character, start):
            start = block.first_id
            selection = TurnSelection(since=start, before=before, heard_by=character, done=True)
            sizes = await self._store.measure_turns(scene.id, character, selection)
            if sum(size for _, size in sizes) >= _SPARSE * room:
                return start
        turns = await self._read_turns(scene.id, character, before, 0, int(KEPT_SHARE * room))
        cut = await self._has_earlier(scene.id, character, turns, before)
        return min(start, turns[0].id) if turns and cut else 0

    def _note_room(self, scene: Scene, character: str, assembled: AssembledPrompt) -> None:
        key = mind_key(scene, character)
        self._rooms[key] = assembled.room * len(assembled.prompt.text) // max(1, assembled.tokens)
        self._rooms.move_to_end(key)
        if len(self._rooms) > _MOST_ROOMS:
            self._rooms.popitem(last=False)

    async def _read_turns(
        self, scene_id: int, character: str, before: int | None, since: int, length: int
    ) -> list[Turn]:
        """Return the latest turns that a character heard, up to `length` characters of text."""
        turns: list[Turn] = []
        while True:
            selection = TurnSelection(since=since, before=before, heard_by=character, done=True)
            page = await self._store.latest_turns(scene_id, _PAGE, selection)
            for turn in reversed(page):
                length -= measure_turn(turn)
                if length < 0 and turns:
                    return turns[::-1]
                turns.append(turn)
            if len(page) < _PAGE:
                return turns[::-1]
            before = page[0].id

    async def _has_earlier(
        self, scene_id: int, character: str, turns: list[Turn], before: int | None
    ) -> bool:
        """Return whether the mind heard turns before these."""
        selection = TurnSelection(
            before=turns[0].id if turns else before, heard_by=character, done=True
        )
        return bool(await self._store.latest_turns(scene_id, 1, selection))


def select_remembered(memory: MindMemory, character: str) -> TurnSelection:
    """Return the selection of the turns that a memory of turns rests on."""
    return TurnSelection(
        since=memory.first_id, before=memory.last_id + 1, heard_by=character, done=True
    )


def _find_first(assembled: AssembledPrompt) -> int:
    kept = assembled.recollection
    return kept.turns[0].id if kept.turns and kept.cut else 0
