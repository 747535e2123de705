"""Events of a story that are not messages: narrations, whispers, settings, rolls and cues.

Only game masters narrate, speak as a character and change the setting. Everyone who is not muted
may whisper and roll. Game masters and players in the cast may give a cue.
"""

from __future__ import annotations

from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bot.errors import PostingError, Refused, Remedy
from bot.her.beats import speech
from bot.her.player_text import parse_player_text
from bot.library.name_matching import addressable_names, find_addressed
from bot.library.normalise import is_blank
from bot.library.scenario import NARRATOR
from bot.scenes import cast
from bot.scenes.cast import find_part, require_gm
from bot.scenes.dice import roll_dice
from bot.scenes.scene import SceneState
from bot.scenes.turn import NewLine, TurnKind

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence
    from datetime import datetime

    from bot.scenes.dice import Roll
    from bot.scenes.running_scenes import RunningScene
    from bot.scenes.scene import Part, Scene
    from bot.scenes.scene_delivery import Delivery
    from bot.scenes.scene_store import SceneStore
    from bot.scenes.theatre import Theatre
    from bot.scenes.turn import Turn

MAX_TEXT_LENGTH: Final = 2_000
"""The longest text in characters, as in a Discord message."""


@dataclass(frozen=True, slots=True)
class Speaker:
    """A person who says something, with their name in the server."""

    user_id: int
    display_name: str


@dataclass(frozen=True, slots=True)
class Rolled:
    """A roll, its roller, and its turn if a scene was under way."""

    roll: Roll
    speaker: str
    turn: Turn | None = None


class StoryEvents:
    """Adds events to scenes. Stores each event before it shows it.

    `chance(n)` returns a random number from 1 to n. Methods raise Refused if the user may not do
    it, if the scene is paused, or if the text is empty or too long.
    """

    def __init__(
        self,
        theatre: Theatre,
        store: SceneStore,
        delivery: Delivery,
        now: Callable[[], datetime],
        chance: Callable[[int], int],
    ) -> None:
        self._theatre = theatre
        self._store = store
        self._delivery = delivery
        self._now = now
        self._chance = chance

    # For game masters

    async def narrate(self, scene: Scene, text: str | None, by: int) -> None:
        """Add a narration. Without a text, the model writes it, and it appears later."""
        require_gm(scene, by)
        if text is not None:
            await self._add_environment(scene, by, NARRATOR, text, TurnKind.NARRATION)
            return
        async with self._lock_playing(scene) as running:
            kind = TurnKind.NARRATION
            audience = running.scene.audience
            await self._store.add_reply(
                scene.id, NARRATOR, None, self._now(), kind=kind, heard_by=audience
            )
        running.runner.wake()

    async def say(self, scene: Scene, name: str, text: str, by: int) -> None:
        """Let a character say a game master's words. The characters they address answer."""
        require_gm(scene, by)
        names = find_addressed(text, addressable_names(scene.scenario.characters))
        async with self._lock_playing(scene) as running:
            character = _require_lendable(find_part(running.scene, name))
            answering = [
                one for one in names if one != character and running.scene.part(one).answers
            ]
            beats = parse_player_text(_require_text(text), character)
            if not beats:
                raise Refused(
                    "The text has no words in character. Write what the character says or does."
                )
            line = NewLine(by, character, None, text, beats, TurnKind.REPLY, running.scene.audience)
            turn = await self._add_line(running, line, answering)
        await self._show(running.scene, turn)
        running.runner.wake()

    async def whisper_to(self, scene: Scene, name: str, text: str, by: int) -> str:
        """Tell something to one mind only. Return the character's name."""
        require_gm(scene, by)
        character = find_part(scene, name).character
        async with self._lock_playing(scene) as running:
            beats = (speech(_require_text(text)),)
            heard_by = frozenset({character})
            line = NewLine(by, NARRATOR, None, text, beats, TurnKind.WHISPER, heard_by)
            turn = await self._add_line(running, line, ())
        await self._show(running.scene, turn)
        return character

    async def change_setting(
        self, scene: Scene, changes: Sequence[tuple[str, str]], by: int
    ) -> None:
        """Change the setting.

        Each change has a name, `mind.SCENE`, `mind.TIME` or `mind.PLACE`, and the new text.
        """
        require_gm(scene, by)
        if not changes:
            raise Refused("Enter a new situation, time or place.")
        for name, text in changes:
            await self._add_environment(scene, by, name, text, TurnKind.SETTING)

    # For everyone

    async def whisper(self, scene: Scene, name: str, text: str, by: Speaker) -> bool:
        """Say something that only one character and the game masters hear.

        Return whether the character will answer, also in a whisper.
        """
        cast.require_not_muted(scene, by.user_id)
        async with self._lock_playing(scene) as running:
            part = _require_whisper_partner(running.scene, name, by.user_id)
            speaker = cast.speaker_name(running.scene, by.user_id, by.display_name)
            beats = parse_player_text(_require_text(text), speaker)
            if not beats:
                raise Refused("The text has no words in character. Write what you say or do.")
            heard_by = frozenset({part.character})
            line = NewLine(by.user_id, speaker, None, text, beats, TurnKind.WHISPER, heard_by)
            turn = await self._add_line(running, line, [part.character] if part.answers else ())
        running.runner.wake()
        await self._show(running.scene, turn)
        return part.answers

    async def roll(self, scene: Scene | None, text: str, by: Speaker, *, secret: bool) -> Rolled:
        """Roll dice and add the result to the story.

        Only game masters read a secret roll, and no mind hears it. Without a scene the roll is not
        stored. Raises UserInputError if the text is not a roll.
        """
        roll = roll_dice(text, self._chance)
        if scene is None:
            return Rolled(roll, by.display_name)
        cast.require_not_muted(scene, by.user_id)
        async with self._lock_playing(scene) as running:
            speaker = cast.speaker_name(running.scene, by.user_id, by.display_name)
            result = f"{speaker} rolls {roll.text} and gets {roll.total}."
            kind = TurnKind.WHISPER if secret else TurnKind.NARRATION
            audience = frozenset[str]() if secret else running.scene.audience
            line = NewLine(by.user_id, NARRATOR, None, result, (speech(result),), kind, audience)
            turn = await self._add_line(running, line, ())
        if secret:
            await self._show(running.scene, turn)
        else:
            running.runner.wake()
        return Rolled(roll, speaker, turn)

    async def cue(self, scene: Scene, name: str, by: int) -> str:
        """Let a character speak now. Return its name. For game masters and players in the cast."""
        cast.require_not_muted(scene, by)
        if scene.part_of(by) is None:
            require_gm(scene, by)
        async with self._lock_playing(scene) as running:
            part = find_part(running.scene, name)
            character = _require_lendable(part)
            if part.rests:
                raise Refused(f"{character} rests and does not speak.", Remedy.WAKE_CHARACTER)
            owed = await self._store.find_owed_turns(scene.id)
            if any(turn.speaker == character and turn.public for turn in owed):
                raise Refused(f"{character} is already about to speak.")
            await self._store.add_reply(
                scene.id, character, None, self._now(), heard_by=running.scene.audience
            )
        running.runner.wake()
        return character

    async def _add_environment(
        self, scene: Scene, by: int, speaker: str, text: str, kind: TurnKind
    ) -> None:
        async with self._lock_playing(scene) as running:
            audience = running.scene.audience if kind is TurnKind.NARRATION else None
            beats = (speech(_require_text(text)),)
            line = NewLine(by, speaker, None, text, beats, kind, audience)
            turn = await self._add_line(running, line, ())
        await self._show(running.scene, turn)
        running.runner.wake()

    async def _add_line(
        self, running: RunningScene, line: NewLine, answering: Sequence[str]
    ) -> Turn:
        begun = running.runner.supersede(answering) if line.kind is not TurnKind.WHISPER else None
        stored = await self._store.add_line(
            running.scene.id, line, answering, self._now(), begun=begun
        )
        return stored[0]

    async def _show(self, scene: Scene, turn: Turn) -> None:
        """Show a stored turn. If Discord rejects it, it leaves the story again."""
        assert turn.take is not None  # noqa: S101 - a person's words are its take
        try:
            await self._delivery.deliver(scene, turn, turn.take)
        except PostingError:
            await self._store.hide_turns(scene.id, [turn.id])
            if hidden := await self._store.turn(turn.id):  # some of its parts may be posted
                with suppress(PostingError):
                    await self._delivery.cover(scene, hidden)
            owed = await self._store.find_owed_turns(scene.id)
            await self._store.give_up([one.id for one in owed if turn.id in one.answered])
            raise

    @asynccontextmanager
    async def _lock_playing(self, scene: Scene) -> AsyncIterator[RunningScene]:
        """Yield the scene under its lock. Raise Refused if it has ended or is paused."""
        running = self._theatre.find_running(scene.id)
        if running is None:
            raise Refused("The scene has ended.")
        async with running.lock:
            if running.scene.state is not SceneState.PLAYING:
                raise Refused("The scene is paused.", Remedy.UNPAUSE_SCENE)
            yield running


def _require_text(text: str) -> str:
    stripped = text.strip()
    if is_blank(stripped):
        raise Refused("The text is empty.")
    if len(stripped) > MAX_TEXT_LENGTH:
        raise Refused(
            f"The text is longer than {MAX_TEXT_LENGTH:,} characters. Split it into parts."
        )
    return stripped


def _require_lendable(part: Part) -> str:
    """Return the character's name. Raise Refused if a player has the part, or it is off stage."""
    if part.player_id is not None:
        raise Refused(
            f"A player has the part of {part.character}. Only that player can speak for them."
        )
    if part.absent:
        raise Refused(f"{part.character} is off stage.", Remedy.ENTER_STAGE)
    return part.character


def _require_whisper_partner(scene: Scene, name: str, by: int) -> Part:
    part = find_part(scene, name)
    if part.player_id == by:
        raise Refused(f"You play {part.character}. Choose another character to whisper to.")
    if part.player_id is not None:
        raise Refused(
            f"A player has the part of {part.character}. Send that player a direct message instead."
        )
    if part.absent:
        raise Refused(f"{part.character} is off stage and can't hear you.", Remedy.ENTER_STAGE)
    return part
