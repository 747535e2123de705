"""Runs on which the judgement waits, because a closer and an opener round them may have changed places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.her.beats import BeatKind
from bot.her.secret import Secret

if TYPE_CHECKING:
    from bot.her.beats import PrivateKind
    from bot.her.run import Run
    from bot.her.script import Script
    from bot.her.tags import Family, Tag


@dataclass(frozen=True, slots=True)
class Stray:
    """A private closer that had nothing to close, directly before a run; no `families`: there was none."""

    families: frozenset[Family] = frozenset()
    lone: bool = False
    """Whether nothing stood before it that it could have closed, so that an opener was meant."""

    def may_belong_to(self, opener: Tag) -> bool:
        """Whether the closer and the `opener` behind the run are of one family and may have changed places."""
        return opener.may_be(*self.families)


class Suspense:
    """Keeps such runs, and the thoughts between them, in order until it is known whether the thoughts are closed."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._kept: list[Run | Secret] = []

    def __bool__(self) -> bool:
        return bool(self._kept)

    def keep(self, item: Run | Secret) -> None:
        """Take the next run or thought."""
        self._kept.append(item)

    def resolve(self, *, public: bool, kind: PrivateKind = BeatKind.THOUGHT) -> None:
        """Write everything that is kept: the runs for everyone if `public`, or else as `kind`."""
        for item in self._kept:
            if isinstance(item, Secret):
                self._script.add(item.kind, item.text)
            elif public:
                item.publish(closed=False)
            else:
                item.withhold(kind)
        self._kept.clear()
