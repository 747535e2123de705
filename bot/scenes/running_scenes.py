"""The registry of the scenes under way. It owns their state."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from bot.errors import Refused, Remedy
from bot.scenes.notices import Notice
from bot.scenes.runner import Runner

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.scenes.dependencies import SceneDependencies
    from bot.scenes.scene import Scene

_HISTORY_CUT: Final = Notice(
    "The story no longer fits the model's context. From now on, the characters remember the oldest "
    "turns only in outline. Those stay stored.",
    Remedy.READ_HISTORY,
)


@dataclass(slots=True)
class RunningScene:
    """A scene under way, its runner, and the lock that orders its lines and changes."""

    scene: Scene
    runner: Runner
    lock: asyncio.Lock


class RunningScenes:
    """Holds every scene under way, by id and by channel."""

    def __init__(self, dependencies: SceneDependencies) -> None:
        self._dependencies = dependencies
        self._by_id: dict[int, RunningScene] = {}
        self._id_by_channel: dict[int, int] = {}

    def scenes(self) -> tuple[Scene, ...]:
        """Return every scene under way."""
        return tuple(running.scene for running in self._by_id.values())

    def at(self, channel_id: int) -> Scene | None:
        """Return the scene under way in a channel or thread, if any."""
        scene_id = self._id_by_channel.get(channel_id)
        return None if scene_id is None else self._by_id[scene_id].scene

    def find_running(self, scene_id: int) -> RunningScene | None:
        """Return a scene with its runner and its lock, if it is under way."""
        return self._by_id.get(scene_id)

    def require_scene(self, channel_id: int) -> Scene:
        """Return the scene under way in a channel. Raise Refused if no scene is."""
        if (scene := self.at(channel_id)) is None:
            raise Refused("No scene is under way in this channel.", Remedy.START_SCENE)
        return scene

    def require_free(self, channel_id: int) -> None:
        """Raise Refused if a scene is under way in a channel or thread."""
        if self.at(channel_id) is not None:
            raise Refused("A scene is already under way in this channel.", Remedy.END_SCENE)

    def add(self, scene: Scene) -> RunningScene:
        """Add a stored scene. Its owed turns are not processed before its runner wakes."""

        async def report_history_cut() -> None:
            if not running.scene.history_cut_announced:
                await self.change(
                    running.scene, lambda now: replace(now, history_cut_announced=True)
                )
                await self._dependencies.delivery.announce(running.scene, _HISTORY_CUT)

        runner = Runner(self._dependencies, lambda: running.scene, report_history_cut)
        running = RunningScene(scene, runner, asyncio.Lock())
        self._by_id[scene.id] = running
        self._id_by_channel[scene.place.channel_id] = scene.id
        return running

    def remove(self, scene: Scene) -> None:
        """Remove a scene. Its runner must have stopped."""
        self._by_id.pop(scene.id, None)
        self._id_by_channel.pop(scene.place.channel_id, None)

    async def stop_all(self) -> None:
        """Stop every runner at once and remove the scenes. Owed turns stay stored."""
        await asyncio.gather(*(running.runner.stop() for running in self._by_id.values()))
        self._by_id.clear()
        self._id_by_channel.clear()

    async def drop_not_owed(self) -> None:
        """Cancel every generation whose turn is no longer owed."""
        for running in tuple(self._by_id.values()):
            await running.runner.drop_if_not_owed()

    async def change(self, scene: Scene, change: Callable[[Scene], Scene]) -> Scene:
        """Replace a scene under way by `change(scene)` and store it. Return the new scene.

        Callers check who may change it. Raises Refused if the scene has ended, and every error of
        `change`, which leaves the scene as it is.
        """
        running = self._by_id.get(scene.id)
        if running is None:
            raise Refused("That scene has ended.")
        async with running.lock:
            changed = change(running.scene)
            await self._dependencies.store.save_scene(changed, self._dependencies.now())
            running.scene = changed
        await running.runner.drop_if_not_owed()
        return changed
