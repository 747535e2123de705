"""Reads what a mind remembers from the store, and assembles its prompt.

Only the latest turns are read, however long the story is. The store keeps the first turn of each
mind's prompt, so that the prompts of one mind begin with the same text until the context is full,
also after a restart.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bot.her.layout import format_open_turn
from bot.scenes.prompt_assembly import KEPT_SHARE, MOST_CHARACTERS_PER_TOKEN, measure_turn
from bot.scenes.recollection import Recollection
from bot.scenes.turn_selection import TurnSelection

if TYPE_CHECKING:
    from bot.her.beats import Beat
    from bot.scenes.prompt_assembly import AssembledPrompt
    from bot.scenes.reply_generation import ReplyGenerator
    from bot.scenes.scene import Scene
    from bot.scenes.scene_store import SceneStore
    from bot.scenes.turn import Turn

_PAGE = 64  # turns that are read at once
_SPARSE = 0.25  # share of the room for turns below which earlier turns come back

NARRATOR_TURNS: Final = 12
"""Turns that the narrator and the director read."""


class MindReader:
    """Reads minds from the store and assembles their prompts."""

    def __init__(self, store: SceneStore, generator: ReplyGenerator) -> None:
        self._store = store
        self._generator = generator

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
        recollection = await self.recall(scene, character, before=before, since=start)
        assembled = await self._generator.assemble(scene, character, recollection, opening)
        if start and assembled.turn_tokens < _SPARSE * assembled.room:
            # Turns were undone. Those before them fit again.
            assembled = await self._refill(
                scene, character, recollection, assembled, before=before, opening=opening
            )
        kept = assembled.recollection
        first = kept.turns[0].id if kept.turns and kept.cut else 0
        if first != start and (before is None or before > start):
            await self._store.save_window_start(scene.id, character, first)
        return assembled

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

    async def _refill(
        self,
        scene: Scene,
        character: str,
        recollection: Recollection,
        assembled: AssembledPrompt,
        *,
        before: int | None,
        opening: str,
    ) -> AssembledPrompt:
        """Return the prompt with earlier turns than it has, as far as half of the room allows."""
        length = len(assembled.prompt.text) * KEPT_SHARE * assembled.room / assembled.tokens
        turns = await self._read_turns(scene.id, character, before, 0, int(length))
        if len(turns) <= len(recollection.turns):
            return assembled
        cut = await self._has_earlier(scene.id, character, turns, before)
        refilled = replace(recollection, turns=tuple(turns), cut=cut)
        return await self._generator.assemble(scene, character, refilled, opening)

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
