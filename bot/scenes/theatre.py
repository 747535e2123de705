"""The theatre: every scene under way, by channel, and all that can be done to one. It owns the scenes' state."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bot.errors import Refused
from bot.her.people import beats_of, out_of_character
from bot.scenes import cast, director
from bot.scenes.ports import NewLine
from bot.scenes.reveal import Audience, for_gm
from bot.scenes.runner import Playhouse, Runner
from bot.scenes.scene import Part, Scene, SceneState
from bot.scenes.turn import TurnKind, TurnState

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping
    from datetime import datetime

    from bot.her.beats import BeatKind
    from bot.library.scenario import Scenario
    from bot.scenes.director import Address
    from bot.scenes.performance import Performance
    from bot.scenes.ports import Posts, SceneStore, Stage
    from bot.scenes.reveal import Revealed, Where
    from bot.scenes.scene import Place
    from bot.scenes.turn import Turn

_HISTORY_CUT = (
    "The story has outgrown what the model can read at once: from here on the oldest turns are no longer in the "
    "characters' minds. They stay stored, and `/scene history` still shows them."
)


@dataclass(frozen=True, slots=True)
class Said:
    """What a person wrote in a scene's channel."""

    author_id: int
    display_name: str
    message_id: int
    text: str

    def __repr__(self) -> str:
        return f"Said(author_id={self.author_id}, message_id={self.message_id}, {len(self.text)} characters)"


@dataclass(frozen=True, slots=True)
class Behind:
    """What a reply kept private, freed for one who asked."""

    speaker: str
    audience: Audience
    freed: tuple[Revealed, ...]


@dataclass(slots=True)
class _Running:
    scene: Scene
    runner: Runner
    lock: asyncio.Lock


class Theatre:
    """Every scene under way. Methods that people call take who asks, and raise Refused where the rules forbid it."""

    def __init__(
        self, store: SceneStore, posts: Posts, stage: Stage, performance: Performance, now: Callable[[], datetime]
    ) -> None:
        self._house = Playhouse(store, stage, performance)
        self._posts = posts
        self._now = now
        self._running: dict[int, _Running] = {}
        self._by_channel: dict[int, int] = {}

    async def open(self) -> None:
        """Take up every scene that has not ended. Nothing is played before `play_owed`."""
        for scene in await self._house.store.open_scenes():
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

    def here(self, channel_id: int) -> Scene:
        """Return the scene under way in a channel or thread. Raises Refused where there is none."""
        if (scene := self.at(channel_id)) is None:
            raise Refused("No scene is under way in this channel: `/scene start` begins one.")
        return scene

    async def history(self, scene: Scene) -> list[Turn]:
        """Return the story so far, in order."""
        return [turn for turn in await self._house.store.turns(scene.id) if turn.state is TurnState.DONE]

    async def prompt(self, scene: Scene, name: str, by: int) -> str:
        """Return the exact text the engine would get for this character now. For game masters."""
        _directs(scene, by)
        character = cast.find(scene, name).character
        performance = self._house.performance
        return (await performance.fitted(scene, character, await self.history(scene))).prompt.text

    async def last_heard(self, scene: Scene) -> int | None:
        """Return the id of the latest message of a person's that this scene has stored."""
        return await self._house.store.last_message_id(scene.id)

    async def thoughts(self, message_id: int, by: int) -> Behind:
        """Return what the reply in that post kept private: for a game master all of it, for others what the scene
        reveals to everyone. Raises Refused where there is nothing for them to see."""
        turn = await self._house.store.turn_by_message(message_id)
        scene = await self._house.store.scene(turn.scene_id) if turn else None
        if turn is None or scene is None or turn.kind is not TurnKind.REPLY or turn.take is None:
            raise Refused("That message is no character's reply, so there are no thoughts behind it.")
        if scene.is_gm(by):
            behind = Behind(turn.speaker, Audience.GM, for_gm(turn.take.beats))
        else:
            behind = Behind(turn.speaker, Audience.CHANNEL, scene.reveal.freed(turn.take.beats, Audience.CHANNEL))
            if not behind.freed:
                raise Refused("Only the game master sees the thoughts behind this reply.")
        if not behind.freed:
            raise Refused("This reply has no thoughts behind it.")
        return behind

    # Directing

    async def start(self, place: Place, scenario: Scenario, gm_id: int) -> Scene:
        """Begin a scene. Raises Refused where one is under way there."""
        if self.at(place.channel_id) is not None:
            raise Refused("A scene is under way in this channel already: `/scene end` ends it.")
        parts = [Part(character.name) for character in scenario.characters]
        scene = await self._house.store.add_scene(place, scenario, (gm_id,), parts, self._now())
        self._take_up(scene)
        return scene

    async def end(self, scene: Scene, by: int, *, moderates: bool = False) -> Scene:
        """End a scene; what it still owed leaves the story. For game masters, and moderators of the channel."""
        if not moderates:
            _directs(scene, by)
        running = self._running[scene.id]
        await running.runner.stop()
        owed = [turn.id for turn in await self._house.store.owed(scene.id)]
        await self._house.store.hide_turns(scene.id, owed)
        ended = await self._change(scene, lambda now: replace(now, state=SceneState.ENDED))
        self._running.pop(scene.id, None)
        self._by_channel.pop(scene.place.channel_id, None)
        return ended

    async def pause(self, scene: Scene, by: int) -> Scene:
        """Let a scene rest: nothing is heard or answered. A reply in the making is finished. For game masters."""
        _directs(scene, by)
        if scene.state is SceneState.PAUSED:
            raise Refused("The scene is paused already: `/scene resume` goes on.")
        return await self._change(scene, lambda now: replace(now, state=SceneState.PAUSED))

    async def resume(self, scene: Scene, by: int) -> Scene:
        """Go on with a paused scene. For game masters."""
        _directs(scene, by)
        if scene.state is SceneState.PLAYING:
            raise Refused("The scene is not paused.")
        resumed = await self._change(scene, lambda now: replace(now, state=SceneState.PLAYING))
        self._running[scene.id].runner.wake()
        return resumed

    async def clear(self, scene: Scene, by: int) -> int:
        """Take everything said so far out of the story; return how many turns. For game masters."""
        _directs(scene, by)
        return await self._house.store.hide_turns(scene.id)

    async def reveal(self, scene: Scene, kind: BeatKind, where: Where | None, by: int) -> Scene:
        """Set where private beats of this kind go, or toggle it. For game masters."""
        _directs(scene, by)

        def changed(now: Scene) -> Scene:
            policy = now.reveal.toggled(kind) if where is None else now.reveal.with_(kind, where)
            return replace(now, reveal=policy)

        return await self._change(scene, changed)

    async def give_roles(self, scene: Scene, roles: Mapping[str, int]) -> Scene:
        """Remember the mentionable roles made for the characters."""
        return await self._change(scene, lambda now: cast.with_roles(now, roles))

    # Playing

    async def join(self, scene: Scene, user_id: int, name: str) -> Scene:
        """Have this user play that character. Raises UnknownName and Refused."""
        return await self._change(scene, lambda now: cast.join(now, user_id, name))

    async def leave(self, scene: Scene, user_id: int) -> str:
        """Give this user's part back to the model; return the character's name. Raises Refused."""
        _, character = cast.leave(scene, user_id)
        await self._change(scene, lambda now: cast.leave(now, user_id)[0])
        return character

    async def hear(self, scene: Scene, said: Said, address: Address) -> bool:
        """Store what a person said and have it answered; return whether the scene took it.

        Lines out of character, empty ones and what is said while the scene rests are left alone.
        """
        running = self._running.get(scene.id)
        beats = () if out_of_character(said.text) else beats_of(said.text)
        if running is None or not beats:
            return False
        async with running.lock:
            if running.scene.state is not SceneState.PLAYING:
                return False
            speaker = cast.speaker(running.scene, said.author_id, said.display_name)
            names = await self._answering(running.scene, speaker, address)
            line = NewLine(said.author_id, speaker, said.message_id, said.text, beats)
            stored = await self._house.store.add_line(scene.id, line, names, self._now())
        if len(stored) > 1:
            running.runner.wake()
        return bool(stored)

    async def retry(self, turn_id: int, by: int) -> None:
        """Try a failed reply again. For game masters, and the person it answers. Raises Refused."""
        store = self._house.store
        turn = await store.turn(turn_id)
        running = self._running.get(turn.scene_id) if turn else None
        if turn is None or running is None:
            raise Refused("That scene has ended, so there is nothing to try again.")
        answered = await store.turn(turn.answers_id) if turn.answers_id else None
        if not (answered and answered.author_id == by):
            _directs(running.scene, by)
        if turn.state is not TurnState.FAILED:
            raise Refused("That reply is not waiting to be tried again.")
        await store.rethink(turn_id)
        running.runner.wake()

    async def withdraw(self, scene: Scene, message_id: int) -> None:
        """Take out of the story what a deleted message said, and the answers still owed to it."""
        async with self._turn_to_change(scene, message_id) as turn:
            if turn is None or (turn.kind is TurnKind.REPLY and not await self._is_persona_post(turn, message_id)):
                return
            owed = await self._house.store.owed(scene.id)
            answers = [answer.id for answer in owed if answer.answers_id == turn.id]
            await self._house.store.hide_turns(scene.id, [turn.id, *answers])

    async def reword(self, scene: Scene, message_id: int, text: str) -> None:
        """Give a person's line the text its author edited it to. It is not answered anew."""
        async with self._turn_to_change(scene, message_id) as turn:
            if turn is not None and turn.kind is TurnKind.LINE and (beats := beats_of(text)):
                await self._house.store.reword_line(turn.id, text, beats)

    @asynccontextmanager
    async def _turn_to_change(self, scene: Scene, message_id: int) -> AsyncIterator[Turn | None]:
        """The turn of this scene that a message belongs to, once all that was said before has been heard."""
        running = self._running.get(scene.id)
        async with running.lock if running else asyncio.Lock():
            turn = await self._house.store.turn_by_message(message_id)
            yield turn if turn is not None and turn.scene_id == scene.id else None

    async def _is_persona_post(self, turn: Turn, message_id: int) -> bool:
        posts = await self._posts.posts(turn.id)
        return any(post.message_id == message_id and post.purpose == "persona" for post in posts)

    async def _answering(self, scene: Scene, speaker: str, address: Address) -> list[str]:
        store = self._house.store
        replied = await store.turn_by_message(address.reply_to) if address.reply_to else None
        turns = await store.turns(scene.id) if address.bot and not address.characters else []
        return director.answering(scene, address, speaker, replied, turns)

    async def _change(self, scene: Scene, change: Callable[[Scene], Scene]) -> Scene:
        running = self._running.get(scene.id)
        if running is None:
            raise Refused("That scene has ended.")
        async with running.lock:
            changed = change(running.scene)
            await self._house.store.save_scene(changed)
            running.scene = changed
        return changed

    def _take_up(self, scene: Scene) -> None:
        async def history_cut() -> None:
            if not running.scene.history_cut_told:
                await self._change(running.scene, lambda now: replace(now, history_cut_told=True))
                await self._house.stage.tell(running.scene, _HISTORY_CUT)

        runner = Runner(self._house, lambda: running.scene, history_cut)
        running = _Running(scene, runner, asyncio.Lock())
        self._running[scene.id] = running
        self._by_channel[scene.place.channel_id] = scene.id


def _directs(scene: Scene, user_id: int) -> None:
    if not scene.is_gm(user_id):
        raise Refused("Only the game master of this scene can do that.")
