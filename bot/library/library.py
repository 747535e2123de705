"""The library finds scenarios and the pictures of their characters."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from rapidfuzz import fuzz

from bot.errors import NameNotFound, ScenarioError
from bot.library.name_matching import find_nearest
from bot.library.normalise import normalise
from bot.library.pictures import square_png
from bot.library.scenario_files import ScenarioIndex, file_version

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from bot.library.scenario import Scenario
    from bot.library.scenario_files import FileVersion

Face: TypeAlias = str | bytes
"""A character's picture: a public https address, or the bytes of a square PNG."""

_log = logging.getLogger(__name__)
_ALIKE = 75  # lowest similarity, from 0 to 100, for a title to match the typed text


@dataclass(frozen=True, slots=True)
class Summary:
    """A scenario's entry in lists."""

    id: str
    title: str
    book: str
    summary: str
    characters: tuple[str, ...]


class Library:
    """The scenarios in these folders. If two folders have the same id, the earlier folder wins.

    The methods read files, so call them with `asyncio.to_thread`. They are safe to call from
    several threads.
    """

    def __init__(self, folders: Iterable[Path]) -> None:
        self._index = ScenarioIndex(folders)
        self._faces: dict[Path, tuple[FileVersion, bytes]] = {}

    @property
    def faults(self) -> list[str]:
        """All faults of the library's files, one sentence each.

        Scenarios without faults stay playable.
        """
        return self._index.scan().faults

    def scenario(self, name: str) -> Scenario:
        """Return the scenario with that id or title.

        Raise NameNotFound, with the nearest names, if it is missing. Raise ScenarioError if its
        file has faults.
        """
        snapshot = self._index.scan()
        scenarios = [scenario for scenario, _ in snapshot.scenarios.values()]
        for scenario in scenarios:
            if _normalise_title(name) in (
                _normalise_title(scenario.id),
                _normalise_title(scenario.title),
            ):
                return scenario
        if broken := snapshot.broken.get(name):
            raise broken
        known = {spelling: each.id for each in scenarios for spelling in (each.id, each.title)}
        near = list(dict.fromkeys(known[spelling] for spelling in find_nearest(name, known)))
        if not known:
            raise NameNotFound(f"There is no scenario “{name[:80]}”. The library is empty.")
        listed = ", ".join(near or sorted(snapshot.scenarios)[:10])
        raise NameNotFound(
            f"There is no scenario “{name[:80]}”. {'Nearest' if near else 'Available'}: {listed}."
        )

    def summaries(self) -> list[Summary]:
        """Return every playable scenario, sorted by title."""
        found = [_summarise(scenario) for scenario, _ in self._index.scan().scenarios.values()]
        return sorted(found, key=lambda one: (normalise(one.title), one.id))

    def search(self, text: str, limit: int = 25) -> list[Summary]:
        """Return at most `limit` scenarios that match `text`, best first.

        Compares ids, titles, books and characters.
        """
        typed = _normalise_title(text)
        ranked = [(_rank(typed, one), one) for one in self.summaries()]
        found = sorted(
            (pair for pair in ranked if pair[0] is not None), key=lambda pair: pair[0] or 0
        )
        return [one for _, one in found][:limit]

    def face(self, scenario_id: str, character: str) -> Face | None:
        """Return a character's picture, or None if it has no picture. Log a broken picture.

        Every reply calls this. It looks at the scenario's own file and the picture only.
        """
        indexed = self._index.find(scenario_id)
        if indexed is None:
            return None
        scenario, file = indexed
        faces = {each.name: each.face for each in scenario.characters}
        if (face := faces.get(character)) is None:
            return None
        if face.startswith("https://"):
            return face
        try:
            return self._picture(file.picture(face))
        except (ScenarioError, OSError) as error:
            _log.warning("%s is shown without a picture. %s", character, error)
            return None

    def _picture(self, path: Path) -> bytes:
        version = file_version(path)
        if (known := self._faces.get(path)) is None or known[0] != version:
            known = self._faces[path] = (version, square_png(path))
        return known[1]


def _normalise_title(name: str) -> str:
    return normalise(name.replace("-", " "))


def _summarise(scenario: Scenario) -> Summary:
    names = tuple(character.name for character in scenario.characters)
    return Summary(scenario.id, scenario.title, scenario.book, scenario.summary, names)


def _rank(typed: str, one: Summary) -> int | None:
    """Return how unlikely this scenario is meant by `typed`, or None if it doesn't match."""
    title = _normalise_title(one.title)
    book = _normalise_title(one.book)
    if title.startswith(typed) or _normalise_title(one.id).startswith(typed):
        return 0
    if typed in title or typed in book:
        return 1
    if any(typed in _normalise_title(name) for name in one.characters):
        return 2
    return 3 if fuzz.partial_ratio(typed, f"{title} {book}") >= _ALIKE else None
