"""What enters a story otherwise than by a message: narrations, lent words, whispers, new settings, rolls, cues.

Rules of who may: game masters direct, everyone who is heard may whisper and roll, the cast may give a cue.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bot.errors import PostingError, Refused, Remedy
from bot.her.beats import speech
from bot.her.player_text import parse_player_text
from bot.library.name_matching import addressed, spoken_names
from bot.library.normalise import is_blank
from bot.library.scenario import NARRATOR
from bot.scenes import cast
from bot.scenes.dice import roll_dice
from bot.scenes.interfaces import NewLine
from bot.scenes.scene import SceneState
from bot.scenes.theatre import require_gm
from bot.scenes.turn import TurnKind

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence
    from datetime import datetime

    from bot.scenes.dice import Roll
    from bot.scenes.interfaces import Delivery, SceneStore
    from bot.scenes.scene import Part, Scene
    from bot.scenes.theatre import RunningScene, Theatre
    from bot.scenes.turn import Turn

MAX_TEXT_LENGTH: Final = 2_000
"""How many characters may be said at once, as in a message."""


@dataclass(frozen=True, slots=True)
class Speaker:
    """A person who says something, and the name they have in the server."""

    user_id: int
    display_name: str


@dataclass(frozen=True, slots=True)
class Rolled:
    """A roll, who rolled it, and the turn it is remembered in where a scene was under way."""

    roll: Roll
    speaker: str
    turn: Turn | None = None


class StoryEvents:
    """Tells scenes what is no message in their channel. Everything is stored before it is shown.

    `chance` gives 1 to as many as it is told.
    """

    def __init__(
        self,
        theatre: Theatre,
        store: SceneStore,
        stage: Delivery,
        now: Callable[[], datetime],
        chance: Callable[[int], int],
    ) -> None:
        self._theatre = theatre
        self._store = store
        self._stage = stage
        self._now = now
        self._chance = chance

    # For game masters

    async def narrate(self, scene: Scene, text: str | None, by: int) -> None:
        """Tell what the environment does: in these words, or with None in the model's, which come in their time."""
        require_gm(scene, by)
        if text is not None:
            await self._narration(scene, by, NARRATOR, text, TurnKind.NARRATION)
            return
        async with self._playing(scene) as running:
            kind, audience = TurnKind.NARRATION, running.scene.audience
            await self._store.add_reply(
                scene.id, NARRATOR, None, self._now(), kind=kind, heard_by=audience
            )
        running.runner.wake()

    async def say(self, scene: Scene, name: str, text: str, by: int) -> None:
        """Say and do something as a character: words of a game master's under its name. Whom it addresses answers."""
        require_gm(scene, by)
        names = addressed(text, spoken_names(scene.scenario.characters))
        async with self._playing(scene) as running:
            character = _lendable(cast.find_part(running.scene, name))
            answering = [
                one for one in names if one != character and running.scene.part(one).answers
            ]
            line = NewLine(
                by,
                character,
                None,
                text,
                parse_player_text(_said(text)),
                TurnKind.REPLY,
                running.scene.audience,
            )
            if not line.beats:
                raise Refused("The text has no words to say.")
            turn = await self._add(running, line, answering)
        await self._show(running.scene, turn)
        running.runner.wake()

    async def whisper_to(self, scene: Scene, name: str, text: str, by: int) -> str:
        """Have one mind, and nobody else, know something; return the character's name."""
        require_gm(scene, by)
        character = cast.find_part(scene, name).character
        async with self._playing(scene) as running:
            beats = (speech(_said(text)),)
            line = NewLine(
                by, NARRATOR, None, text, beats, TurnKind.WHISPER, frozenset({character})
            )
            turn = await self._add(running, line, ())
        await self._show(running.scene, turn)
        return character

    async def change_setting(
        self, scene: Scene, changes: Sequence[tuple[str, str]], by: int
    ) -> None:
        """Move the scene: `changes` are of minds.SCENE, TIME and PLACE, each with what it is from now on."""
        require_gm(scene, by)
        if not changes:
            raise Refused("Name at least one change: the scene, the time or the place.")
        for what, text in changes:
            await self._narration(scene, by, what, text, TurnKind.SETTING)

    # For everyone

    async def whisper(self, scene: Scene, name: str, text: str, by: Speaker) -> bool:
        """Say something that one character alone hears, and the game masters; return whether it will answer, which it
        does in a whisper too."""
        cast.require_not_muted(scene, by.user_id)
        async with self._playing(scene) as running:
            part = _whisperable(running.scene, name, by.user_id)
            speaker = cast.speaker_name(running.scene, by.user_id, by.display_name)
            beats = parse_player_text(_said(text))
            heard_by = frozenset({part.character})
            line = NewLine(by.user_id, speaker, None, text, beats, TurnKind.WHISPER, heard_by)
            if not beats:
                raise Refused("The text has no words to hear.")
            turn = await self._add(running, line, [part.character] if part.answers else ())
        running.runner.wake()
        await self._show(running.scene, turn)
        return part.answers

    async def roll(self, scene: Scene | None, text: str, by: Speaker, *, secret: bool) -> Rolled:
        """Roll dice and remember how they fell; a secret roll is told to the game masters, and no mind has it.

        Where no scene is under way, `scene` being None, there is only the roll. Raises UserInputError.
        """
        roll = roll_dice(text, self._chance)
        if scene is None:
            return Rolled(roll, by.display_name)
        cast.require_not_muted(scene, by.user_id)
        async with self._playing(scene) as running:
            speaker = cast.speaker_name(running.scene, by.user_id, by.display_name)
            told = f"{speaker} rolls {roll.text} and gets {roll.total}."
            kind, audience = TurnKind.NARRATION, running.scene.audience
            if secret:
                kind, audience = TurnKind.WHISPER, frozenset()
            line = NewLine(by.user_id, NARRATOR, None, told, (speech(told),), kind, audience)
            turn = await self._add(running, line, ())
        if secret:
            await self._show(running.scene, turn)
        else:
            running.runner.wake()
        return Rolled(roll, speaker, turn)

    async def cue(self, scene: Scene, name: str, by: int) -> str:
        """Have a character speak now; return its name. For game masters and players in the cast."""
        cast.require_not_muted(scene, by)
        if scene.part_of(by) is None:
            require_gm(scene, by)
        async with self._playing(scene) as running:
            part = cast.find_part(running.scene, name)
            character = _lendable(part)
            if part.rests:
                raise Refused(f"{character} rests.", Remedy.WAKE_CHARACTER)
            if any(
                turn.speaker == character and turn.public
                for turn in await self._store.owed(scene.id)
            ):
                raise Refused(f"{character} is already about to speak.")
            await self._store.add_reply(
                scene.id, character, None, self._now(), heard_by=running.scene.audience
            )
        running.runner.wake()
        return character

    # How

    async def _narration(
        self, scene: Scene, by: int, speaker: str, text: str, kind: TurnKind
    ) -> None:
        async with self._playing(scene) as running:
            audience = running.scene.audience if kind is TurnKind.NARRATION else None
            line = NewLine(by, speaker, None, text, (speech(_said(text)),), kind, audience)
            turn = await self._add(running, line, ())
        await self._show(running.scene, turn)
        running.runner.wake()

    async def _add(self, running: RunningScene, line: NewLine, answering: Sequence[str]) -> Turn:
        begun = running.runner.make_way(answering) if line.kind is not TurnKind.WHISPER else None
        return (
            await self._store.add_line(running.scene.id, line, answering, self._now(), begun=begun)
        )[0]

    async def _show(self, scene: Scene, turn: Turn) -> None:
        """Show what was stored. What the channel can't be shown leaves the story again."""
        assert turn.take is not None  # noqa: S101 - a person's words are its take
        try:
            await self._stage.deliver(scene, turn, turn.take)
        except PostingError:
            await self._store.hide_turns(scene.id, [turn.id])
            await self._store.give_up(
                [one.id for one in await self._store.owed(scene.id) if turn.id in one.answered]
            )
            raise

    @asynccontextmanager
    async def _playing(self, scene: Scene) -> AsyncIterator[RunningScene]:
        """Hold a scene that is under way as it is now, while something is added to it. Raises Refused."""
        running = self._theatre.running(scene.id)
        if running is None:
            raise Refused("That scene has ended.")
        async with running.lock:
            if running.scene.state is not SceneState.PLAYING:
                raise Refused("The scene is paused.", Remedy.UNPAUSE_SCENE)
            yield running


def _said(text: str) -> str:
    said = text.strip()
    if is_blank(said):
        raise Refused("The text is empty.")
    if len(said) > MAX_TEXT_LENGTH:
        raise Refused(
            f"The text is longer than {MAX_TEXT_LENGTH:,} characters. Split it into parts."
        )
    return said


def _lendable(part: Part) -> str:
    """Return the name of a character that nobody's player speaks for, and that is on stage."""
    if part.player_id is not None:
        raise Refused(f"{part.character} is played by a player. Only that player speaks for them.")
    if part.absent:
        raise Refused(f"{part.character} is off stage.", Remedy.ENTER_STAGE)
    return part.character


def _whisperable(scene: Scene, name: str, by: int) -> Part:
    part = cast.find_part(scene, name)
    if part.player_id == by:
        raise Refused(f"You play {part.character}. Whisper to somebody else.")
    if part.player_id is not None:
        raise Refused(f"{part.character} is played by a player. Write to them in private instead.")
    if part.absent:
        raise Refused(f"{part.character} is off stage and can't hear you.")
    return part
