"""Opens thoughts to single players: by a game master's decision, or by a roll of the dice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bot.errors import Refused, Remedy
from bot.her.beats import BeatKind
from bot.scenes import cast
from bot.scenes.cast import find_part, require_gm
from bot.scenes.dice import roll_dice
from bot.scenes.opening import Opening
from bot.scenes.reveal import Audience, release_to_player
from bot.scenes.scene import AT_TERMINAL, SceneState
from bot.scenes.scene_queries import HiddenThoughts
from bot.scenes.turn import TurnKind
from bot.scenes.turn_rights import require_turn
from bot.scenes.turn_selection import TurnSelection

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from bot.scenes.departures import PlaceAccess
    from bot.scenes.dice import Roll
    from bot.scenes.scene import Scene
    from bot.scenes.scene_store import SceneStore
    from bot.scenes.story_events import Speaker
    from bot.scenes.theatre import Theatre
    from bot.scenes.turn import Take, Turn

MAX_DIFFICULTY: Final = 30
DICE: Final = "1d20"
"""The roll that must reach the difficulty."""

MAX_READERS: Final = 25
_LOOK_BACK: Final = 200  # turns of a story in which a thought is looked for
_REPLIES: Final = TurnSelection(kind=TurnKind.REPLY, done=True, public=True)
_LINES: Final = TurnSelection(kind=TurnKind.LINE, done=True, public=True)


@dataclass(frozen=True, slots=True)
class Attempt:
    """A player's roll to read a character's latest thought, and the thought if they can."""

    character: str
    speaker: str
    roll: Roll
    thoughts: HiddenThoughts | None


@dataclass(frozen=True, slots=True)
class PossibleReader:
    """A person to whom a game master can open a thought, with the name they speak under."""

    user_id: int
    name: str


class Insight:
    """Opens thoughts to single players.

    An opening belongs to one take and one player. It is in no prompt, and another take of the same
    turn stays closed. Methods take the user who asks, and raise Refused. `chance(n)` returns a
    random number from 1 to n.
    """

    def __init__(
        self,
        theatre: Theatre,
        store: SceneStore,
        access: PlaceAccess,
        now: Callable[[], datetime],
        chance: Callable[[int], int],
    ) -> None:
        self._theatre = theatre
        self._store = store
        self._access = access
        self._now = now
        self._chance = chance

    async def set_difficulty(self, scene: Scene, name: str, difficulty: int | None, by: int) -> str:
        """Let players try to read a character, or without a difficulty stop that.

        Return the character's name. For game masters.
        """
        require_gm(scene, by)
        if difficulty is not None and not 1 <= difficulty <= MAX_DIFFICULTY:
            raise Refused(f"The difficulty must be 1 to {MAX_DIFFICULTY}.")
        character = find_part(scene, name).character
        await self._store.set_insight(scene.id, character, difficulty)
        return character

    async def attempt(self, scene: Scene, name: str, by: Speaker) -> Attempt:
        """Roll to read a character's latest thought. Each player can try once for a reply.

        The attempt is stored before its result is known to anyone.
        """
        cast.require_not_muted(scene, by.user_id)
        if scene.is_gm(by.user_id):
            raise Refused("You are a game master and can read every thought.")
        if scene.state is not SceneState.PLAYING:
            raise Refused("The scene is paused.", Remedy.UNPAUSE_SCENE)
        character = find_part(scene, name).character
        difficulty = await self._store.insight_difficulty(scene.id, character)
        if difficulty is None:
            raise Refused(
                f"The thoughts of {character} can't be read: no difficulty is set.",
                Remedy.SET_INSIGHT,
            )
        turn, take = await self._require_latest_thought(scene, character)
        roll = roll_dice(DICE, self._chance)
        opened = roll.total >= difficulty
        opening = Opening(turn.id, take.id, by.user_id)
        if not await self._store.save_insight(opening, self._now(), opened=opened, once=True):
            raise Refused(
                f"You have already tried to read that thought of {character}. Wait for the next "
                "one."
            )
        speaker = cast.speaker_name(scene, by.user_id, by.display_name)
        return Attempt(character, speaker, roll, _open(turn, take, by.user_id) if opened else None)

    async def open_latest(self, scene: Scene, name: str, reader_id: int, by: int) -> HiddenThoughts:
        """Open a character's latest thought to a player. For game masters."""
        require_gm(scene, by)
        turn, take = await self._require_latest_thought(scene, find_part(scene, name).character)
        return await self._open(scene, turn, take, reader_id)

    async def open(self, turn_id: int, take_id: int, reader_id: int, by: int) -> HiddenThoughts:
        """Open the thought of one take to a player, if it is the current take. For game masters."""
        turn, running = await require_turn(self._theatre, self._store, turn_id, by)
        if turn.take is None or turn.take.id != take_id or not _has_thought(turn.take):
            raise Refused("That reply has another version now. Use the message of that version.")
        return await self._open(running.scene, turn, turn.take, reader_id)

    async def list_readers(self, turn_id: int, by: int) -> list[PossibleReader]:
        """Return the players to whom a thought of this turn can be opened. For game masters."""
        _, running = await require_turn(self._theatre, self._store, turn_id, by)
        scene = running.scene
        named = {part.player_id: part.character for part in scene.parts if part.player_id}
        for line in reversed(await self._store.latest_turns(scene.id, _LOOK_BACK, _LINES)):
            if line.author_id is not None:
                named.setdefault(line.author_id, line.speaker)
        excluded = {*scene.gm_ids, *scene.bots, *scene.muted, AT_TERMINAL}
        found = [PossibleReader(user_id, name) for user_id, name in named.items()]
        readers = [reader for reader in found if reader.user_id not in excluded]
        if not readers:
            raise Refused("No player has spoken in this scene yet.")
        return readers[:MAX_READERS]

    async def _open(self, scene: Scene, turn: Turn, take: Take, reader_id: int) -> HiddenThoughts:
        if scene.is_gm(reader_id):
            raise Refused("They are a game master and can read every thought.")
        if reader_id in scene.muted:
            raise Refused("They are muted in this scene.", Remedy.UNMUTE)
        if not await self._access.is_reader(scene.place, reader_id):
            raise Refused("They can't read this channel, so no thought can be opened to them.")
        opening = Opening(turn.id, take.id, reader_id)
        await self._store.save_insight(opening, self._now(), opened=True)
        return _open(turn, take, reader_id)

    async def _require_latest_thought(self, scene: Scene, character: str) -> tuple[Turn, Take]:
        for turn in reversed(await self._store.latest_turns(scene.id, _LOOK_BACK, _REPLIES)):
            if turn.speaker == character and turn.take is not None and _has_thought(turn.take):
                return turn, turn.take
        raise Refused(f"{character} has had no thought yet.")


def _has_thought(take: Take) -> bool:
    return any(beat.kind is BeatKind.THOUGHT for beat in take.beats)


def _open(turn: Turn, take: Take, reader_id: int) -> HiddenThoughts:
    return HiddenThoughts(turn.speaker, Audience.PLAYER, release_to_player(take.beats, reader_id))
