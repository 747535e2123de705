"""Who a line belongs to: names at the beginning of a line, compared as people write them.

Names are equal when they are so without case, accents, dots, apostrophes, spaces and markup: `**Mr Bennet**:` is
Mr. Bennet's. A part of a name counts too: the first or the last word, without titles. Where several people answer to
the same label the order is: the character's full name or alias, another's full name, a part of the character's name,
a part of another's.
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
        "mr mrs ms miss mister dr doctor sir lady lord madam madame monsieur mme mlle prof professor captain capt"
        " colonel col major general gen king queen prince princess count countess duke duchess baron baroness saint st"
        " uncle aunt father mother brother sister old young the of de la le van von and a an",
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
    """Whose line it is."""

    OWN = auto()
    OTHER = auto()
    PLAIN = auto()
    UNDECIDED = auto()


@dataclass(frozen=True, slots=True)
class Label:
    """What a line begins with: whose it is, how long the label is, and an opening `*` that has to stay."""

    voice: LabelOwner
    length: int = 0
    kept: str = ""


_PLAIN = Label(LabelOwner.PLAIN)
_UNDECIDED = Label(LabelOwner.UNDECIDED)


def normalise_name(name: str) -> str:
    """Return `name` as it is compared: letters and digits only, or, where it has none, the name without spaces."""
    folded = unicodedata.normalize("NFKD", name).casefold()
    kept = "".join(char for char in folded if char.isalnum())
    return kept or "".join(
        char for char in folded if not char.isspace() and unicodedata.category(char) != "Cf"
    )


class Speakers:
    """The character whose reply is read, and the others who must not speak in it."""

    def __init__(
        self, character: str, others: tuple[str, ...] = (), aliases: tuple[str, ...] = ()
    ) -> None:
        parts = dict.fromkeys(_parts((*others, *NARRATORS)), LabelOwner.OTHER)
        parts |= dict.fromkeys(_parts((character, *aliases)), LabelOwner.OWN)
        full = dict.fromkeys(map(normalise_name, (*others, *NARRATORS)), LabelOwner.OTHER)
        full |= dict.fromkeys(map(normalise_name, (character, *aliases)), LabelOwner.OWN)
        self._voices = {name: voice for name, voice in (parts | full).items() if name}

    def who(self, name: str) -> LabelOwner:
        """Return whose name it is; PLAIN where it is nobody's."""
        return self._voices.get(normalise_name(name), LabelOwner.PLAIN)

    def label(self, text: str, *, final: bool) -> Label:
        """Read the label at the beginning of `text`, which begins a line; leading space and blank lines are allowed.

        A heading (`===Conversation Start===`) counts as another's. UNDECIDED only where `text` may go on (not `final`).
        """
        lead = len(text) - len(text.lstrip())
        line = _first_line(text[lead:])
        ended = final or lead + len(line) < len(text) or len(line) >= _LONGEST_LABEL
        if not line:
            return _PLAIN if final else _UNDECIDED
        if _HEADING.match(line):
            return Label(LabelOwner.OTHER)
        if line[0] in _QUOTES or _ORNAMENT.match(line):
            return _PLAIN
        for colon in _COLON.finditer(line):
            voice = self._voice_of(line[: colon.start()])
            if voice is not LabelOwner.PLAIN:
                return _cut(line, colon, lead, voice, ended=ended)
        return _PLAIN if ended or not self._may_be_label(line) else _UNDECIDED

    def _voice_of(self, head: str) -> LabelOwner:
        """Whose name `head` is, perhaps with a stage direction behind it: `Jane (softly)`."""
        voice = self.who(head)
        return self.who(_ASIDE.sub("", head)) if voice is LabelOwner.PLAIN else voice

    def _may_be_label(self, line: str) -> bool:
        if set(line) <= set("= ") or self._begins_a_name(normalise_name(line)):
            return True
        bare = _ASIDE_BEGUN.sub("", _ASIDE.sub("", line))
        return not any(map(str.isalnum, line)) or (
            bare != line and normalise_name(bare) in self._voices
        )

    def _begins_a_name(self, beginning: str) -> bool:
        return any(name.startswith(beginning) for name in self._voices)


def _cut(line: str, colon: re.Match[str], lead: int, voice: LabelOwner, *, ended: bool) -> Label:
    """Measure the label that ends with `colon`, markup round it included."""
    head, rest = line[: colon.start()], line[colon.end() :]
    mark = _MARK.match(head)
    if voice is LabelOwner.OTHER or mark is None or mark.group(1) in head[mark.end() :]:
        return Label(voice, lead + colon.end())
    closing = mark.group(1)
    if rest.startswith(closing):
        return Label(voice, lead + colon.end() + len(closing))
    if not ended and closing.startswith(rest):
        return _UNDECIDED
    return Label(voice, lead + colon.end(), kept=closing)


def _first_line(text: str) -> str:
    return re.split(f"[{LINE_BREAKS}]", text[:_LONGEST_LABEL], maxsplit=1)[0]


def _parts(names: tuple[str, ...]) -> list[str]:
    """The keys by which people call those of `names` that have several words: without title, first word, last word."""
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
