"""Replies as models write them: well-formed ones, and the ways in which they go wrong, with their secrets known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from hypothesis import strategies as st

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
        return self.planning.text + self.name + "".join(piece.text for piece in self.role) + self.tail

    @property
    def public(self) -> list[tuple[str, str]]:
        """Natures and words of what everyone may hear, in order."""
        return [(piece.nature, piece.words) for piece in self.role if piece.nature in ("action", "speech")]


Fault = Callable[[st.DrawFn, Piece], Piece]
NAMES = {
    "planning": ("system_thinking", "system_think", "System_Thinking", "system thinking"),
    "thought": ("role_thinking", "role_think", "long_role_thinking", "thought", "ROLE-THINKING", "inner_thoughts"),
    "action": ("role_action", "Role_Action", "role action", "action"),
}
TAGS = {nature: (f"<{names[0]}>", f"</{names[0]}>") for nature, names in NAMES.items()}
BRACKETS = ("< {} >", "<{} >", "< {}>", "＜{}＞", "&lt;{}&gt;", "<{}\n>", "[{}]", "⟨{}⟩", "\\<{}\\>")
CHARACTER_NAMES = (f"{CHARACTER}: ", "", "\n\n", f"\n**{CHARACTER}:** ", "Elizabeth：", f"{CHARACTER}: Elizabeth: ")
ENDINGS = ("</role_thinking>", "</role_action>", "</role_speech>", "</system_thinking>")
AFTER_THE_END = (
    f"\n\nMr Darcy: {SECRET}Z",
    f"\n**Jane Bennet**: {SECRET}Z",
    f"\nEnvironment: {SECRET}Z",
    f"<|im_end|>\n<|im_start|>user\n{SECRET}Z",
)


@st.composite
def well_formed(draw: st.DrawFn) -> Written:
    """Planning, then thoughts, actions and speech in any order, at least one of them public."""
    natures = draw(st.lists(st.sampled_from(("thought", "action", "speech")), min_size=0, max_size=5))
    natures.insert(draw(st.integers(0, len(natures))), draw(st.sampled_from(("action", "speech"))))
    role = []
    for number, nature in enumerate(natures):
        if nature == "thought":
            role.append(Piece(nature, f"I know {SECRET}{number}x.", *TAGS[nature]))
        elif nature == "action":
            role.append(Piece(nature, f"moves{number}x", *TAGS[nature]))
        else:
            role.append(Piece(nature, f"Say{number}x.", draw(st.sampled_from(("", " ", "\n", "\n\n"))), " "))
    prefilled = draw(st.booleans())
    opener, closer = TAGS["planning"]
    planning = Piece("planning", f"She knows {SECRET}P.", "" if prefilled else opener, closer)
    return Written(planning, draw(st.sampled_from(CHARACTER_NAMES)), tuple(role), prefilled)


def _renamed(draw: st.DrawFn, piece: Piece) -> Piece:
    name = draw(st.sampled_from(NAMES[piece.nature]))
    return replace(piece, opener=f"<{name}>" if piece.opener else "", closer=f"</{name}>")


def _bracketed(draw: st.DrawFn, piece: Piece) -> Piece:
    bracket = draw(st.sampled_from(BRACKETS))
    opener = bracket.format(piece.opener[1:-1]) if piece.opener else ""
    return replace(piece, opener=opener, closer=bracket.format(piece.closer[1:-1]))


def _mismatched(draw: st.DrawFn, piece: Piece) -> Piece:
    return replace(piece, closer=draw(st.sampled_from([closer for closer in ENDINGS if closer != piece.closer])))


def _unclosed(_: st.DrawFn, piece: Piece) -> Piece:
    return replace(piece, closer="")


def _unopened(_: st.DrawFn, piece: Piece) -> Piece:
    return replace(piece, opener="")


def _opened_twice(_: st.DrawFn, piece: Piece) -> Piece:
    return replace(piece, opener=piece.opener * 2)


def _closed_twice(_: st.DrawFn, piece: Piece) -> Piece:
    return replace(piece, closer=piece.closer * 2)


def _slashless(_: st.DrawFn, piece: Piece) -> Piece:
    return replace(piece, closer=piece.closer.replace("/", ""))


def _open_bracket(draw: st.DrawFn, piece: Piece) -> Piece:
    if draw(st.booleans()) and piece.opener:
        return replace(piece, opener=piece.opener.replace(">", " "))
    return replace(piece, closer=piece.closer.replace(">", "\n"))


def _swapped(_: st.DrawFn, piece: Piece) -> Piece:
    return replace(piece, opener=piece.closer, closer=TAGS[piece.nature][0])


def _nesting(_: st.DrawFn, piece: Piece) -> Piece:
    if piece.nature != "thought":
        return piece
    inside = f"<role_action>frowns</role_action> {piece.words} <role_thinking>{piece.words}</role_thinking>"
    return replace(piece, words=f"{piece.words} {inside} {piece.words}")


def _quoting(_: st.DrawFn, piece: Piece) -> Piece:
    if piece.nature != "planning":
        return piece
    inside = f"`<role_thinking>`, <role_action>{piece.words}</role_action>, `</system_thinking>`"
    return replace(piece, words=f"{piece.words} {inside} {piece.words}")


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
"""What can be told only where nothing else is broken, since two wrongs may look like a right."""


@st.composite
def with_faults(draw: st.DrawFn, kinds: dict[str, Fault], at_most: int) -> Written:
    """A well-formed reply of which some pieces went wrong."""
    written = draw(well_formed())
    pieces = [written.planning, *written.role]
    tagged = [index for index, piece in enumerate(pieces) if piece.nature in TAGS]
    faults = []
    for index in draw(st.lists(st.sampled_from(tagged), unique=True, max_size=at_most)):
        fault = draw(st.sampled_from(sorted(kinds)))
        pieces[index] = kinds[fault](draw, pieces[index])
        faults.append(f"{pieces[index].nature} {fault}")
    return replace(written, planning=pieces[0], role=tuple(pieces[1:]), faults=tuple(faults))
