"""The direction of a scene: its mode, its game masters, its cast, and who is on stage."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bot.errors import Refused, Remedy
from bot.scenes import cast
from bot.scenes.cast import require_gm
from bot.scenes.scene import MAX_BUDGET

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.scenes.scene import Mode, Scene
    from bot.scenes.scene_store import SceneStore
    from bot.scenes.theatre import Theatre

MAX_GMS: Final = 10
MAX_MUTED: Final = 500
MAX_BOTS: Final = 10


class GmActions:
    """Changes mode, game masters, players and stage of a scene.

    Methods take the user who asks, and raise Refused.
    """

    def __init__(self, theatre: Theatre, store: SceneStore) -> None:
        self._theatre = theatre
        self._store = store

    async def set_mode(self, scene: Scene, mode: Mode, budget: int | None, by: int) -> Scene:
        """Set the mode, and how many model turns may follow a person's, if given."""
        require_gm(scene, by)
        if budget is not None and not 1 <= budget <= MAX_BUDGET:
            raise Refused(f"The budget must be 1 to {MAX_BUDGET} turns.")
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
        """Add a game master.

        For game masters, and with `moderates` for moderators of the channel. Moderators can so
        take over a scene if all its game masters are gone.
        """
        if not moderates:
            require_gm(scene, by)
        if len(scene.gm_ids) >= MAX_GMS:
            raise Refused(f"A scene has at most {MAX_GMS} game masters.", Remedy.REMOVE_GM)
        return await self._theatre.change(scene, lambda now: cast.add_gm(now, user_id))

    async def remove_gm(self, scene: Scene, user_id: int, by: int) -> Scene:
        """Remove a game master, who may be the user who asks. One is always left."""
        return await self._change(scene, by, lambda now: cast.remove_gm(now, user_id))

    async def hand_over(self, scene: Scene, user_id: int, by: int) -> Scene:
        """Make another user the game master in place of the one who asks."""

        def hand_over(now: Scene) -> Scene:
            return cast.remove_gm(now if now.is_gm(user_id) else cast.add_gm(now, user_id), by)

        if user_id == by:
            raise Refused("You are already the game master. Name somebody else.")
        return await self._change(scene, by, hand_over)

    # The cast

    async def hand(self, scene: Scene, name: str, user_id: int | None, by: int) -> Scene:
        """Give a character to a player, or without one to the model."""
        changed = await self._change(scene, by, lambda now: cast.hand(now, name, user_id))
        self._wake(changed)
        return changed

    async def rest(self, scene: Scene, name: str, by: int, *, rests: bool) -> Scene:
        """Let a character rest, or let the model play it again."""
        return await self._change(scene, by, lambda now: cast.rest(now, name, rests=rests))

    async def mute(self, scene: Scene, user_id: int, by: int) -> Scene:
        """Stop hearing a user."""
        if len(scene.muted) >= MAX_MUTED:
            raise Refused(
                f"A scene has at most {MAX_MUTED} muted people. Lock the channel instead."
            )
        return await self._change(scene, by, lambda now: cast.mute(now, user_id))

    async def unmute(self, scene: Scene, user_id: int, by: int) -> Scene:
        """Hear a muted user again."""
        return await self._change(scene, by, lambda now: cast.unmute(now, user_id))

    async def listen(self, scene: Scene, bot_id: int, by: int, *, heard: bool) -> Scene:
        """Hear a bot's posts as the environment, or stop hearing them."""
        if heard and len(scene.bots) >= MAX_BOTS:
            raise Refused(f"A scene hears at most {MAX_BOTS} bots.")
        return await self._change(scene, by, lambda now: cast.listen(now, bot_id, heard=heard))

    async def leave_stage(self, scene: Scene, name: str | None, by: int) -> str:
        """Send a character off stage, so that it does not hear new turns. Return its name.

        For the character's player and game masters.
        """
        return await self._move(scene, name, by, absent=True)

    async def enter_stage(self, scene: Scene, name: str | None, by: int) -> str:
        """Bring a character back on stage. Return its name.

        It never hears the lines that it missed. For the character's player and game masters.
        """
        return await self._move(scene, name, by, absent=False)

    async def _move(self, scene: Scene, name: str | None, by: int, *, absent: bool) -> str:
        character = ""

        def move(now: Scene) -> Scene:
            nonlocal character
            changed, character = cast.move(now, by, name, absent=absent)
            return changed

        moved = await self._theatre.change(scene, move)
        # A turn that had a take was heard already. Its audience stays, whatever take comes next.
        owed = [
            turn.id
            for turn in await self._store.find_owed_turns(scene.id)
            if turn.public and not turn.takes
        ]
        await self._store.set_audience(owed, moved.audience)
        self._wake(moved)
        return character

    async def _change(self, scene: Scene, by: int, change: Callable[[Scene], Scene]) -> Scene:
        require_gm(scene, by)
        return await self._theatre.change(scene, change)

    def _wake(self, scene: Scene) -> None:
        if running := self._theatre.find_running(scene.id):
            running.runner.wake()
