"""The interfaces that scenes need: a store of the story, and a delivery to people.

They keep the domain independent of SQLite and Discord. `bot.store.store.Store` implements
SceneStore. Discord, the terminal and the benchmark implement Delivery.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from bot.scenes.turn import TurnKind

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractAsyncContextManager
    from datetime import datetime

    from bot.her.beats import Beat, PrivateBeat, PublicBeat
    from bot.library.scenario import Scenario
    from bot.scenes.notices import Notice
    from bot.scenes.posts import ShownMessage
    from bot.scenes.reveal import Destination
    from bot.scenes.scene import Part, Place, Scene
    from bot.scenes.silences import Silences
    from bot.scenes.turn import Take, Turn


@dataclass(frozen=True, slots=True)
class NewLine:
    """A person's contribution before it is stored.

    `kind` is a line, a reply or narration that a game master writes, a setting or a whisper. Only
    a line has a message of the person's own.
    """

    author_id: int | None
    speaker: str
    message_id: int | None
    text: str
    beats: tuple[PublicBeat, ...]
    kind: TurnKind = TurnKind.LINE
    heard_by: frozenset[str] | None = None  # characters whose minds have it, if not all


@dataclass(frozen=True, slots=True)
class TurnSelection:
    """The turns of a story that a query reads. The default selects all of them.

    Hidden turns and lines without words are never part of a story.
    """

    since: int = 0  # only turns with this id or a later one
    before: int | None = None  # only turns with an earlier id
    heard_by: str | None = None  # only turns that this character's mind has
    kind: TurnKind | None = None
    answering: int | None = None  # only turns that answer this one
    done: bool = False  # only finished turns
    public: bool = False  # no whispers


WHOLE_STORY: Final = TurnSelection()


@dataclass(frozen=True, slots=True, repr=False)
class NewNote:
    """A note from a game master before it is stored, for one character or for all."""

    author_id: int
    character: str | None
    text: str


@dataclass(frozen=True, slots=True, repr=False)
class Note:
    """A game master's note that one mind, or every mind, keeps until the note is removed."""

    id: int
    character: str | None  # if not for every character
    text: str

    def concerns(self, character: str) -> bool:
        """Return whether the note is for this character."""
        return self.character in (None, character)


class SceneStore(Protocol):
    """Stores scenes, casts, turns and takes.

    Every method is one transaction. Every method raises StoreError.
    """

    # Scenes

    async def add_scene(
        self,
        place: Place,
        scenario: Scenario,
        gm_ids: Sequence[int],
        parts: Sequence[Part],
        now: datetime,
    ) -> Scene:
        """Store a new scene. Raises Refused if a scene is under way in that channel."""
        ...

    async def save_scene(self, scene: Scene, now: datetime) -> None:
        """Store a scene's state, game masters, parts, reveal policy and flags.

        The times at which silences begin and end are stored too.
        """
        ...

    async def delete_scene(self, scene_id: int) -> None:
        """Delete a scene and everything that belongs to it."""
        ...

    async def move_scene(self, scene: Scene, heard: int, now: datetime) -> None:
        """Store that an ended scene continues at its new place.

        The scene does not hear messages of the new channel up to the id `heard`. Lines from a
        terminal become those of the scene's first game master. Raises Refused if the scene is
        already under way, or another one is at that place.
        """
        ...

    async def open_scenes(self) -> list[Scene]:
        """Return every scene that has not ended."""
        ...

    async def latest_scenes(self, most: int) -> list[Scene]:
        """Return up to `most` stored scenes in any state, the latest first."""
        ...

    async def find_resting_scenes(self, guild_id: int, gm_ids: Sequence[int]) -> list[Scene]:
        """Return the scenes that one of these game masters can reopen in that server.

        These are the ended scenes of the server, and the scenes at a terminal. The latest comes
        first.
        """
        ...

    async def scene(self, scene_id: int) -> Scene | None:
        """Return a scene in any state, if it exists."""
        ...

    async def silences_at(self, scene_id: int, moment: datetime) -> Silences:
        """Return the silences that a scene had at that moment."""
        ...

    async def branch(self, scene: Scene, last_id: int, place: Place, now: datetime) -> Scene:
        """Store a scene at `place` with a copy of everything up to the turn `last_id`.

        Raises Refused if a scene is under way there.
        """
        ...

    # Turns

    async def add_line(
        self,
        scene_id: int,
        line: NewLine,
        answering: Sequence[str],
        now: datetime,
        *,
        begun: int | None = None,
    ) -> tuple[Turn, ...]:
        """Store a person's line, and an owed turn for each character in `answering`.

        The characters that hear the line hear the answers; the answer to a whisper is a whisper.
        A reply of the same character that is already owed moves behind the line and answers both,
        unless it is the turn `begun`. Return the line and its answers, or an empty tuple if a line
        with this message id is already stored.
        """
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
        """Store an owed turn: a reply of the character, or a narration."""
        ...

    async def drop_answered_line(self, turn_id: int, line_id: int) -> bool:
        """Remove a line from those that an owed turn answers. Return whether any is left."""
        ...

    async def set_audience(self, turn_ids: Sequence[int], audience: frozenset[str] | None) -> None:
        """Set the characters that hear these turns."""
        ...

    async def turns(self, scene_id: int, selection: TurnSelection = WHOLE_STORY) -> list[Turn]:
        """Return the selected turns of the story in order.

        A story can have thousands of turns. Read only those that are needed.
        """
        ...

    async def latest_turns(
        self, scene_id: int, most: int, selection: TurnSelection = WHOLE_STORY
    ) -> list[Turn]:
        """Return up to `most` of the selected turns, those from the end of the story, in order."""
        ...

    async def earliest_turns(
        self, scene_id: int, most: int, selection: TurnSelection = WHOLE_STORY
    ) -> list[Turn]:
        """Return up to `most` of the selected turns, those from the start of the story, in order.

        With `since`, they page through a story that is too long to read at once.
        """
        ...

    async def count_turns(self, scene_id: int, selection: TurnSelection = WHOLE_STORY) -> int:
        """Return the number of the selected turns."""
        ...

    async def latest_replies(self, scene_id: int, characters: Sequence[str]) -> list[Turn]:
        """Return the latest reply of each of these characters, in the order of the story."""
        ...

    async def latest_settings(self, scene_id: int, before: int | None = None) -> list[Turn]:
        """Return the latest change of each part of the setting, before the turn `before` if given.

        They are in the order of the story.
        """
        ...

    async def speakers(self, scene_id: int) -> list[str]:
        """Return the name of everyone who has spoken in the story."""
        ...

    async def window_start(self, scene_id: int, character: str) -> int:
        """Return the id of the first turn that this character's prompt contains, 0 for all."""
        ...

    async def save_window_start(self, scene_id: int, character: str, turn_id: int) -> None:
        """Store the id of the first turn that this character's prompt contains."""
        ...

    async def turn(self, turn_id: int) -> Turn | None:
        """Return a turn in any state, if it exists."""
        ...

    async def turns_by_id(self, turn_ids: Sequence[int]) -> list[Turn]:
        """Return the turns with these ids that exist, in any state, in order."""
        ...

    async def turn_by_message(self, message_id: int) -> Turn | None:
        """Return the turn that a Discord message belongs to, as a line or as a post of a reply."""
        ...

    async def find_owed_turns(self, scene_id: int) -> list[Turn]:
        """Return the owed turns in order."""
        ...

    async def failures_without_notice(self, scene_id: int) -> list[Turn]:
        """Return the failed public turns of a scene whose failure the channel does not show."""
        ...

    async def last_message_id(self, scene_id: int) -> int | None:
        """Return the highest id of a message that the scene has heard or ignored."""
        ...

    async def mark_seen(self, scene_id: int, message_id: int) -> None:
        """Store that the scene will not hear messages up to this one any more."""
        ...

    async def shown_messages(self, scene_id: int, most: int) -> list[ShownMessage]:
        """Return the latest messages of a scene's story, up to `most`, oldest first.

        They are people's lines, and the posts of replies and narrations. The turns of a branch are
        shown by the messages that they were copied from. Turns that left the story for good don't
        count.
        """
        ...

    async def copies_of(self, turn_id: int) -> list[Turn]:
        """Return the copies of a turn in branches."""
        ...

    async def hide_turns(self, scene_id: int, turn_ids: Sequence[int] | None = None) -> int:
        """Remove these turns, by default all of them, from the story. Return their number."""
        ...

    async def clear_story(self, scene_id: int, now: datetime) -> int:
        """Remove every turn from the story for good. Return their number.

        Lines that were written until now are not heard later either.
        """
        ...

    async def reword_line(self, turn_id: int, text: str, beats: Sequence[PublicBeat]) -> None:
        """Replace the text of a person's line. Without beats, the line leaves the story."""
        ...

    async def recent_lines(self, scene_id: int, since: datetime) -> list[Turn]:
        """Return people's lines since then that no proxy bot posted again, in any state."""
        ...

    async def take_over_line(
        self, turn_id: int, message_id: int, speaker: str, text: str, beats: Sequence[PublicBeat]
    ) -> None:
        """Give a person's line the message that a proxy bot posted for it.

        The replaced message is remembered, so that it is not heard again.
        """
        ...

    # Takes

    async def keep_take(self, turn_id: int, beats: Sequence[Beat], raw: str, seed: int) -> Turn:
        """Store a take and make it the current one. The turn stays owed until it is delivered."""
        ...

    async def settle(self, turn_id: int) -> Turn:
        """Mark a turn done: its take was delivered."""
        ...

    async def fail(self, turn_id: int, fault: str, *, discard_take: bool = False) -> Turn:
        """Mark a turn failed, with the sentence shown to people.

        If the turn had an earlier take, that one is current again and the turn is done. With
        `discard_take`, the take that could not be delivered is deleted.
        """
        ...

    async def rethink(self, turn_id: int) -> Turn:
        """Mark a failed turn owed again. An owed turn does not change."""
        ...

    async def retake(self, turn_id: int, *, lengthen: bool = False) -> Turn:
        """Mark a done reply owed again, for a new take.

        With `lengthen`, the new take continues the current one. Earlier takes stay stored,
        but the turn has no current take meanwhile.
        """
        ...

    async def give_up(self, turn_ids: Sequence[int]) -> None:
        """Mark turns no longer owed. They leave the story, or are done with their earlier take."""
        ...

    async def discard_take(self, turn_id: int, take_id: int) -> None:
        """Delete a take that is not the current one."""
        ...

    async def choose_take(self, turn_id: int, take_id: int) -> Turn:
        """Make this take of a done turn the current one."""
        ...

    async def rewrite(
        self,
        turn_id: int,
        beats: Sequence[Beat],
        text: str,
        author_id: int,
        destinations: Sequence[Destination | None] = (),
    ) -> Turn:
        """Store a take that a person wrote and make it the current one."""
        ...

    async def save_destinations(
        self, take_id: int, destinations: Sequence[Destination | None]
    ) -> None:
        """Store the destinations of a take's private beats, one entry for each beat."""
        ...

    async def mark_posts_outdated(self, turn_id: int) -> None:
        """Store that a turn's posts do not show its take, so that it is posted again."""
        ...

    async def undo(self, scene_id: int, turn_ids: Sequence[int], now: datetime) -> list[Turn]:
        """Remove these turns from the story together, so that `restore` can bring them back.

        Turns that are not done are removed for good. Return the turns that can come back.
        """
        ...

    async def last_undone(self, scene_id: int) -> int | None:
        """Return the moment of the latest undo that was not restored.

        The moment is in microseconds since 1970.
        """
        ...

    async def restore(self, scene_id: int, moment: int) -> list[Turn]:
        """Bring back and return the turns that were undone together at that moment."""
        ...

    async def find_outdated_turns(self) -> list[Turn]:
        """Return the turns of scenes under way whose posts are out of date.

        The program stopped before it could show another take, or that a turn was undone.
        """
        ...

    # Notes

    async def add_note(self, scene_id: int, note: NewNote, now: datetime) -> Note:
        """Store a game master's note."""
        ...

    async def notes(self, scene_id: int) -> list[Note]:
        """Return a scene's notes, the oldest first."""
        ...

    async def remove_note(self, note_id: int) -> None:
        """Delete a note."""
        ...


class Delivery(Protocol):
    """Shows a scene to its people. Methods raise PostingError if Discord rejects a post."""

    def show_thinking(self, scene: Scene, turn: Turn) -> AbstractAsyncContextManager[None]:
        """Return a context during which people see that the character is about to speak."""
        ...

    async def progress(self, scene: Scene, turn: Turn, beats: tuple[PublicBeat, ...]) -> None:
        """Accept the public beats that are final so far. Cheap; may show them later."""
        ...

    async def deliver(self, scene: Scene, turn: Turn, take: Take) -> None:
        """Post a finished turn and the beats that the reveal policy releases. Idempotent."""
        ...

    async def withdraw(self, scene: Scene, turn: Turn) -> None:
        """Remove the posts of a reply that will not be finished. Show the turn's take if any."""
        ...

    async def remove_posts(self, scene: Scene, turn: Turn) -> None:
        """Delete everything that shows a turn, after one of its messages was deleted."""
        ...

    async def cover(self, scene: Scene, turn: Turn) -> None:
        """Mark a reply as removed from the story. Its posts stay."""
        ...

    async def fail(self, scene: Scene, turn: Turn, sentence: str) -> None:
        """Report a failed turn in the channel, with a way to try again."""
        ...

    async def show_thoughts(self, scene: Scene, turn: Turn, beats: tuple[PrivateBeat, ...]) -> None:
        """Show the thoughts of a reply without words to those who see them by `scene.reveal`.

        Called after the failure was reported.
        """
        ...

    async def announce(self, scene: Scene, notice: Notice) -> None:
        """Show a notice in the channel, with its remedy in the interface's words."""
        ...
