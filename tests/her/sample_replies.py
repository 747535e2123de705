"""Sample replies, well-formed and faulty, with known secrets."""

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
class ReplyPiece:
    """A part of a reply: its kind, its tags, and words that occur only in it."""

    kind: str  # planning, thought, action, speech
    words: str
    opener: str = ""
    closer: str = ""

    @property
    def text(self) -> str:
        return f"{self.opener}{self.words}{self.closer}"


@dataclass(frozen=True)
class SampleReply:
    """The raw text of a reply in pieces. `faults` names each fault and the kind of its piece."""

    planning: ReplyPiece
    name: str
    role: tuple[ReplyPiece, ...]
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
        """The kinds and words of the public pieces, in order."""
        return [
            (piece.kind, piece.words) for piece in self.role if piece.kind in ("action", "speech")
        ]


Fault = Callable[[ReplyPiece], list[ReplyPiece]]
"""Returns every version of a piece with this fault. It takes pieces with tags only."""

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
TAGS = {kind: (f"<{names[0]}>", f"</{names[0]}>") for kind, names in NAMES.items()}
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
CLOSERS = ("</role_thinking>", "</role_action>", "</role_speech>", "</system_thinking>")
TEXT_AFTER_THE_END = (
    f"\n\nMr Darcy: {SECRET}Z",
    f"\n**Jane Bennet**: {SECRET}Z",
    f"\nEnvironment: {SECRET}Z",
    f"<|im_end|>\n<|im_start|>user\n{SECRET}Z",
)


class Choose(Protocol):
    """Chooses one of several options: hypothesis, or a seeded `random.Random().choice`."""

    def __call__(self, options: Sequence[Option], /) -> Option: ...


def choose_well_formed_reply(pick: Choose) -> SampleReply:
    """Return planning, then thoughts, actions and speech in any order, with public text."""
    kinds = [pick(("thought", "action", "speech")) for _ in range(pick(range(6)))]
    kinds.insert(pick(range(len(kinds) + 1)), pick(("action", "speech")))
    role = []
    for number, kind in enumerate(kinds):
        if kind == "thought":
            role.append(ReplyPiece(kind, f"I know {SECRET}{number}x.", *TAGS[kind]))
        elif kind == "action":
            role.append(ReplyPiece(kind, f"moves{number}x", *TAGS[kind]))
        else:
            role.append(
                ReplyPiece(
                    kind, f"Say{number}x.", pick(("", " ", "\n", "\n\n")), pick((" ", " ", ""))
                )
            )
    prefilled = pick((True, False))
    opener, closer = TAGS["planning"]
    planning = ReplyPiece("planning", f"She knows {SECRET}P.", "" if prefilled else opener, closer)
    return SampleReply(planning, pick(CHARACTER_NAMES), tuple(role), prefilled)


def add_faults(
    pick: Choose, reply: SampleReply, kinds: dict[str, Fault], at_most: int
) -> SampleReply:
    """Return the reply with faults of these kinds in at most `at_most` of its pieces."""
    pieces = [reply.planning, *reply.role]
    whole = [index for index, piece in enumerate(pieces) if piece.kind in TAGS]
    faults = []
    for _ in range(pick(range(min(at_most, len(whole)) + 1))):
        whole.remove(index := pick(whole))
        fault = pick(sorted(kinds))
        pieces[index] = pick(kinds[fault](pieces[index]))
        faults.append(f"{pieces[index].kind} {fault}")
    return replace(reply, planning=pieces[0], role=tuple(pieces[1:]), faults=tuple(faults))


def _rename(piece: ReplyPiece) -> list[ReplyPiece]:
    names = NAMES[piece.kind]
    return [
        replace(piece, opener=f"<{name}>" if piece.opener else "", closer=f"</{name}>")
        for name in names
    ]


def _change_brackets(piece: ReplyPiece) -> list[ReplyPiece]:
    inside = piece.opener[1:-1], piece.closer[1:-1]
    pairs = [[bracket.format(name) if name else "" for name in inside] for bracket in BRACKETS]
    return [replace(piece, opener=opener, closer=closer) for opener, closer in pairs]


def _mismatch_closer(piece: ReplyPiece) -> list[ReplyPiece]:
    return [replace(piece, closer=closer) for closer in CLOSERS if closer != piece.closer]


def _drop_closer(piece: ReplyPiece) -> list[ReplyPiece]:
    return [replace(piece, closer="")]


def _drop_opener(piece: ReplyPiece) -> list[ReplyPiece]:
    return [replace(piece, opener="")]


def _double_opener(piece: ReplyPiece) -> list[ReplyPiece]:
    return [replace(piece, opener=piece.opener * 2)]


def _double_closer(piece: ReplyPiece) -> list[ReplyPiece]:
    return [replace(piece, closer=piece.closer * 2)]


def _drop_slash(piece: ReplyPiece) -> list[ReplyPiece]:
    return [replace(piece, closer=piece.closer.replace("/", ""))]


def _drop_bracket(piece: ReplyPiece) -> list[ReplyPiece]:
    closers = [replace(piece, closer=piece.closer.replace(">", "\n"))]
    return closers + [replace(piece, opener=piece.opener.replace(">", " "))] * bool(piece.opener)


def _swap_tags(piece: ReplyPiece) -> list[ReplyPiece]:
    return [replace(piece, opener=piece.closer, closer=TAGS[piece.kind][0])]


def _nest_tags(piece: ReplyPiece) -> list[ReplyPiece]:
    if piece.kind != "thought":
        return [piece]
    words = piece.words
    inside = f"<role_action>frowns</role_action> {words} <role_thinking>{words}</role_thinking>"
    return [replace(piece, words=f"{words} {inside} {words}")]


def _quote_tags(piece: ReplyPiece) -> list[ReplyPiece]:
    if piece.kind != "planning":
        return [piece]
    inside = f"`<role_thinking>`, <role_action>{piece.words}</role_action>, `</system_thinking>`"
    return [replace(piece, words=f"{piece.words} {inside} {piece.words}")]


HARMLESS_FAULTS: dict[str, Fault] = {
    "renamed": _rename,
    "bracketed": _change_brackets,
    "quoting": _quote_tags,
}
"""Unusual, but unambiguous."""

DOUBTFUL_FAULTS: dict[str, Fault] = {
    "mismatched": _mismatch_closer,
    "unclosed": _drop_closer,
    "unopened": _drop_opener,
    "opened twice": _double_opener,
    "closed twice": _double_closer,
    "slashless": _drop_slash,
    "open bracket": _drop_bracket,
    "nesting": _nest_tags,
}
"""These faults leave the kind of some text in doubt."""

SWAPPED_TAGS: dict[str, Fault] = {"swapped": _swap_tags}
"""Recognisable only beside one other fault at most. With more, a reply may look well-formed."""


@st.composite
def well_formed_replies(draw: st.DrawFn) -> SampleReply:
    """Generate replies without a fault."""
    return choose_well_formed_reply(_make_choose(draw))


@st.composite
def faulty_replies(draw: st.DrawFn, kinds: dict[str, Fault], at_most: int) -> SampleReply:
    """Generate replies with faults in some pieces."""
    return add_faults(_make_choose(draw), draw(well_formed_replies()), kinds, at_most)


def _make_choose(draw: st.DrawFn) -> Choose:
    def pick(options: Sequence[Option], /) -> Option:
        return draw(st.sampled_from(options))

    return pick
