"""The turns that a store keeps: people's lines, owed replies, and reading a story."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from bot.scenes.turn import TurnKind
from bot.scenes.turn_selection import WHOLE_STORY, TurnSelection

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from bot.her.beats import PublicBeat
    from bot.scenes.posts import ShownMessage
    from bot.scenes.turn import NewLine, Turn


class TurnRecords(Protocol):
    """Stores and reads the turns of scenes, as part of a `SceneStore`."""

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
        """Store an owed turn: a reply of the character, or a narration.

        Return the existing turn if the character owes it already.
        """
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

    async def find_shown_messages(self, scene_id: int, most: int) -> list[ShownMessage]:
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
        """Remove these turns, by default all, from the story for good. Return their number."""
        ...

    async def clear_story(self, scene_id: int, now: datetime) -> int:
        """Remove every turn from the story for good. Return their number.

        Lines that were written until now are not heard later either.
        """
        ...

    async def reword_line(self, turn_id: int, text: str, beats: Sequence[PublicBeat]) -> None:
        """Replace the text of a person's line. The old text is not kept.

        Without beats, the line leaves the story.
        """
        ...

    async def recent_lines(self, scene_id: int, since: datetime) -> list[Turn]:
        """Return people's lines since then that no proxy bot posted again, in any state."""
        ...

    async def take_over_line(
        self, turn_id: int, message_id: int, speaker: str, text: str, beats: Sequence[PublicBeat]
    ) -> None:
        """Give a person's line, and its copies in branches, the words of a proxy bot's post.

        The line has the post's message afterwards. The replaced message is remembered, so that it
        is not heard again.
        """
        ...
