"""Finds the person's line that a proxy bot posted again under another name.

A proxy bot such as PluralKit or Tupperbox removes its tags from a person's message, posts the rest
through a webhook, and deletes the message.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable
    from collections.abc import Set as AbstractSet
    from datetime import datetime

WINDOW: Final = timedelta(seconds=30)
"""The longest time between a line and the post of a proxy bot that replaces it."""

MAX_TAGS: Final = 200
"""The most characters that a proxy bot removes from a line: PluralKit allows 100 on each side."""

_MOST_LINES = 50  # remembered lines of each scene


@dataclass(frozen=True, slots=True, repr=False)
class Content:
    """The text and the names of the files of a message. `files` is None if they are not known."""

    text: str
    files: tuple[str, ...] | None = ()


@dataclass(frozen=True, slots=True, repr=False)
class RecentLine:
    """A person's message of the last seconds, whether the scene heard it or not.

    Once a proxy bot has posted it again, `rest` is the part that is not posted yet: Tupperbox posts
    several messages for one that has several tags.
    """

    message_id: int
    author_id: int
    content: Content
    written_at: datetime
    reply_to: int | None = None  # the Discord message that it replies to
    rest: str | None = None
    withdrawn: bool = False  # it left the story because it was deleted

    @property
    def proxied(self) -> bool:
        """True if the message is the post of a proxy bot."""
        return self.rest is not None


@dataclass(slots=True)
class RecentLines:
    """The latest messages of each scene. They are only kept in memory.

    The text of a message without words in character is not stored, but may lose its parentheses
    when a proxy bot removes its tags.
    """

    _by_scene: dict[int, list[RecentLine]] = field(default_factory=dict)

    def add(self, scene_id: int, line: RecentLine) -> None:
        """Remember a line. It replaces an earlier version of the same message."""
        others = [
            one
            for one in self.lines(scene_id)
            if one.message_id != line.message_id and line.written_at - one.written_at <= 2 * WINDOW
        ]
        self._by_scene[scene_id] = [*others, line][-_MOST_LINES:]

    def lines(self, scene_id: int) -> list[RecentLine]:
        """Return the remembered lines of a scene, the oldest first."""
        return self._by_scene.get(scene_id, [])

    def find(self, scene_id: int, message_id: int) -> RecentLine | None:
        """Return the remembered line with this message, if any."""
        lines = self.lines(scene_id)
        return next((one for one in lines if one.message_id == message_id), None)

    def mark_withdrawn(self, scene_id: int, message_id: int) -> None:
        """Remember that a line left the story because its message was deleted."""
        if line := self.find(scene_id, message_id):
            self.add(scene_id, replace(line, withdrawn=True))

    def mark_proxied(self, scene_id: int, line: RecentLine, message_id: int, post: Content) -> None:
        """Remember that a proxy bot posted this line, or a part of it, in this message."""
        before = line.content.text if line.rest is None else line.rest
        rest = normalise_space(before).replace(normalise_space(post.text), "", 1)
        lines = [one for one in self.lines(scene_id) if one.message_id != line.message_id]
        proxied = replace(line, message_id=message_id, content=post, rest=rest, withdrawn=False)
        self._by_scene[scene_id] = [*lines, proxied]


def find_original(
    lines: Iterable[RecentLine], post: Content, written_at: datetime, deleted: AbstractSet[int]
) -> RecentLine | None:
    """Return the line that a proxy bot's post replaces or continues, if any.

    A line that was not posted yet and needs the shortest tags is preferred, then the earliest.
    Otherwise the post repeats a deleted post of a proxy bot, or it is another part of a line.
    """
    near = [line for line in lines if abs(written_at - line.written_at) <= WINDOW]
    fresh = [line for line in near if not line.proxied and _is_posted(line, post, deleted)]
    if fresh:
        return min(
            fresh,
            key=lambda line: (
                not line.content.text and line.content.files is None,  # could be any line
                len(line.content.text),
                line.message_id,
            ),
        )
    text = normalise_space(post.text)
    for line in near:
        if line.proxied and line.message_id in deleted and line.content == post:
            return line
    return next((line for line in near if line.rest and text and text in line.rest), None)


def normalise_space(text: str) -> str:
    """Return the text with single spaces, and none at its ends."""
    return " ".join(text.split())


def _is_posted(line: RecentLine, post: Content, deleted: AbstractSet[int]) -> bool:
    """Return whether the post is the line without a proxy bot's tags."""
    if line.content.files is not None and post.files != line.content.files:
        return False
    whole = normalise_space(line.content.text)
    part = normalise_space(post.text)
    if not whole and line.content.files is None:  # its text was not stored
        return line.message_id in deleted
    if not part and not post.files:
        return False
    return part in whole and (len(whole) - len(part) <= MAX_TAGS or _is_one_line(line, part))


def _is_one_line(line: RecentLine, part: str) -> bool:
    """Return whether the part is one line of a message with several tags."""
    lines = map(normalise_space, line.content.text.splitlines())
    return any(part in one and len(one) - len(part) <= MAX_TAGS for one in lines)
