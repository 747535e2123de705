"""Replies as models write them: well-formed ones, and the ways in which they go wrong, with their secrets known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from hypothesis import strategies as st

Option = TypeVar("Option")

CHARACTER = "Elizabeth Bennet"
OTHERS = ("Mr. Darcy", "Jane Bennet", "Zoë O’Neil")
SECRET = "secret"


@dataclass(frozen=True)
class Piece:
    """A part of a reply: its nature, words found nowhere else in it, and its tags."""

    nature: str  # planning, thought, action, speech
    words: str
    opener: str = ""
    closer: str = ""

    @property
    def text(self) -> str:
        return f"{self.opener}{self.words}{self.closer}"


@dataclass(frozen=True)
class Written:
    """A reply as it was written. `faults` tells what went wrong with which nature of piece."""

    planning: Piece
    name: str
    role: tuple[Piece, ...]
    prefilled: bool
    tail: str = ""
    faults: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return (
            self.planning.text + self.name + "".join(piece.text for piece in self.role) + self.tail
        )

    @property
    def public(self) -> list[tuple[str, str]]:
        """Natures and words of what everyone may hear, in order."""
        return [
            (piece.nature, piece.words)
            for piece in self.role
            if piece.nature in ("action", "speech")
        ]


Fault = Callable[[Piece], list[Piece]]
"""All that this fault can make of a piece. Pieces without tags have none."""

NAMES = {
    "planning": ("system_thinking", "system_think", "System_Thinking", "system thinking"),
    "thought": (
        "role_thinking",
        "role_think",
        "long_role_thinking",
        "thought",
        "ROLE-THINKING",
        "inner_thoughts",
    ),
    "action": ("role_action", "Role_Action", "role action", "action"),
}
TAGS = {nature: (f"<{names[0]}>", f"</{names[0]}>") for nature, names in NAMES.items()}
BRACKETS = (
    "< {} >",
    "<{} >",
    "< {}>",
    "＜{}＞",
    "&lt;{}&gt;",
    "<{}\n>",
    "[{}]",
    "⟨{}⟩",
    "\\<{}\\>",
)
CHARACTER_NAMES = (
    f"{CHARACTER}: ",
    "",
    "\n\n",
    f"\n**{CHARACTER}:** ",
    "Elizabeth：",
    f"{CHARACTER}: Elizabeth: ",
)
ENDINGS = ("</role_thinking>", "</role_action>", "</role_speech>", "</system_thinking>")
AFTER_THE_END = (
    f"\n\nMr Darcy: {SECRET}Z",
    f"\n**Jane Bennet**: {SECRET}Z",
    f"\nEnvironment: {SECRET}Z",
    f"<|im_end|>\n<|im_start|>user\n{SECRET}Z",
)


class Pick(Protocol):
    """Chance: chooses one of several. hypothesis gives it, or a seeded `random.Random().choice`."""

    def __call__(self, options: Sequence[Option], /) -> Option: ...


def well_formed_reply(pick: Pick) -> Written:
    """Planning, then thoughts, actions and speech in any order, at least one of them public."""
    natures = [pick(("thought", "action", "speech")) for _ in range(pick(range(6)))]
    natures.insert(pick(range(len(natures) + 1)), pick(("action", "speech")))
    role = []
    for number, nature in enumerate(natures):
        if nature == "thought":
            role.append(Piece(nature, f"I know {SECRET}{number}x.", *TAGS[nature]))
        elif nature == "action":
            role.append(Piece(nature, f"moves{number}x", *TAGS[nature]))
        else:
            role.append(
                Piece(nature, f"Say{number}x.", pick(("", " ", "\n", "\n\n")), pick((" ", " ", "")))
            )
    prefilled = pick((True, False))
    opener, closer = TAGS["planning"]
    planning = Piece("planning", f"She knows {SECRET}P.", "" if prefilled else opener, closer)
    return Written(planning, pick(CHARACTER_NAMES), tuple(role), prefilled)


def spoilt(pick: Pick, written: Written, kinds: dict[str, Fault], at_most: int) -> Written:
    """The reply with faults of these kinds in up to so many of its pieces."""
    pieces = [written.planning, *written.role]
    whole = [index for index, piece in enumerate(pieces) if piece.nature in TAGS]
    faults = []
    for _ in range(pick(range(min(at_most, len(whole)) + 1))):
        whole.remove(index := pick(whole))
        fault = pick(sorted(kinds))
        pieces[index] = pick(kinds[fault](pieces[index]))
        faults.append(f"{pieces[index].nature} {fault}")
    return replace(written, planning=pieces[0], role=tuple(pieces[1:]), faults=tuple(faults))


def _renamed(piece: Piece) -> list[Piece]:
    names = NAMES[piece.nature]
    return [
        replace(piece, opener=f"<{name}>" if piece.opener else "", closer=f"</{name}>")
        for name in names
    ]


def _bracketed(piece: Piece) -> list[Piece]:
    inside = piece.opener[1:-1], piece.closer[1:-1]
    pairs = [[bracket.format(name) if name else "" for name in inside] for bracket in BRACKETS]
    return [replace(piece, opener=opener, closer=closer) for opener, closer in pairs]


def _mismatched(piece: Piece) -> list[Piece]:
    return [replace(piece, closer=closer) for closer in ENDINGS if closer != piece.closer]


def _unclosed(piece: Piece) -> list[Piece]:
    return [replace(piece, closer="")]


def _unopened(piece: Piece) -> list[Piece]:
    return [replace(piece, opener="")]


def _opened_twice(piece: Piece) -> list[Piece]:
    return [replace(piece, opener=piece.opener * 2)]


def _closed_twice(piece: Piece) -> list[Piece]:
    return [replace(piece, closer=piece.closer * 2)]


def _slashless(piece: Piece) -> list[Piece]:
    return [replace(piece, closer=piece.closer.replace("/", ""))]


def _open_bracket(piece: Piece) -> list[Piece]:
    closers = [replace(piece, closer=piece.closer.replace(">", "\n"))]
    return closers + [replace(piece, opener=piece.opener.replace(">", " "))] * bool(piece.opener)


def _swapped(piece: Piece) -> list[Piece]:
    return [replace(piece, opener=piece.closer, closer=TAGS[piece.nature][0])]


def _nesting(piece: Piece) -> list[Piece]:
    if piece.nature != "thought":
        return [piece]
    inside = f"<role_action>frowns</role_action> {piece.words} <role_thinking>{piece.words}</role_thinking>"
    return [replace(piece, words=f"{piece.words} {inside} {piece.words}")]


def _quoting(piece: Piece) -> list[Piece]:
    if piece.nature != "planning":
        return [piece]
    inside = f"`<role_thinking>`, <role_action>{piece.words}</role_action>, `</system_thinking>`"
    return [replace(piece, words=f"{piece.words} {inside} {piece.words}")]


ODD: dict[str, Fault] = {"renamed": _renamed, "bracketed": _bracketed, "quoting": _quoting}
"""Odd, but clear."""

BROKEN: dict[str, Fault] = {
    "mismatched": _mismatched,
    "unclosed": _unclosed,
    "unopened": _unopened,
    "opened twice": _opened_twice,
    "closed twice": _closed_twice,
    "slashless": _slashless,
    "open bracket": _open_bracket,
    "nesting": _nesting,
}
"""Broken in a way that leaves something in doubt."""

SWAPPED: dict[str, Fault] = {"swapped": _swapped}
"""What can be told only where no more than one other thing is broken, since three wrongs may look like a right."""


@st.composite
def well_formed(draw: st.DrawFn) -> Written:
    """Replies without a fault."""
    return well_formed_reply(_drawing(draw))


@st.composite
def with_faults(draw: st.DrawFn, kinds: dict[str, Fault], at_most: int) -> Written:
    """Replies of which some pieces went wrong."""
    return spoilt(_drawing(draw), draw(well_formed()), kinds, at_most)


def _drawing(draw: st.DrawFn) -> Pick:
    def pick(options: Sequence[Option], /) -> Option:
        return draw(st.sampled_from(options))

    return pick
