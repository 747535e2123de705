"""What the scenes need from outside, said by them: a store that remembers, a stage that shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from bot.scenes.turn import TurnKind

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractAsyncContextManager
    from datetime import datetime

    from bot.her.beats import Beat, PublicBeat
    from bot.library.scenario import Scenario
    from bot.scenes.notices import Notice
    from bot.scenes.scene import Part, Place, Scene
    from bot.scenes.turn import Take, Turn


@dataclass(frozen=True, slots=True)
class NewLine:
    """A person's contribution as it comes in, before it is stored.

    `kind` is a line of theirs, a reply that a game master words, a narration, a new setting or a whisper; `heard_by`
    are the characters whose minds have it, None being all. Only a line stands in a message of the person's own.
    """

    author_id: int | None
    speaker: str
    message_id: int | None
    text: str
    beats: tuple[PublicBeat, ...]
    kind: TurnKind = TurnKind.LINE
    heard_by: frozenset[str] | None = None


@dataclass(frozen=True, slots=True, repr=False)
class NewNote:
    """A standing note as a game master gives it, for one character or, with None, for all."""

    author_id: int
    character: str | None
    text: str


@dataclass(frozen=True, slots=True, repr=False)
class Note:
    """A standing note: what a game master has one mind, or all, bear in mind until it is removed."""

    id: int
    character: str | None  # None: every character
    text: str

    def concerns(self, character: str) -> bool:
        """Whether it is for that character."""
        return self.character in (None, character)


class SceneStore(Protocol):
    """Remembers scenes, casts, turns and takes. Every method is one transaction; all raise StoreError."""

    async def add_scene(
        self,
        place: Place,
        scenario: Scenario,
        gm_ids: Sequence[int],
        parts: Sequence[Part],
        now: datetime,
    ) -> Scene:
        """Store a scene that begins. Raises Refused where one is under way in that channel already."""
        ...

    async def save_scene(self, scene: Scene) -> None:
        """Store a scene's state, game masters, parts, reveal policy and flags."""
        ...

    async def move_scene(self, scene: Scene, heard: int) -> None:
        """Store a scene that rests as going on at its new place. What was said there up to message `heard` was not
        said in it, and what was said at a terminal belongs to who directs the scene now. Raises Refused where it is
        under way already, or another one is there."""
        ...

    async def open_scenes(self) -> list[Scene]:
        """Return every scene that has not ended."""
        ...

    async def latest_scenes(self, most: int) -> list[Scene]:
        """Return so many of the scenes stored, whatever has become of them, latest first."""
        ...

    async def resting_scenes(self, guild_id: int, gm_ids: Sequence[int]) -> list[Scene]:
        """Return the scenes of that server, and those begun at a terminal, that one of these people directs and that
        have ended or lie at a terminal, latest first."""
        ...

    async def scene(self, scene_id: int) -> Scene | None:
        """Return one scene, ended or not."""
        ...

    async def add_line(
        self,
        scene_id: int,
        line: NewLine,
        answering: Sequence[str],
        now: datetime,
        *,
        begun: int | None = None,
    ) -> tuple[Turn, ...]:
        """Store a person's line as a turn that is done and, in the same transaction, a thinking turn for each
        character that owes an answer to it, heard by whom the line is; a whisper's answer is whispered. A reply owed
        already that nobody has heard any of leaves its place: the one after this line answers both. `begun` is a turn
        that stays where it is. Returns the line and the answers; nothing where that message is stored already."""
        ...

    async def add_reply(
        self,
        scene_id: int,
        character: str,
        answers_id: int | None,
        now: datetime,
        *,
        kind: TurnKind = TurnKind.REPLY,
        heard_by: frozenset[str] | None = None,
    ) -> Turn:
        """Store that a character owes a reply, or the environment a narration: a turn that is thinking."""
        ...

    async def answer_less(self, turn_id: int, line_id: int) -> bool:
        """Take a line that is gone off what an owed turn answers; return whether it answers others still."""
        ...

    async def heard_by(self, turn_ids: Sequence[int], audience: frozenset[str] | None) -> None:
        """Say who hears these turns."""
        ...

    async def add_note(self, scene_id: int, note: NewNote, now: datetime) -> Note:
        """Store a standing note."""
        ...

    async def notes(self, scene_id: int) -> list[Note]:
        """Return a scene's standing notes in the order they were made."""
        ...

    async def remove_note(self, note_id: int) -> None:
        """Forget a standing note."""
        ...

    async def keep_take(self, turn_id: int, beats: Sequence[Beat], raw: str, seed: int) -> Turn:
        """Store a take and make it the current one. The turn stays as it is: it is not done until it is posted."""
        ...

    async def settle(self, turn_id: int) -> Turn:
        """Mark a turn done: its take stands on Discord."""
        ...

    async def fail(self, turn_id: int, fault: str) -> Turn:
        """Mark a turn failed with the sentence people are told. A take it has stays. Where it was only to be made
        anew, the take it had is current again, and the turn is done."""
        ...

    async def rethink(self, turn_id: int) -> Turn:
        """Mark a failed turn thinking again. Where it is thinking already, nothing changes."""
        ...

    async def retake(self, turn_id: int, *, lengthen: bool = False) -> Turn:
        """Mark a reply that is done thinking again, for a new take, which goes on from the current one where that is
        to be lengthened. The takes it has stay stored; none is current meanwhile."""
        ...

    async def give_up(self, turn_ids: Sequence[int]) -> None:
        """Owe these turns no longer: they leave the story, or are done with the take that they had."""
        ...

    async def turns(self, scene_id: int) -> list[Turn]:
        """Return the turns of the story in order, hidden ones left out."""
        ...

    async def turn(self, turn_id: int) -> Turn | None:
        """Return one turn, whatever its state."""
        ...

    async def owed(self, scene_id: int) -> list[Turn]:
        """Return the turns that are thinking, in order."""
        ...

    async def last_message_id(self, scene_id: int) -> int | None:
        """Return the highest id of a person's message stored for this scene: what came later was not heard yet."""
        ...

    async def hide_turns(self, scene_id: int, turn_ids: Sequence[int] | None = None) -> int:
        """Take these turns, or all of them, out of the story; return how many."""
        ...

    async def turn_by_message(self, message_id: int) -> Turn | None:
        """Return the turn that a Discord message belongs to: a person's line, or any post of a reply."""
        ...

    async def reword_line(self, turn_id: int, text: str, beats: Sequence[PublicBeat]) -> None:
        """Give a person's line its edited text."""
        ...


class Delivery(Protocol):
    """Shows a scene to its people. Raises PostingError where Discord refuses for good."""

    def thinking(self, scene: Scene, turn: Turn) -> AbstractAsyncContextManager[None]:
        """Show that the character is about to speak, for as long as the context lasts."""
        ...

    async def progress(self, scene: Scene, turn: Turn, beats: tuple[PublicBeat, ...]) -> None:
        """Tell which public beats have settled so far. Cheap; the stage decides what to show when."""
        ...

    async def deliver(self, scene: Scene, turn: Turn, take: Take) -> None:
        """Post a finished reply and what the reveal policy frees. Doing it twice posts nothing twice."""
        ...

    async def withdraw(self, scene: Scene, turn: Turn) -> None:
        """Take away what shows of a reply that will not be finished; the take that the turn has shows again."""
        ...

    async def cover(self, scene: Scene, turn: Turn) -> None:
        """Show that a reply was taken out of the story. It stays where it is."""
        ...

    async def fail(self, scene: Scene, turn: Turn, sentence: str) -> None:
        """Say in the channel that this reply failed, with a way to try again."""
        ...

    async def announce(self, scene: Scene, notice: Notice) -> None:
        """Show a notice in the channel, with its remedy in the channel's words."""
        ...
