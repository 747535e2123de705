"""Changes a scene under way: pause, clear, reveal policy, and the parts that players take."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bot.errors import Refused, Remedy
from bot.scenes import cast
from bot.scenes.cast import require_gm
from bot.scenes.scene import SceneState

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from bot.her.beats import BeatKind
    from bot.scenes.reveal import Destination
    from bot.scenes.running_scenes import RunningScenes
    from bot.scenes.scene import Scene
    from bot.scenes.scene_store import SceneStore


class SceneControls:
    """Changes scenes for people. Methods take the user who asks, and raise Refused."""

    def __init__(
        self, scenes: RunningScenes, store: SceneStore, now: Callable[[], datetime]
    ) -> None:
        self._scenes = scenes
        self._store = store
        self._now = now

    async def pause(self, scene: Scene, by: int) -> Scene:
        """Pause a scene: characters neither hear nor answer. For game masters.

        A reply that is being generated is finished.
        """
        require_gm(scene, by)
        if scene.state is SceneState.PAUSED:
            raise Refused("The scene is already paused.", Remedy.UNPAUSE_SCENE)
        return await self._scenes.change(scene, lambda now: replace(now, state=SceneState.PAUSED))

    async def unpause(self, scene: Scene, by: int) -> Scene:
        """Continue a paused scene. For game masters."""
        require_gm(scene, by)
        if scene.state is SceneState.PLAYING:
            raise Refused("The scene is not paused.")
        unpaused = await self._scenes.change(
            scene, lambda now: replace(now, state=SceneState.PLAYING)
        )
        if running := self._scenes.find_running(scene.id):
            running.runner.wake()
        return unpaused

    async def clear(self, scene: Scene, by: int) -> int:
        """Remove every turn from the story for good. Return their number. For game masters.

        Undone turns can't be restored afterwards, and a reply that is being generated is cancelled.
        """
        require_gm(scene, by)
        running = self._scenes.find_running(scene.id)
        if running is None:
            raise Refused("That scene has ended.")
        async with running.lock:
            hidden = await self._store.clear_story(scene.id, self._now())
        await running.runner.drop_if_not_owed()
        return hidden

    async def reveal(
        self, scene: Scene, kind: BeatKind, destination: Destination | None, by: int
    ) -> Scene:
        """Set, or without a destination toggle, where beats of this kind go. For game masters."""
        require_gm(scene, by)

        def set_destination(now: Scene) -> Scene:
            if destination is None:
                return replace(now, reveal=now.reveal.toggle(kind))
            return replace(now, reveal=now.reveal.with_destination(kind, destination))

        return await self._scenes.change(scene, set_destination)

    async def assign_roles(self, scene: Scene, roles: Mapping[str, int]) -> Scene:
        """Store the mentionable roles made for the characters, character name to role id."""
        return await self._scenes.change(scene, lambda now: cast.assign_roles(now, roles))

    async def join(self, scene: Scene, user_id: int, name: str) -> Scene:
        """Give a character to this user. Raises NameNotFound and Refused."""
        joined = await self._scenes.change(scene, lambda now: cast.join(now, user_id, name))
        if running := self._scenes.find_running(scene.id):
            running.runner.prefetch_minds()
        return joined

    async def leave(
        self, scene: Scene, user_id: int, *, rest: bool = False, stay: bool = False
    ) -> str:
        """Return the user's part to the model, or let it rest. Return the character's name.

        A character of the user's own leaves the scene, unless it should rest or `stay` for the
        model. Raises Refused if the user plays no character.
        """
        character = ""

        def leave(now: Scene) -> Scene:
            nonlocal character
            changed, character = cast.leave(now, user_id, rest=rest, stay=stay)
            return changed

        await self._scenes.change(scene, leave)
        return character
