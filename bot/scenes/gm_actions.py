"""The direction of a scene: who directs it, who plays whom, who is on stage, and whether anybody speaks unasked."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bot.errors import Refused, Remedy
from bot.scenes import cast
from bot.scenes.theatre import require_gm

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.scenes.interfaces import SceneStore
    from bot.scenes.scene import Mode, Scene
    from bot.scenes.theatre import Theatre

MOST_GMS: Final = 10
MOST_KICKED: Final = 500
LARGEST_BUDGET: Final = 20


class GmActions:
    """Changes who does what in a scene. Methods take who asks, and raise Refused where the rules forbid it."""

    def __init__(self, theatre: Theatre, store: SceneStore) -> None:
        self._theatre = theatre
        self._store = store

    async def set_mode(self, scene: Scene, mode: Mode, budget: int | None, by: int) -> Scene:
        """Set whether somebody speaks unasked, and how many turns of the model's may follow a person's then."""
        require_gm(scene, by)
        if budget is not None and not 1 <= budget <= LARGEST_BUDGET:
            raise Refused(f"The budget must be 1 to {LARGEST_BUDGET} turns.")
        changed = await self._theatre.change(
            scene,
            lambda now: replace(now, mode=mode, budget=now.budget if budget is None else budget),
        )
        self._wake(changed)
        return changed

    # Game masters

    async def add_gm(
        self, scene: Scene, user_id: int, by: int, *, moderates: bool = False
    ) -> Scene:
        """Have somebody direct the scene too. For game masters, and moderators of the channel, so that a scene whose
        game masters have all gone can be taken over."""
        if not moderates:
            require_gm(scene, by)
        if len(scene.gm_ids) >= MOST_GMS:
            raise Refused(f"A scene has at most {MOST_GMS} game masters.", Remedy.REMOVE_GM)
        return await self._theatre.change(scene, lambda now: cast.add_gm(now, user_id))

    async def remove_gm(self, scene: Scene, user_id: int, by: int) -> Scene:
        """Have somebody, perhaps oneself, direct the scene no longer. There is always one left."""
        return await self._directed(scene, by, lambda now: cast.remove_gm(now, user_id))

    async def hand_over(self, scene: Scene, user_id: int, by: int) -> Scene:
        """Have somebody direct the scene in one's own place."""

        def handed_over(now: Scene) -> Scene:
            return cast.remove_gm(now if now.is_gm(user_id) else cast.add_gm(now, user_id), by)

        if user_id == by:
            raise Refused("You are already the game master. Name somebody else.")
        return await self._directed(scene, by, handed_over)

    # The cast

    async def hand(self, scene: Scene, name: str, user_id: int | None, by: int) -> Scene:
        """Give a character to a player, or with None to the model. What it still owed leaves the story or is played."""
        handed = await self._directed(scene, by, lambda now: cast.hand(now, name, user_id))
        self._wake(handed)
        return handed

    async def rest(self, scene: Scene, name: str, by: int, *, rests: bool) -> Scene:
        """Let nobody play a character, or the model again."""
        return await self._directed(scene, by, lambda now: cast.rest(now, name, rests=rests))

    async def mute(self, scene: Scene, user_id: int, by: int) -> Scene:
        """Hear somebody no longer."""
        if len(scene.muted) >= MOST_KICKED:
            raise Refused(
                f"A scene has at most {MOST_KICKED} muted people. Lock the channel instead."
            )
        return await self._directed(scene, by, lambda now: cast.mute(now, user_id))

    async def unmute(self, scene: Scene, user_id: int, by: int) -> Scene:
        """Hear somebody again."""
        return await self._directed(scene, by, lambda now: cast.unmute(now, user_id))

    async def leave_stage(self, scene: Scene, name: str | None, by: int) -> str:
        """Send a character off stage, where it hears nothing; return its name. For who plays it and game masters."""
        return await self._move(scene, name, by, absent=True)

    async def enter_stage(self, scene: Scene, name: str | None, by: int) -> str:
        """Bring a character back on stage; return its name. What was said meanwhile it never heard."""
        return await self._move(scene, name, by, absent=False)

    async def _move(self, scene: Scene, name: str | None, by: int, *, absent: bool) -> str:
        character = ""

        def move(now: Scene) -> Scene:
            nonlocal character
            changed, character = cast.move(now, by, name, absent=absent)
            return changed

        moved = await self._theatre.change(scene, move)
        owed = [turn.id for turn in await self._store.owed(scene.id) if turn.public]
        await self._store.heard_by(owed, moved.audience)
        self._wake(moved)
        return character

    async def _directed(self, scene: Scene, by: int, change: Callable[[Scene], Scene]) -> Scene:
        require_gm(scene, by)
        return await self._theatre.change(scene, change)

    def _wake(self, scene: Scene) -> None:
        if running := self._theatre.running(scene.id):
            running.runner.wake()
