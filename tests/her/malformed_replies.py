"""Every short reply in which one thing or two are wrong: all kinds of pieces, all faults, with spaces and without."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product
from typing import TYPE_CHECKING

from tests.her.sample_replies import BROKEN, SECRET, SWAPPED, TAGS, Piece, Written

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

FAULTS = {**BROKEN, **SWAPPED}


def replies(longest: int) -> Iterator[Written]:
    """Well-formed replies of up to so many pieces after the planning, at least one of them public."""
    for length in range(1, longest + 1):
        for natures in product(("thought", "action", "speech"), repeat=length):
            if set(natures) != {"thought"}:
                for space, prefilled in product(("", " "), (True, False)):
                    yield _reply(natures, space, prefilled=prefilled)


def _reply(natures: Iterable[str], space: str, *, prefilled: bool) -> Written:
    opener, closer = TAGS["planning"]
    planning = Piece("planning", f"She knows {SECRET}P.", "" if prefilled else opener, closer)
    return Written(
        planning, "", tuple(_piece(*one, space) for one in enumerate(natures)), prefilled
    )


def _piece(number: int, nature: str, space: str) -> Piece:
    if nature == "speech":
        return Piece(nature, f"Say{number}x.", "", space)
    words = f"I know {SECRET}{number}x." if nature == "thought" else f"moves{number}x"
    return Piece(nature, words, *TAGS[nature])


def with_one_fault(longest: int) -> Iterator[tuple[Written, int, Written]]:
    """Every such reply, every place in it, and what it becomes with every fault there."""
    for written in replies(longest):
        for place in tagged(written):
            for fault, piece in spoilt(written, place):
                yield written, place, _with(written, {place: piece}, fault)


def with_two_faults(longest: int) -> Iterator[Written]:
    """Every such reply with every pair of faults in every pair of places."""
    for written in replies(longest):
        for places in combinations(tagged(written), 2):
            for first, second in product(*(list(spoilt(written, place)) for place in places)):
                yield _with(
                    written,
                    dict(zip(places, (first[1], second[1]), strict=True)),
                    first[0],
                    second[0],
                )


def tagged(written: Written) -> list[int]:
    """The places of the pieces in tags; 0 is the planning's."""
    return [place for place, piece in enumerate(pieces(written)) if piece.nature in TAGS]


def spoilt(written: Written, place: int) -> Iterator[tuple[str, Piece]]:
    """Every way in which one piece goes wrong, by name."""
    piece = pieces(written)[place]
    for name, fault in FAULTS.items():
        for bad in fault(piece):
            if bad != piece:
                yield f"{piece.nature} {name}", bad


def _with(written: Written, bad: dict[int, Piece], *faults: str) -> Written:
    planning, *role = (bad.get(place, piece) for place, piece in enumerate(pieces(written)))
    return replace(written, planning=planning, role=tuple(role), faults=faults)


def pieces(written: Written) -> tuple[Piece, ...]:
    """The planning and what comes after it."""
    return (written.planning, *written.role)
