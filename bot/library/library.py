"""The library: finds scenarios by what people call them, and the pictures of their characters."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from rapidfuzz import fuzz

from bot.errors import NameNotFound, ScenarioError
from bot.library.name_matching import nearest, normal
from bot.library.pictures import square_png
from bot.library.scenario_files import Shelves, stamp

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from bot.library.scenario import Scenario
    from bot.library.scenario_files import Stamp

Face: TypeAlias = str | bytes
"""A character's picture: a public https address, or the bytes of a square PNG."""

_log = logging.getLogger(__name__)
_ALIKE = 75  # of 100, from which on a title is near enough to what was typed


@dataclass(frozen=True, slots=True)
class Summary:
    """A scenario as lists show it."""

    id: str
    title: str
    book: str
    summary: str
    characters: tuple[str, ...]


class Library:
    """The scenarios of these folders. Where two folders have the same id, the earlier folder's counts.

    Its methods read files, so they are for `asyncio.to_thread`; they may be called from several threads at once.
    """

    def __init__(self, folders: Iterable[Path]) -> None:
        self._shelves = Shelves(folders)
        self._faces: dict[Path, tuple[Stamp, bytes]] = {}

    @property
    def faults(self) -> list[str]:
        """What is wrong with the library's files, a sentence each. The others can be played all the same."""
        return self._shelves.catalogue().faults

    def scenario(self, name: str) -> Scenario:
        """Return the scenario of that id or title.

        Raises UnknownName, naming the nearest, and ScenarioError where it is there and broken.
        """
        catalogue = self._shelves.catalogue()
        scenarios = [scenario for scenario, _ in catalogue.scenarios.values()]
        for scenario in scenarios:
            if _loose(name) in (_loose(scenario.id), _loose(scenario.title)):
                return scenario
        if broken := catalogue.broken.get(name):
            raise broken
        known = {spelling: each.id for each in scenarios for spelling in (each.id, each.title)}
        near = list(dict.fromkeys(known[spelling] for spelling in nearest(name, known)))
        listed = ", ".join(near or sorted(catalogue.scenarios)[:10]) or "none, the library is empty"
        raise NameNotFound(
            f"No scenario is called “{name[:80]}”; {'the nearest' if near else 'there'} are: {listed}."
        )

    def summaries(self) -> list[Summary]:
        """Return every scenario that can be played, by title."""
        found = [_summary(scenario) for scenario, _ in self._shelves.catalogue().scenarios.values()]
        return sorted(found, key=lambda one: (normal(one.title), one.id))

    def matching(self, text: str, limit: int = 25) -> list[Summary]:
        """Return the scenarios that `text` may be the beginning or a part of, likeliest first, at most `limit`."""
        typed = _loose(text)
        ranked = [(_rank(typed, one), one) for one in self.summaries()]
        found = sorted(
            (pair for pair in ranked if pair[0] is not None), key=lambda pair: pair[0] or 0
        )
        return [one for _, one in found][:limit]

    def face(self, scenario_id: str, character: str) -> Face | None:
        """Return the picture of a character; None where it has none, or a broken one, which is logged."""
        held = self._shelves.catalogue().scenarios.get(scenario_id)
        faces = {each.name: each.face for each in held[0].characters} if held else {}
        if held is None or (face := faces.get(character)) is None:
            return None
        if face.startswith("https://"):
            return face
        try:
            return self._picture(held[1].picture(face))
        except (ScenarioError, OSError) as error:
            _log.warning("%s is shown without a face. %s", character, error)
            return None

    def _picture(self, path: Path) -> bytes:
        now = stamp(path)
        if (known := self._faces.get(path)) is None or known[0] != now:
            known = self._faces[path] = (now, square_png(path))
        return known[1]


def _loose(name: str) -> str:
    return normal(name.replace("-", " "))


def _summary(scenario: Scenario) -> Summary:
    names = tuple(character.name for character in scenario.characters)
    return Summary(scenario.id, scenario.title, scenario.book, scenario.summary, names)


def _rank(typed: str, one: Summary) -> int | None:
    """How unlikely it is that this scenario was meant; None where it was not."""
    title, book = _loose(one.title), _loose(one.book)
    if title.startswith(typed) or _loose(one.id).startswith(typed):
        return 0
    if typed in title or typed in book:
        return 1
    if any(typed in _loose(name) for name in one.characters):
        return 2
    return 3 if fuzz.partial_ratio(typed, f"{title} {book}") >= _ALIKE else None
