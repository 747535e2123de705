"""Reads a scene: its history, its minds, its prompts and its thoughts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bot.errors import Refused
from bot.scenes.cast import find_part, require_gm, require_not_muted
from bot.scenes.reveal import (
    Audience,
    Destination,
    RevealPolicy,
    release_to_gm,
    release_to_player,
)
from bot.scenes.turn import TurnKind
from bot.scenes.turn_rights import require_place
from bot.scenes.turn_selection import TurnSelection

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.scenes.mind_reader import MindReader
    from bot.scenes.reveal import Revealed
    from bot.scenes.scene import Scene
    from bot.scenes.scene_store import SceneStore
    from bot.scenes.turn import Turn

_PUBLIC_STORY: Final = TurnSelection(done=True, public=True)
_PRIVATE: Final = RevealPolicy(Destination.OFF, Destination.OFF)


@dataclass(frozen=True, slots=True)
class HiddenThoughts:
    """The private beats of a reply, released to the person who asked."""

    speaker: str
    audience: Audience
    released: tuple[Revealed, ...]


class SceneQueries:
    """Answers questions about scenes. Methods with `by` check whether that user may ask."""

    def __init__(self, store: SceneStore, minds: MindReader) -> None:
        self._store = store
        self._minds = minds

    async def read_history(self, scene: Scene, most: int | None = None) -> list[Turn]:
        """Return the public story so far, in order. Whispers are not part of it.

        With `most`, only that many turns from its end are read.
        """
        if most is None:
            return await self._store.turns(scene.id, _PUBLIC_STORY)
        return await self._store.latest_turns(scene.id, most, _PUBLIC_STORY)

    async def count_history(self, scene: Scene) -> int:
        """Return the number of turns of the public story so far."""
        return await self._store.count_turns(scene.id, _PUBLIC_STORY)

    async def read_prompt(self, scene: Scene, name: str, by: int) -> str:
        """Return the exact text that the engine would get for this character now.

        For game masters. The prompt of a person's own character is for its owner only. Raises
        Refused, NameNotFound, PromptTooLong and EngineError.
        """
        require_gm(scene, by)
        part = find_part(scene, name)
        if part.own is not None and part.own.owner_id != by:
            raise Refused(
                f"{part.character} is a player's own character. Its prompt has what only "
                f"{part.character} knows."
            )
        return (await self._minds.assemble(scene, part.character)).prompt.text

    async def read_thoughts(self, message_id: int, channel_id: int, by: int) -> HiddenThoughts:
        """Return the private beats of the reply that a post in this channel shows.

        A game master gets all of them. A player to whom thoughts of the reply were opened gets
        those, and other people those that were revealed to everyone when the reply was posted.
        Raises Refused if no beat is left.
        """
        turn = await self._store.turn_by_message(message_id)
        scene = await self._store.scene(turn.scene_id) if turn else None
        if turn is None or scene is None or turn.kind is not TurnKind.REPLY or turn.take is None:
            raise Refused(
                "This message is not a finished reply of a character, so it has no thoughts."
            )
        await require_place(self._store, turn, channel_id)
        require_not_muted(scene, by)
        beats = turn.take.beats
        if scene.is_gm(by):
            thoughts = HiddenThoughts(turn.speaker, Audience.GM, release_to_gm(beats))
        elif opened := await self._store.read_opened_thoughts(turn.id, by):
            released = release_to_player(opened, by)
            thoughts = HiddenThoughts(turn.speaker, Audience.PLAYER, released)
        else:
            released = _PRIVATE.release(beats, Audience.CHANNEL, turn.take.destinations)
            thoughts = HiddenThoughts(turn.speaker, Audience.CHANNEL, released)
            if not released:
                raise Refused("Only the game master can see the thoughts of this reply.")
        if not thoughts.released:
            raise Refused("This reply has no thoughts.")
        return thoughts

    async def list_reopenable(self, guild_id: int, people: Sequence[int]) -> list[Scene]:
        """Return the scenes of a server or a terminal that one of these people can reopen.

        The latest comes first. Whoever runs the program is also `AT_TERMINAL`, the person at the
        terminal.
        """
        return await self._store.find_resting_scenes(guild_id, people)
