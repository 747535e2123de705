"""Branches: scenes that continue from a turn of another scene with their own history."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.errors import Refused
from bot.scenes.turn import TurnState
from bot.scenes.turn_rights import require_turn

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from bot.scenes.scene import Place, Scene
    from bot.scenes.scene_store import SceneStore
    from bot.scenes.theatre import Theatre
    from bot.scenes.turn import Turn


class Branching:
    """Starts branches for game masters. Raises Refused for other people."""

    def __init__(self, theatre: Theatre, store: SceneStore, now: Callable[[], datetime]) -> None:
        self._theatre = theatre
        self._store = store
        self._now = now

    async def require_root(self, turn_id: int, by: int) -> tuple[Scene, Turn]:
        """Return the scene and the turn that a branch would continue from.

        Raises Refused if no branch can start there.
        """
        turn, running = await require_turn(self._theatre, self._store, turn_id, by)
        if turn.state is not TurnState.DONE or not turn.public:
            raise Refused("That message is not part of the story, so a branch can't start from it.")
        return running.scene, turn

    async def branch(self, turn_id: int, place: Place, by: int) -> Scene:
        """Start a scene at `place` with a copy of everything up to that turn.

        Cast, settings and game masters are the same. Raises Refused if a scene is under way there.
        """
        scene, turn = await self.require_root(turn_id, by)
        if self._theatre.at(place.channel_id) is not None:
            raise Refused("A scene is already under way in that thread.")
        branch = await self._store.branch(scene, turn.id, place, self._now())
        self._theatre.add(branch)
        return branch
