"""Recognise speaker labels (`Name:`) at the start of a line.

Case, accents, dots, apostrophes, spaces and markup don't matter: `**Mr Bennet**:` is a label of Mr.
Bennet. The first or last word of a name, without titles, counts as the name too. If a label fits
several people, the first match wins: the character's full name or alias, another full name, a part
of the character's name, a part of another name.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import Enum, auto

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
_MARK = re.compile(r"\s*([*_]{1,3})(?![*_])")
_ORNAMENT = re.compile(r"(?:[\W_]){13}")
_LONGEST_LABEL = 120


class LabelOwner(Enum):
    """The owner of a line, seen from the character that is replying."""

    OWN = auto()
    OTHER = auto()
    UNLABELLED = auto()
    UNDECIDED = auto()


@dataclass(frozen=True, slots=True)
class Label:
    """A label: its owner, its length, and an opening `*` that has to stay in the text."""

    owner: LabelOwner
    length: int = 0
    kept: str = ""


_PLAIN = Label(LabelOwner.UNLABELLED)
_UNDECIDED = Label(LabelOwner.UNDECIDED)


def normalise_name(name: str) -> str:
    """Return the letters and digits of `name` for comparison.

    A name without any, such as an emoji, is kept without its spaces.
    """
    folded = unicodedata.normalize("NFKD", name).casefold()
    kept = "".join(char for char in folded if char.isalnum())
    return kept or "".join(
        char for char in folded if not char.isspace() and unicodedata.category(char) != "Cf"
    )


class Speakers:
    """The character that is replying, and the others, who must not speak in the reply."""

    def __init__(
        self, character: str, others: tuple[str, ...] = (), aliases: tuple[str, ...] = ()
    ) -> None:
        parts = dict.fromkeys(_parts((*others, *NARRATORS)), LabelOwner.OTHER)
        parts |= dict.fromkeys(_parts((character, *aliases)), LabelOwner.OWN)
        full = dict.fromkeys(map(normalise_name, (*others, *NARRATORS)), LabelOwner.OTHER)
        full |= dict.fromkeys(map(normalise_name, (character, *aliases)), LabelOwner.OWN)
        self._owners = {name: owner for name, owner in (parts | full).items() if name}

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
        if _HEADING.match(line):
            return Label(LabelOwner.OTHER)
        if line[0] in _QUOTES or _ORNAMENT.match(line):
            return _PLAIN
        for colon in _COLON.finditer(line):
            owner = self._find_label_owner(line[: colon.start()])
            if owner is not LabelOwner.UNLABELLED:
                return _cut(line, colon, indent, owner, ended=ended)
        return _PLAIN if ended or not self._may_be_label(line) else _UNDECIDED

    def _find_label_owner(self, head: str) -> LabelOwner:
        """Return the owner of `head`, a name with an optional stage direction: `Jane (softly)`."""
        owner = self.find_owner(head)
        return self.find_owner(_ASIDE.sub("", head)) if owner is LabelOwner.UNLABELLED else owner

    def _may_be_label(self, line: str) -> bool:
        if set(line) <= set("= ") or self._begins_a_name(normalise_name(line)):
            return True
        bare = _ASIDE_BEGUN.sub("", _ASIDE.sub("", line))
        return not any(map(str.isalnum, line)) or (
            bare != line and normalise_name(bare) in self._owners
        )

    def _begins_a_name(self, beginning: str) -> bool:
        return any(name.startswith(beginning) for name in self._owners)


def _cut(line: str, colon: re.Match[str], indent: int, owner: LabelOwner, *, ended: bool) -> Label:
    """Measure the label that ends with `colon`, including its markup."""
    head, rest = line[: colon.start()], line[colon.end() :]
    mark = _MARK.match(head)
    if owner is LabelOwner.OTHER or mark is None or mark.group(1) in head[mark.end() :]:
        return Label(owner, indent + colon.end())
    closing = mark.group(1)
    if rest.startswith(closing):
        return Label(owner, indent + colon.end() + len(closing))
    if not ended and closing.startswith(rest):
        return _UNDECIDED
    return Label(owner, indent + colon.end(), kept=closing)


def _first_line(text: str) -> str:
    return re.split(f"[{LINE_BREAKS}]", text[:_LONGEST_LABEL], maxsplit=1)[0]


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
