"""Runs on which the judgement waits, because a closer and an opener round them may have changed places."""

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
    """A private closer that had nothing to close, directly before a run; no `families`: there was none."""

    families: frozenset[Family] = frozenset()
    lone: bool = False
    """Whether nothing stood before it that it could have closed, so that an opener was meant."""

    def may_belong_to(self, opener: Tag) -> bool:
        """Whether the closer and the `opener` behind the run are of one family and may have changed places."""
        return opener.may_be(*self.families)


class PendingSegments:
    """Keeps such runs, and the thoughts between them, in order until the thoughts tell what the runs are.

    `strict`, of the first run that is kept: every thought until a public tag or the end must be well-formed.
    Otherwise it is enough that the next one says something and is closed.
    """

    def __init__(self, script: BeatBuilder) -> None:
        self._script = script
        self._kept: list[TextSegment | PrivateBlock] = []
        self._strict = False

    def __bool__(self) -> bool:
        return bool(self._kept)

    def keep(self, run: TextSegment, *, strict: bool) -> None:
        """Take the next run."""
        self._strict |= strict
        self._kept.append(run)

    def keep_private(self, run: TextSegment) -> None:
        """Take the next run, of which only those are in doubt that come after it."""
        self._strict = True
        self._kept.append(PrivateBlock(BeatKind.THOUGHT, run.heard))

    def hear(self, secret: PrivateBlock) -> None:
        """Take what was private, and judge by it."""
        told = secret.cut or (secret.closed and bool(secret.text.strip()))
        if self._kept and not (secret.clean if self._strict else told):
            self.resolve(public=False)
        self._kept.append(secret)
        if not self._strict:
            self.resolve(public=True)

    def resolve(self, *, public: bool) -> None:
        """Write everything that is kept: the runs for everyone if `public`, or else as thoughts."""
        for item in self._kept:
            if isinstance(item, PrivateBlock):
                self._script.add(item.kind, item.text)
            elif public:
                item.publish(closed=False)
            else:
                item.withhold(BeatKind.THOUGHT)
        self._kept.clear()
        self._strict = False
