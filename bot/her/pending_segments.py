"""Hold text segments that can't be judged yet, because the tags around them may be swapped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.her.beats import BeatKind
from bot.her.private_blocks import PrivateBlock

if TYPE_CHECKING:
    from bot.her.beat_builder import BeatBuilder
    from bot.her.tags import Family, Tag
    from bot.her.text_segment import TextSegment


@dataclass(frozen=True, slots=True)
class StrayCloser:
    """A private closer without an opener, directly before a segment. No families: no closer."""

    families: frozenset[Family] = frozenset()
    lone: bool = False
    """True if no text came before it. It was then meant to be an opener."""

    def may_belong_to(self, opener: Tag) -> bool:
        """Return True if the closer and the `opener` after the segment may be swapped."""
        return opener.may_be(*self.families)


class PendingSegments:
    """Holds such segments, and the thoughts between them, until the thoughts decide their kind.

    If the first segment is `strict`, every thought up to a public tag or the end must be
    well-formed. Otherwise the next thought only has to be closed and not empty.
    """

    def __init__(self, builder: BeatBuilder) -> None:
        self._builder = builder
        self._items: list[TextSegment | PrivateBlock] = []
        self._strict = False

    def __bool__(self) -> bool:
        return bool(self._items)

    def add(self, segment: TextSegment, *, strict: bool) -> None:
        """Add a segment."""
        self._strict |= strict
        self._items.append(segment)

    def add_private(self, segment: TextSegment) -> None:
        """Add a segment that is private. Only later segments are in doubt."""
        self._strict = True
        self._items.append(PrivateBlock(BeatKind.THOUGHT, segment.text))

    def add_block(self, block: PrivateBlock) -> None:
        """Add a private block and resolve the segments if it decides them."""
        is_thought = block.truncated or (block.closed and bool(block.text.strip()))
        if self._items and not (block.well_formed if self._strict else is_thought):
            self.resolve(public=False)
        self._items.append(block)
        if not self._strict:
            self.resolve(public=True)

    def resolve(self, *, public: bool) -> None:
        """Write out everything: the segments in public if `public`, else as thoughts."""
        for item in self._items:
            if isinstance(item, PrivateBlock):
                self._builder.add(item.kind, item.text)
            elif public:
                item.publish(closed=False)
            else:
                item.withhold(BeatKind.THOUGHT)
        self._items.clear()
        self._strict = False
