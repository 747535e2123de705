"""Recognise speaker labels (`Name:`) at the start of a line.

Case, accents, dots, apostrophes, spaces and markup don't matter: `**Mr Bennet**:` is a label of Mr.
Bennet. The first or last word of a name, without titles, counts as the name too. If a label fits
several people, the first match wins: the character's full name or alias, another full name, a part
of the character's name, a part of another name.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache
from typing import TYPE_CHECKING

from bot.her.announcements import may_become_announcement, read_announcement

if TYPE_CHECKING:
    from collections.abc import Mapping

CHAT_ROLES = ("user", "assistant", "system", "human", "用户", "助手")
_PRIVATE_LABELS = (
    *("thinking", "thought", "thoughts", "thinking process", "thought process", "monologue"),
    *("here is my thought process", "here's my thought process", "my thought process"),
    *("here are my reasoning steps", "my reasoning", "reasoning steps"),
    *("chain of thought", "inner monologue", "internal monologue", "inner voice"),
    *(
        f"{owner} {noun}"
        for owner in ("inner", "internal", "private", "secret", "hidden", "my", "role", "system")
        for noun in ("thinking", "thought", "thoughts")
    ),
    *("思考", "想法", "心理", "心声", "内心", "心想", "心理活动", "内心独白", "内心想法"),
    *("内心活动", "思考过程"),
)
_MARKED_PRIVATE_LABELS = (
    *("planning", "plan", "analysis", "reasoning", "reflection", "scratchpad", "rationale"),
    *("internal reasoning", "character analysis", "internal"),
)
"""These count only in markup, since they are everyday words."""
_ANSWER_LABELS = (
    *("response", "answer", "final answer", "final response", "reply", "output", "speech"),
    *("dialogue", "role-play response", "roleplay response", "回答", "回复"),
    *("here is my response", "here's my response", "here is the response", "here is my reply"),
)
_PRIVATE_SUFFIXES = ("thinks", "thinking", "thought", "thoughts", "sthoughts", "innerthoughts")
NARRATORS = ("Environment", "Narrator", "环境", "旁白")
LINE_BREAKS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
COLONS = ":：﹕︰∶꞉"

_TITLES = frozenset(
    re.findall(
        r"\w+",
        "mr mrs ms miss mister dr doctor sir lady lord madam madame monsieur mme mlle prof"
        " professor captain capt colonel col major general gen king queen prince princess count"
        " countess duke duchess baron baroness saint st uncle aunt father mother brother sister"
        " old young the of de la le van von and a an",
    )
)
_COLON = re.compile(f"[{COLONS}]")
_ASIDE = re.compile(r"\s*[(（\[][^()（）\[\]]{0,60}[)）\]][\s*_]*\Z")
_ASIDE_BEGUN = re.compile(r"\s*[(（\[][^()（）\[\]]{0,60}\Z")
_QUOTES = "\"'“”‘’«»„「」『』"
_HEADING = re.compile(r"={3,}\s*[^\s=]")
_MARKUP = tuple("*_#`>({（｛")
_LINE_HEADING = re.compile(r"(?:#{1,6}\s*|[*_]{2,3}|(`{3,})\s*)([^*_`#:：]{1,80}?)\s*[*_#]*\s*\Z")
_PASSAGE_BEGUN = re.compile(r"(?:[(（\[［【][^)）\]］】]*|[*_](?![*_])[^*_]*)\Z")
_MARK = re.compile(r"\s*([*_]{1,3})(?![*_])")
_NOT_ALPHANUMERIC = re.compile(r"[\W_]+")
_ORNAMENT = re.compile(r"(?:[\W_]){13}")
_LONGEST_LABEL = 120


class LabelOwner(Enum):
    """The owner of a line, seen from the character that is replying."""

    OWN = auto()
    OTHER = auto()
    THINKING = auto()  # a label such as `Thought:`
    ANSWER = auto()  # a label such as `Response:`
    UNLABELLED = auto()
    UNDECIDED = auto()


@dataclass(frozen=True, slots=True)
class Label:
    """A label: its owner, its length, and an opening `*` that has to stay in the text."""

    owner: LabelOwner
    length: int = 0
    kept: str = ""
    is_marked: bool = False
    """True if the label is in markup, such as bold or a heading."""
    is_fence: bool = False
    """True if the label opens a code fence."""


_PLAIN = Label(LabelOwner.UNLABELLED)
_UNDECIDED = Label(LabelOwner.UNDECIDED)


def normalise_name(name: str) -> str:
    """Return the letters and digits of `name` for comparison.

    A name without any, such as an emoji, is kept without its spaces.
    """
    folded = unicodedata.normalize("NFKD", name).casefold()
    kept = _NOT_ALPHANUMERIC.sub("", folded)
    return kept or "".join(
        char for char in folded if not char.isspace() and unicodedata.category(char) != "Cf"
    )


_PRIVATE_KEYS = frozenset(map(normalise_name, _PRIVATE_LABELS))
_ANNOUNCED = (LabelOwner.THINKING, LabelOwner.ANSWER)
_HEADED = (LabelOwner.OWN, LabelOwner.OTHER, LabelOwner.THINKING, LabelOwner.ANSWER)


class Speakers:
    """The character that is replying, and the others, who must not speak in the reply."""

    def __init__(
        self, character: str, others: tuple[str, ...] = (), aliases: tuple[str, ...] = ()
    ) -> None:
        self._owners, self._marked = _name_tables(character, others, aliases)
        self._sorted = _sort_names(character, others, aliases)
        self.own_names = _list_words(character)
        """The character's name, and its first and last words without titles."""

    def find_owner(self, name: str) -> LabelOwner:
        """Return the owner of `name`, or UNLABELLED if it is unknown."""
        return self._owners.get(normalise_name(name), LabelOwner.UNLABELLED)

    def read_label(self, text: str, *, final: bool) -> Label:
        """Return the label at the start of `text`, which begins a line.

        White space and blank lines may precede it. A heading (`===Conversation Start===`) belongs
        to OTHER. The owner is only UNDECIDED if more text may follow, that is if not `final`.
        """
        indent = len(text) - len(text.lstrip())
        line = _first_line(text[indent:])
        ended = final or indent + len(line) < len(text) or len(line) >= _LONGEST_LABEL
        if not line:
            return _PLAIN if final else _UNDECIDED
        if not ended and may_become_announcement(line):
            return _UNDECIDED
        if ended and (owner := self._find_marked_owner(read_announcement(line))) in _ANNOUNCED:
            return Label(owner, indent + len(line), is_marked=True)
        if _HEADING.match(line):
            return Label(LabelOwner.OTHER)
        if line[0] in _QUOTES or _ORNAMENT.match(line):
            return _PLAIN
        heading = _LINE_HEADING.match(line) if ended else None
        if heading and (owner := self._find_marked_owner(heading.group(2))) in _HEADED:
            is_fence = bool(heading.group(1))
            if not is_fence or owner is LabelOwner.THINKING:
                length = indent + len(line)
                return Label(owner, length, is_marked=True, is_fence=is_fence)
        is_marked = line.startswith(_MARKUP)
        for colon in _COLON.finditer(line):
            head = line[: colon.start()]
            owner = self._find_marked_owner(head) if is_marked else self._find_label_owner(head)
            if owner is LabelOwner.THINKING and _PASSAGE_BEGUN.match(head):
                return self._read_passage(line, colon, indent, ended=ended)
            if owner is not LabelOwner.UNLABELLED:
                return _cut(line, colon, indent, owner, ended=ended, is_marked=is_marked)
        return _PLAIN if ended or not self._may_be_label(line) else _UNDECIDED

    @staticmethod
    def _read_passage(line: str, colon: re.Match[str], indent: int, *, ended: bool) -> Label:
        """Read a label within marks, such as `(Thinking: …)`, which `inline_actions` handles."""
        after = line[colon.end() : colon.end() + 2]
        if not ended and not after.strip("*_"):
            return _UNDECIDED
        if after.startswith(("*", "_")):  # `*Thinking:* …`
            length = len(line) - len(line[colon.end() :].lstrip("*_"))
            return Label(LabelOwner.THINKING, indent + length, is_marked=True)
        return _PLAIN

    def _find_label_owner(self, head: str) -> LabelOwner:
        """Return the owner of `head`, a name with an optional stage direction: `Jane (softly)`."""
        owner = self.find_owner(head)
        aside = _ASIDE.search(head)
        if owner is not LabelOwner.UNLABELLED or aside is None:
            return owner
        owner = self.find_owner(head[: aside.start()])
        manner = normalise_name(aside.group())
        if owner is LabelOwner.OWN and (manner in _PRIVATE_SUFFIXES or manner in _PRIVATE_KEYS):
            return LabelOwner.THINKING
        return owner

    def _find_marked_owner(self, head: str) -> LabelOwner:
        if normalise_name(head) in self._marked:
            return LabelOwner.THINKING
        return self._find_label_owner(head)

    def _may_be_label(self, line: str) -> bool:
        if set(line) <= set("= ") or self._begins_a_name(normalise_name(line)):
            return True
        bare = _ASIDE_BEGUN.sub("", _ASIDE.sub("", line))
        return not any(map(str.isalnum, line)) or (
            bare != line and normalise_name(bare) in self._owners
        )

    def _begins_a_name(self, beginning: str) -> bool:
        index = bisect_left(self._sorted, beginning)
        return index < len(self._sorted) and self._sorted[index].startswith(beginning)


@lru_cache(maxsize=256)
def _name_tables(
    character: str, others: tuple[str, ...], aliases: tuple[str, ...]
) -> tuple[Mapping[str, LabelOwner], frozenset[str]]:
    """Return the owner of each normalised name, and the private labels that need markup.

    Cached, because a character of a scene replies many times among the same names.
    """
    parts = dict.fromkeys(_parts((*others, *NARRATORS)), LabelOwner.OTHER)
    parts |= dict.fromkeys(_parts((character, *aliases)), LabelOwner.OWN)
    full = dict.fromkeys(map(normalise_name, (*others, *NARRATORS)), LabelOwner.OTHER)
    full |= dict.fromkeys(map(normalise_name, (character, *aliases)), LabelOwner.OWN)
    labels = dict.fromkeys(map(normalise_name, CHAT_ROLES), LabelOwner.OTHER)
    labels |= dict.fromkeys(map(normalise_name, _ANSWER_LABELS), LabelOwner.ANSWER)
    labels |= dict.fromkeys(map(normalise_name, _PRIVATE_LABELS), LabelOwner.THINKING)
    own = (normalise_name(name) for name in (character, *aliases, *_first_words(character)))
    labels |= {
        name + suffix: LabelOwner.THINKING
        for name in own
        for suffix in (*_PRIVATE_SUFFIXES, *(f"s{key}" for key in _PRIVATE_KEYS))
        if name
    }
    names = parts | full
    owners = {name: owner for name, owner in (labels | names).items() if name}
    marked = {normalise_name(name) for name in _MARKED_PRIVATE_LABELS} - names.keys()
    return owners, frozenset(marked)


@lru_cache(maxsize=256)
def _sort_names(
    character: str, others: tuple[str, ...], aliases: tuple[str, ...]
) -> tuple[str, ...]:
    """Return all names and labels in order, to search them for a beginning."""
    owners, marked = _name_tables(character, others, aliases)
    return tuple(sorted({*owners, *marked}))


def _cut(
    line: str, colon: re.Match[str], indent: int, owner: LabelOwner, *, ended: bool, is_marked: bool
) -> Label:
    """Measure the label that ends with `colon`, including its markup."""
    head = line[: colon.start()]
    rest = line[colon.end() :]
    mark = _MARK.match(head)
    if owner is LabelOwner.OTHER or mark is None or mark.group(1) in head[mark.end() :]:
        return Label(owner, indent + colon.end(), is_marked=is_marked)
    closing = mark.group(1)
    if rest.startswith(closing):
        return Label(owner, indent + colon.end() + len(closing), is_marked=is_marked)
    if not ended and closing.startswith(rest):
        return _UNDECIDED
    return Label(owner, indent + colon.end(), kept=closing, is_marked=is_marked)


def _first_line(text: str) -> str:
    return re.split(f"[{LINE_BREAKS}]", text[:_LONGEST_LABEL], maxsplit=1)[0]


def _first_words(name: str) -> list[str]:
    return [word for word in name.split() if normalise_name(word) not in _TITLES][:1]


def _list_words(name: str) -> tuple[str, ...]:
    core = [word for word in re.split(r"[\s·・]+", name) if normalise_name(word) not in _TITLES]
    ends = (core[0], core[-1]) if core else ()
    return tuple(dict.fromkeys(word for word in (name.strip(), *ends) if len(word) > 1))


def _parts(names: tuple[str, ...]) -> list[str]:
    """Return the normalised short forms of `names`: no titles, the first word, the last word."""
    parts: list[str] = []
    for name in names:
        words = [word for word in re.split(r"[\s·・]+", name) if word]
        core = [word for word in words if normalise_name(word) not in _TITLES]
        if len(words) > 1 and core:
            parts += [
                part
                for part in (
                    normalise_name("".join(core)),
                    normalise_name(core[0]),
                    normalise_name(core[-1]),
                )
                if len(part) > 1
            ]
    return parts
