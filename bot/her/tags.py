"""The tags of the HER language, by every name that models were seen to give them.

A name belongs to one of four families. Case, spaces, hyphens and underscores don't matter, nor do digits at the end
(`role_thinking_2`), invisible characters or full-width letters. A name nobody listed is still private where it speaks
of thinking (`<character_thoughts>`), begins like HER's own (`<role_feelings>`, `<system_notes>`) or is misspelt
(`<thnking>`): in doubt, private.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from functools import lru_cache
from typing import TypeAlias


class Family(StrEnum):
    """What a tag encloses."""

    PLANNING = "planning"
    THOUGHT = "thought"
    ACTION = "action"
    SPEECH = "speech"


PRIVATE = frozenset({Family.PLANNING, Family.THOUGHT})
PUBLIC = frozenset({Family.ACTION, Family.SPEECH})


@dataclass(frozen=True, slots=True)
class Tag:
    """An opening or a closing tag.

    `families` holds more than one only where a tag was cut short at the end of the output and could have become
    several. `system` is true for planning by its full name, which begins a round; `<think>` may stand for a thought.
    """

    families: frozenset[Family]
    closing: bool
    raw: str
    system: bool = False

    def may_be(self, *families: Family) -> bool:
        """Tell whether the tag is, or could have become, one of `families`."""
        return not self.families.isdisjoint(families)


@dataclass(frozen=True, slots=True)
class Words:
    """Text between two tags. Never empty."""

    text: str


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """A control token of the model's, spelt out: the turn ends here. `raw` is its spelling, empty where there was none.

    `cut`: the model had no room to write on, so what is open may only lack its end.
    """

    raw: str
    cut: bool = False


Token: TypeAlias = Tag | Words | TurnEnd


_ROLE = "(?:long|short|roles?|char|characters?|my|own)"
_INWARD = "(?:deep|inner|internal|self|secret|private|hidden|silent|mental)"
_OWNER = f"(?:{_ROLE}|{_INWARD})"
_THINKING = "(?:thinks?|thinkings?|thinkin|thoughts?|thoughtprocess|monologues?|monologs?)"
_ACTING = "(?:acts?|actions?|acting|gestures?)"
_SPEAKING = "(?:speech|speeches|speaks?|speaking|dialogs?|dialogues?|says?|talks?|utterances?)"
_OWNERS = re.compile(f"(?:{_OWNER}|sys|system)+")
_PLANNING = re.compile(
    f"(?:sys|system)(?:{_THINKING}|plan|planning|reasoning|analysis)"
    "|thinks?|thinkings?|thinkingprocess|thoughtprocess|reasoning|plan|planning|analysis|reflection|scratchpad"
    "|系统思考|系统思维|系统分析"
)
_THOUGHT = re.compile(
    f"{_OWNER}+(?:{_THINKING}|mind|feelings?|reflections?|voice)|thoughts?|monologues?|monologs?"
    f"|{_ROLE}*{_INWARD}{_OWNER}*(?:{_ACTING}|{_SPEAKING})"
    "|(?:角色)?(?:思考|思维|想法|心理|心声|内心)|内心独白|内心想法|内心活动|心理活动|心理描写"
)
_ACTION = re.compile(f"{_ROLE}*{_ACTING}|roles?(?:movements?|motions?)|(?:角色)?(?:动作|行动)")
_SPEECH = re.compile(
    f"{_ROLE}*{_SPEAKING}|roles?(?:words|lines?|reply|response)|(?:角色)?(?:说话|对话|台词|语言)"
)
_THINKING_WORD = re.compile(f"{_THINKING}|thinking[a-z]*")
_UNLISTED = re.compile(r"(role|system)_+[a-z]")
_SEPARATORS = re.compile(r"[\s_\-\u2010-\u2015]+")
_INVISIBLE = "\u200b-\u200f\u2060\ufeff"
_CHUNK = re.compile(rf"[\w\-\u2010-\u2015{_INVISIBLE}]+")
_GAP = re.compile(rf"[\s{_INVISIBLE}]*")
_MARKS = ("role_", "system_", "inner_", "long_role_")
_MARKED = re.compile(f"{'|'.join(_MARKS)}|[\u4e00-\u9fff]", re.IGNORECASE)
_LONGEST_CHUNK = 32
_OFTEN_MISSPELT = ("systemthinking", "rolethinking", "thinking", "thought", "thoughts")
_LIKENESS = 0.85

# What models really write, for tags that were cut short: the families that a beginning may still become.
_COMMON = {
    "systemthinking": Family.PLANNING,
    "think": Family.PLANNING,
    "thinking": Family.PLANNING,
    "rolethinking": Family.THOUGHT,
    "rolethought": Family.THOUGHT,
    "longrolethinking": Family.THOUGHT,
    "innerthought": Family.THOUGHT,
    "thought": Family.THOUGHT,
    "roleaction": Family.ACTION,
    "action": Family.ACTION,
    "rolespeech": Family.SPEECH,
    "speech": Family.SPEECH,
}


@dataclass(frozen=True, slots=True)
class TagName:
    """A tag's name: its family, where in the tag's inside it ends, and whether it is the system's planning."""

    family: Family
    end: int
    system: bool


def read_name(inside: str) -> TagName | None:
    """Return the name that `inside` (what stands between a tag's brackets, without slash) begins with, if any is HER's.

    What follows the name, such as attributes, is left alone. A name may be of several words with spaces between.
    """
    before, end = "", 0
    while chunk := _CHUNK.match(inside, end):
        name = before + chunk.group()[:_LONGEST_CHUNK]
        if family := _family(name, first=not before):
            return TagName(family, chunk.end(), _letters(name).startswith("sys"))
        if not _OWNERS.fullmatch(_letters(name)):
            return None
        before, end = name + "_", _skip_gap(inside, chunk.end())
    return None


def may_become_name(inside: str) -> bool:
    """Tell whether `inside`, which goes on beyond what is there, begins with a name of HER's or may still do so."""
    before, end = "", 0
    while chunk := _CHUNK.match(inside, end):
        name = before + chunk.group()[:_LONGEST_CHUNK]
        if chunk.end() == len(inside) and len(chunk.group()) <= _LONGEST_CHUNK:
            return True
        if _family(name, first=not before):
            return True
        if not _OWNERS.fullmatch(_letters(name)):
            return False
        before, end = name + "_", _skip_gap(inside, chunk.end())
    return end == len(inside)


def match_truncated_name(inside: str) -> frozenset[Family]:
    """Return the families of tags whose name may have begun with `inside` when the output ended in its middle."""
    beginning = _letters(inside)
    if inside and not beginning:
        return frozenset()
    families = frozenset(family for name, family in _COMMON.items() if name.startswith(beginning))
    if families or (name := read_name(inside)) is None:
        return families
    return frozenset({name.family})


def is_unambiguous(inside: str) -> bool:
    """Tell whether the name is nothing but HER's even in square brackets: `role_…`, `system_…`, or Chinese."""
    return bool(_MARKED.match(inside))


def may_become_unambiguous(inside: str) -> bool:
    """Tell whether `inside` is marked, or may become so as it goes on."""
    return is_unambiguous(inside) or any(mark.startswith(inside.casefold()) for mark in _MARKS)


@lru_cache(maxsize=1024)
def _family(name: str, *, first: bool) -> Family | None:
    """The family of a name; `first`: nothing but the name stands before its end, so that unlisted ones count too."""
    letters = _letters(name)
    if _PLANNING.fullmatch(letters):
        return Family.PLANNING
    thinks = any(_THINKING_WORD.fullmatch(word) for word in _SEPARATORS.split(_plain(name)))
    if thinks or _THOUGHT.fullmatch(letters):
        return Family.PLANNING if letters.startswith("sys") else Family.THOUGHT
    if _ACTION.fullmatch(letters):
        return Family.ACTION
    if _SPEECH.fullmatch(letters):
        return Family.SPEECH
    if any(_resembles(letters, word) for word in _OFTEN_MISSPELT):
        return Family.PLANNING if letters.startswith("sy") else Family.THOUGHT
    return _unlisted(name) if first else None


def _resembles(letters: str, word: str) -> bool:
    if len(set(word) - set(letters)) > 2 or abs(len(word) - len(letters)) > 3:
        return False
    return SequenceMatcher(None, letters, word).ratio() >= _LIKENESS


def _unlisted(chunk: str) -> Family | None:
    """The private family of a name that begins like HER's own and is none of those listed."""
    beginning = _UNLISTED.match(_plain(chunk))
    if beginning is None:
        return None
    return Family.PLANNING if beginning.group(1) == "system" else Family.THOUGHT


@lru_cache(maxsize=1024)
def _plain(text: str) -> str:
    """`text` in small letters without accents, invisible characters and digits."""
    folded = unicodedata.normalize("NFKD", text).casefold()
    return "".join(char for char in folded if unicodedata.category(char) not in ("Mn", "Cf", "Nd"))


def _letters(text: str) -> str:
    return _SEPARATORS.sub("", _plain(text))


def _skip_gap(text: str, start: int) -> int:
    gap = _GAP.match(text, start)
    return gap.end() if gap else start
