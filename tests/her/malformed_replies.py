"""Generate every short reply with one or two faults, with and without spaces."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product
from typing import TYPE_CHECKING

from tests.her.sample_replies import (
    DOUBTFUL_FAULTS,
    SECRET,
    SWAPPED_TAGS,
    TAGS,
    ReplyPiece,
    SampleReply,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

FAULTS = {**DOUBTFUL_FAULTS, **SWAPPED_TAGS}


def generate_replies(longest: int) -> Iterator[SampleReply]:
    """Yield well-formed replies of up to `longest` pieces after the planning, with public text."""
    for length in range(1, longest + 1):
        for kinds in product(("thought", "action", "speech"), repeat=length):
            if set(kinds) != {"thought"}:
                for space, prefilled in product(("", " "), (True, False)):
                    yield _make_reply(kinds, space, prefilled=prefilled)


def _make_reply(kinds: Iterable[str], space: str, *, prefilled: bool) -> SampleReply:
    opener, closer = TAGS["planning"]
    planning = ReplyPiece("planning", f"She knows {SECRET}P.", "" if prefilled else opener, closer)
    return SampleReply(
        planning, "", tuple(_make_piece(*one, space) for one in enumerate(kinds)), prefilled
    )


def _make_piece(number: int, kind: str, space: str) -> ReplyPiece:
    if kind == "speech":
        return ReplyPiece(kind, f"Say{number}x.", "", space)
    words = f"I know {SECRET}{number}x." if kind == "thought" else f"moves{number}x"
    return ReplyPiece(kind, words, *TAGS[kind])


def generate_with_one_fault(longest: int) -> Iterator[tuple[SampleReply, int, SampleReply]]:
    """Yield each reply, the index of a piece, and the reply with a fault in that piece."""
    for reply in generate_replies(longest):
        for place in find_tagged_pieces(reply):
            for fault, piece in generate_faulty_pieces(reply, place):
                yield reply, place, _replace_pieces(reply, {place: piece}, fault)


def generate_with_two_faults(longest: int) -> Iterator[SampleReply]:
    """Yield each reply with each pair of faults in each pair of pieces."""
    for reply in generate_replies(longest):
        for places in combinations(find_tagged_pieces(reply), 2):
            for first, second in product(
                *(list(generate_faulty_pieces(reply, place)) for place in places)
            ):
                yield _replace_pieces(
                    reply,
                    dict(zip(places, (first[1], second[1]), strict=True)),
                    first[0],
                    second[0],
                )


def find_tagged_pieces(reply: SampleReply) -> list[int]:
    """Return the indices of the pieces with tags. Index 0 is the planning."""
    return [place for place, piece in enumerate(list_pieces(reply)) if piece.kind in TAGS]


def generate_faulty_pieces(reply: SampleReply, place: int) -> Iterator[tuple[str, ReplyPiece]]:
    """Yield the name and the result of each fault that one piece can have."""
    piece = list_pieces(reply)[place]
    for name, fault in FAULTS.items():
        for bad in fault(piece):
            if bad != piece:
                yield f"{piece.kind} {name}", bad


def _replace_pieces(reply: SampleReply, bad: dict[int, ReplyPiece], *faults: str) -> SampleReply:
    planning, *role = (bad.get(place, piece) for place, piece in enumerate(list_pieces(reply)))
    return replace(reply, planning=planning, role=tuple(role), faults=faults)


def list_pieces(reply: SampleReply) -> tuple[ReplyPiece, ...]:
    """Return the planning and the pieces after it."""
    return (reply.planning, *reply.role)
