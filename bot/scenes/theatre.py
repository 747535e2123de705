"""The theatre: every scene under way, by channel, and all that can be done to one. It owns the scenes' state."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bot.errors import PostingError, Refused, Remedy
from bot.scenes import cast, relocation
from bot.scenes.dependencies import SceneDependencies
from bot.scenes.notices import Notice
from bot.scenes.reveal import Audience, release_to_gm
from bot.scenes.runner import Runner
from bot.scenes.scene import Part, Scene, SceneState
from bot.scenes.turn import TurnKind, TurnState

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from bot.her.beats import BeatKind
    from bot.library.scenario import Scenario
    from bot.scenes.interfaces import Delivery, SceneStore
    from bot.scenes.reply_generation import ReplyGenerator
    from bot.scenes.reveal import Destination, Revealed
    from bot.scenes.scene import Place
    from bot.scenes.turn import Turn

_log = logging.getLogger(__name__)

_HISTORY_CUT = Notice(
    "The story no longer fits the model's context. From now on, the characters forget the oldest "
    "turns. Those stay stored.",
    Remedy.READ_HISTORY,
)


@dataclass(frozen=True, slots=True)
class HiddenThoughts:
    """What a reply kept private, freed for one who asked."""

    speaker: str
    audience: Audience
    freed: tuple[Revealed, ...]


@dataclass(slots=True)
class RunningScene:
    """A scene under way, who plays it, and the lock under which it is changed and what is said in it is heard."""

    scene: Scene
    runner: Runner
    lock: asyncio.Lock


class Theatre:
    """Every scene under way. Methods that people call take who asks, and raise Refused where the rules forbid it."""

    def __init__(
        self,
        store: SceneStore,
        stage: Delivery,
        performance: ReplyGenerator,
        now: Callable[[], datetime],
    ) -> None:
        self._house = SceneDependencies(store, stage, performance, now)
        self._now = now
        self._running: dict[int, RunningScene] = {}
        self._by_channel: dict[int, int] = {}

    async def open(self) -> None:
        """Take up every scene under way on Discord. Nothing is played before `play_owed`."""
        for scene in await self._house.store.open_scenes():
            if not scene.place.at_terminal:
                self._take_up(scene)

    def play_owed(self) -> None:
        """Play what was owed when the program last stopped."""
        for running in self._running.values():
            if running.scene.state is SceneState.PLAYING:
                running.runner.wake()

    async def close(self) -> None:
        """Stop every runner at once. What is owed stays stored and is taken up by the next `open`."""
        await asyncio.gather(*(running.runner.stop() for running in self._running.values()))
        self._running.clear()
        self._by_channel.clear()

    # Looking

    def scenes(self) -> tuple[Scene, ...]:
        """Return every scene under way."""
        return tuple(running.scene for running in self._running.values())

    def at(self, channel_id: int) -> Scene | None:
        """Return the scene under way in a channel or thread."""
        scene_id = self._by_channel.get(channel_id)
        return None if scene_id is None else self._running[scene_id].scene

    def running(self, scene_id: int) -> RunningScene | None:
        """Return a scene under way with its runner and its lock."""
        return self._running.get(scene_id)

    def require_scene(self, channel_id: int) -> Scene:
        """Return the scene under way in a channel or thread. Raises Refused where there is none."""
        if (scene := self.at(channel_id)) is None:
            raise Refused("No scene is under way in this channel.", Remedy.START_SCENE)
        return scene

    async def read_history(self, scene: Scene) -> list[Turn]:
        """Return the public story so far, in order: no whisper is in it."""
        return [
            turn
            for turn in await self._house.store.turns(scene.id)
            if turn.state is TurnState.DONE and turn.public
        ]

    async def read_prompt(self, scene: Scene, name: str, by: int) -> str:
        """Return the exact text the engine would get for this character now. For game masters."""
        require_gm(scene, by)
        character = cast.find_part(scene, name).character
        story, notes = await self.read_mind(scene, character)
        return (await self._house.performance.fitted(scene, character, story, notes)).prompt.text

    async def read_mind(self, scene: Scene, character: str) -> tuple[list[Turn], list[str]]:
        """Return what a character may know: the story with what was whispered to it, and the notes it was given."""
        store = self._house.store
        turns = [
            turn
            for turn in await store.turns(scene.id)
            if turn.state is TurnState.DONE and turn.heard(character)
        ]
        return turns, [
            note.text for note in await store.notes(scene.id) if note.concerns(character)
        ]

    async def read_thoughts(self, message_id: int, by: int) -> HiddenThoughts:
        """Return what the reply in that post kept private: for a game master all of it, for others what the scene
        reveals to everyone. Raises Refused where there is nothing for them to see."""
        turn = await self._house.store.turn_by_message(message_id)
        scene = await self._house.store.scene(turn.scene_id) if turn else None
        if turn is None or scene is None or turn.kind is not TurnKind.REPLY or turn.take is None:
            raise Refused(
                "This message is not a finished reply of a character, so it has no thoughts."
            )
        if scene.is_gm(by):
            behind = HiddenThoughts(turn.speaker, Audience.GM, release_to_gm(turn.take.beats))
        else:
            behind = HiddenThoughts(
                turn.speaker,
                Audience.CHANNEL,
                scene.reveal.freed(turn.take.beats, Audience.CHANNEL),
            )
            if not behind.freed:
                raise Refused("Only the game master can see the thoughts of this reply.")
        if not behind.freed:
            raise Refused("This reply has no thoughts.")
        return behind

    # Directing

    async def start(self, place: Place, scenario: Scenario, gm_id: int) -> Scene:
        """Begin a scene. Raises Refused where one is under way there."""
        if self.at(place.channel_id) is not None:
            raise Refused("A scene is already under way in this channel.", Remedy.END_SCENE)
        parts = [Part(character.name) for character in scenario.characters]
        scene = await self._house.store.add_scene(place, scenario, (gm_id,), parts, self._now())
        self._take_up(scene)
        self._look_ahead(scene)
        return scene

    async def end(self, scene: Scene, by: int, *, moderates: bool = False) -> Scene:
        """End a scene; what it still owed leaves the story. For game masters, and moderators of the channel."""
        if not moderates:
            require_gm(scene, by)
        running = self._running[scene.id]
        await running.runner.stop()
        await self._give_up_owed(scene)
        ended = await self.change(scene, lambda now: replace(now, state=SceneState.ENDED))
        self._running.pop(scene.id, None)
        self._by_channel.pop(scene.place.channel_id, None)
        return ended

    async def reopenable_scenes(self, guild_id: int, people: Sequence[int]) -> list[Scene]:
        """Return the scenes that these people directed in a server or at a terminal and that may go on, latest first.

        The person at the terminal, `AT_TERMINAL`, is whoever runs the program.
        """
        return await self._house.store.resting_scenes(guild_id, people)

    async def reopen(self, scene_id: int, place: Place, people: Sequence[int], heard: int) -> Scene:
        """Have a scene that rests go on at a place of its own server's, or of any where it was begun at a terminal.

        `people` are all that who asks for it may be, their own id first; `heard` is the latest message that was said
        there before. Nothing is played before `play_owed`. Raises Refused where it isn't theirs, or the place is taken.
        """
        if self.at(place.channel_id) is not None:
            raise Refused("A scene is already under way in this channel.", Remedy.END_SCENE)
        scene = next(
            (
                one
                for one in await self.reopenable_scenes(place.guild_id, people)
                if one.id == scene_id
            ),
            None,
        )
        if scene is None:
            raise Refused(
                "You are not the game master of an ended scene with this number. Choose one from the list."
            )
        moved = relocation.relocate(scene, place, people[0])
        await self._house.store.move_scene(moved, heard)
        self._take_up(moved)
        return moved

    async def open_at_terminal(self, scene_id: int, terminal: Place) -> Scene:
        """Open a stored scene at a terminal, for whoever runs the program; nothing is played before `play_owed`.

        One that has ended moves there. One under way in a channel stays that channel's, which is told nothing of what
        is played at the terminal, though its characters know. Raises Refused where that channel is owed a reply.
        """
        scene = await relocation.open_at_terminal(self._house.store, scene_id, terminal)
        self._take_up(scene)
        return scene

    def add(self, scene: Scene) -> None:
        """Take up a scene that was stored as begun elsewhere in this house. Nothing of it is played before
        `play_owed`."""
        self._take_up(scene)

    async def pause(self, scene: Scene, by: int) -> Scene:
        """Let a scene rest: nothing is heard or answered. A reply in the making is finished. For game masters."""
        require_gm(scene, by)
        if scene.state is SceneState.PAUSED:
            raise Refused("The scene is already paused.", Remedy.UNPAUSE_SCENE)
        return await self.change(scene, lambda now: replace(now, state=SceneState.PAUSED))

    async def unpause(self, scene: Scene, by: int) -> Scene:
        """Go on with a paused scene. For game masters."""
        require_gm(scene, by)
        if scene.state is SceneState.PLAYING:
            raise Refused("The scene is not paused.")
        resumed = await self.change(scene, lambda now: replace(now, state=SceneState.PLAYING))
        self._running[scene.id].runner.wake()
        return resumed

    async def clear(self, scene: Scene, by: int) -> int:
        """Take everything said so far out of the story; return how many turns. For game masters."""
        require_gm(scene, by)
        return await self._house.store.hide_turns(scene.id)

    async def reveal(
        self, scene: Scene, kind: BeatKind, where: Destination | None, by: int
    ) -> Scene:
        """Set where private beats of this kind go, or toggle it. For game masters."""
        require_gm(scene, by)

        def changed(now: Scene) -> Scene:
            policy = now.reveal.toggled(kind) if where is None else now.reveal.with_(kind, where)
            return replace(now, reveal=policy)

        return await self.change(scene, changed)

    async def give_roles(self, scene: Scene, roles: Mapping[str, int]) -> Scene:
        """Remember the mentionable roles made for the characters."""
        return await self.change(scene, lambda now: cast.assign_roles(now, roles))

    # Playing

    async def announce(self, scene: Scene, notice: Notice) -> None:
        """Show a notice in the scene's channel. Raises PostingError."""
        await self._house.stage.announce(scene, notice)

    async def join(self, scene: Scene, user_id: int, name: str) -> Scene:
        """Have this user play that character. Raises UnknownName and Refused."""
        joined = await self.change(scene, lambda now: cast.join(now, user_id, name))
        self._look_ahead(joined)
        return joined

    async def leave(self, scene: Scene, user_id: int, *, rest: bool = False) -> str:
        """Give this user's part back to the model, or let it rest; return the character's name. Raises Refused."""
        _, character = cast.leave(scene, user_id)
        await self.change(scene, lambda now: cast.leave(now, user_id, rest=rest)[0])
        return character

    async def change(self, scene: Scene, change: Callable[[Scene], Scene]) -> Scene:
        """Replace a scene under way by what `change` makes of it now. For the rooms of this house, which know who may
        do what. Raises Refused where it has ended, and whatever `change` raises, which leaves it as it is."""
        running = self._running.get(scene.id)
        if running is None:
            raise Refused("That scene has ended.")
        async with running.lock:
            changed = change(running.scene)
            await self._house.store.save_scene(changed)
            running.scene = changed
        return changed

    async def _give_up_owed(self, scene: Scene) -> None:
        """Owe nothing any more; what shows of a reply that was broken off goes."""
        store = self._house.store
        owed = [turn.id for turn in await store.owed(scene.id)]
        await store.give_up(owed)
        for turn_id in owed:
            if turn := await store.turn(turn_id):
                try:
                    await self._house.stage.withdraw(scene, turn)
                except PostingError as error:
                    _log.warning("What shows of turn %d can't be taken away: %s", turn_id, error)

    def _look_ahead(self, scene: Scene) -> None:
        if running := self._running.get(scene.id):
            running.runner.prefetch_minds()

    def _take_up(self, scene: Scene) -> None:
        async def history_cut() -> None:
            if not running.scene.history_cut_told:
                await self.change(running.scene, lambda now: replace(now, history_cut_told=True))
                await self._house.stage.announce(running.scene, _HISTORY_CUT)

        runner = Runner(self._house, lambda: running.scene, history_cut)
        running = RunningScene(scene, runner, asyncio.Lock())
        self._running[scene.id] = running
        self._by_channel[scene.place.channel_id] = scene.id


def require_gm(scene: Scene, user_id: int) -> None:
    """Raise Refused where this user is no game master of the scene."""
    if not scene.is_gm(user_id):
        raise Refused("Only the game master of this scene can do that.")
