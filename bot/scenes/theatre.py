"""The theatre: the life cycle of scenes, from start to end."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from bot.errors import AsideError, PostingError, Refused
from bot.scenes import relocation
from bot.scenes.cast import require_gm
from bot.scenes.dependencies import SceneDependencies
from bot.scenes.mind_reader import MindReader
from bot.scenes.player_sentences import describe_to_players
from bot.scenes.running_scenes import RunningScenes
from bot.scenes.scene import Part, Scene, SceneState
from bot.scenes.scene_controls import SceneControls
from bot.scenes.scene_queries import SceneQueries

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from datetime import datetime

    from bot.library.scenario import Scenario
    from bot.scenes.notices import Notice
    from bot.scenes.reply_generation import ReplyGenerator
    from bot.scenes.scene import Place
    from bot.scenes.scene_delivery import Delivery
    from bot.scenes.scene_store import SceneStore
    from bot.scenes.turn import Turn

_log = logging.getLogger(__name__)


class Theatre(RunningScenes):
    """Opens, starts, ends and reopens scenes. Methods with `by` check whether that user may ask.

    `queries` reads scenes, `minds` assembles prompts, `controls` changes scenes.
    `describe_error` returns the sentence that people read about an error.
    """

    def __init__(
        self,
        store: SceneStore,
        delivery: Delivery,
        generator: ReplyGenerator,
        now: Callable[[], datetime],
        describe_error: Callable[[AsideError], str] = describe_to_players,
    ) -> None:
        self.minds = MindReader(store, generator)
        super().__init__(
            SceneDependencies(store, delivery, generator, self.minds, now, describe_error)
        )
        self._store = store
        self._delivery = delivery
        self._now = now
        self.on_end: Callable[[Scene], Awaitable[None]] | None = None
        """Awaited with each scene that has ended. Must not raise."""
        self.queries = SceneQueries(store, self.minds)
        self.controls = SceneControls(self, store, now)

    async def open(self) -> None:
        """Add every stored scene that is under way on Discord.

        Owed turns are not processed before `play_owed`.
        """
        for scene in await self._store.open_scenes():
            if not scene.place.at_terminal:
                self.add(scene)

    def play_owed(self, scene_id: int | None = None) -> None:
        """Process the turns of one scene, or of all, that were owed at the program's last stop."""
        for running in self._by_id.values():
            chosen = scene_id in (None, running.scene.id)
            if chosen and running.scene.state is SceneState.PLAYING:
                running.runner.wake()

    async def close(self) -> None:
        """Stop every runner at once. Owed turns stay stored; the next `open` continues them."""
        await self.stop_all()

    async def start(self, place: Place, scenario: Scenario, gm_id: int) -> Scene:
        """Start a scene. Raises Refused if another one is under way at that place."""
        self.require_free(place.channel_id)
        parts = [Part(character.name) for character in scenario.characters]
        scene = await self._store.add_scene(place, scenario, (gm_id,), parts, self._now())
        self.add(scene).runner.prefetch_minds()
        return scene

    async def end(self, scene: Scene, by: int, *, moderates: bool = False) -> Scene:
        """End a scene. Its owed turns leave the story.

        For game masters, and with `moderates` for moderators of the channel.
        """
        if not moderates:
            require_gm(scene, by)
        if running := self.find_running(scene.id):
            await running.runner.stop()
        await self._give_up_owed(scene)
        ended = await self.change(scene, lambda now: replace(now, state=SceneState.ENDED))
        self.remove(scene)
        if self.on_end is not None:
            await self.on_end(ended)
        return ended

    async def discard(self, scene: Scene) -> None:
        """Delete a scene whose start failed, so that nothing of it is left."""
        if running := self.find_running(scene.id):
            await running.runner.stop()
        self.remove(scene)
        await self._store.delete_scene(scene.id)

    async def reopen(self, scene_id: int, place: Place, people: Sequence[int], heard: int) -> Scene:
        """Continue an ended scene at a place of the same server.

        A scene that began at a terminal can continue in any server. `people` are all ids of the
        user who asks, their Discord id first. `heard` is the id of the latest message in the
        channel: the scene does not hear it or earlier ones. Owed turns are not processed before
        `play_owed`. Raises Refused if the scene is not the user's, or the place is taken.
        """
        self.require_free(place.channel_id)
        reopenable = await self.queries.list_reopenable(place.guild_id, people)
        scene = next((one for one in reopenable if one.id == scene_id), None)
        if scene is None:
            raise Refused(
                "You are not the game master of an ended scene with this number. Choose one from "
                "the list."
            )
        moved = relocation.relocate(scene, place, people[0])
        await self._store.move_scene(moved, heard, self._now())
        self.add(moved)
        return moved

    async def open_at_terminal(self, scene_id: int, terminal: Place) -> Scene:
        """Open a stored scene at a terminal, for whoever runs the program.

        An ended scene moves there. A scene under way in a channel keeps its place; the channel
        does not see the play at the terminal, but the characters remember it. Owed turns are
        not processed before `play_owed`. Raises Refused if the channel is owed a reply.
        """
        scene = await relocation.open_at_terminal(self._store, scene_id, terminal, self._now())
        self.add(scene)
        return scene

    async def announce(self, scene: Scene, notice: Notice) -> None:
        """Show a notice in the scene's channel. Raises PostingError."""
        await self._delivery.announce(scene, notice)

    async def tell(self, scene: Scene, user_id: int, notice: Notice) -> None:
        """Show a notice to one person, in private. Raises PostingError."""
        await self._delivery.tell(scene, user_id, notice)

    async def announce_quietly(self, scene: Scene, notice: Notice) -> None:
        """Show a notice in the scene's channel. If Discord refuses, log a warning."""
        try:
            await self._delivery.announce(scene, notice)
        except PostingError as error:
            _log.warning("Scene %d: a notice can't be posted: %s", scene.id, error)

    async def report_missed_failures(self, scene: Scene) -> None:
        """Post the notices of failed turns that the channel could not be told about before.

        Such a channel was locked, for example. Each notice offers to try again.
        """
        try:
            for turn in await self._store.failures_without_notice(scene.id):
                await self._delivery.fail(scene, turn, f"The reply of {turn.speaker} is missing.")
        except AsideError as error:
            _log.warning("Scene %d: a failure can't be reported: %s", scene.id, error)

    async def remove_posts(self, scene: Scene, turn: Turn) -> None:
        """Delete everything that shows a turn in the scene's channel. Raises PostingError."""
        await self._delivery.remove_posts(scene, turn)

    async def _give_up_owed(self, scene: Scene) -> None:
        """Give up every owed turn and remove the visible part of an unfinished reply."""
        owed = [turn.id for turn in await self._store.find_owed_turns(scene.id)]
        await self._store.give_up(owed)
        for turn_id in owed:
            if turn := await self._store.turn(turn_id):
                try:
                    await self._delivery.withdraw(scene, turn)
                except PostingError as error:
                    _log.warning("The posts of turn %d can't be removed: %s", turn_id, error)
