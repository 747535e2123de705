"""The tags of the HER language, under every name that models have been seen to use.

A name belongs to one of four families. Case, spaces, hyphens, underscores, digits at the end
(`role_thinking_2`), invisible characters and full-width letters don't matter. An unlisted name is
private if it mentions thinking (`<character_thoughts>`), begins like HER's own (`<role_feelings>`,
`<system_notes>`) or is a misspelling (`<thnking>`). In doubt, text is private.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from enum import StrEnum
from functools import lru_cache
from typing import TypeAlias


class Family(StrEnum):
    """The kind of text that a tag encloses."""

    PLANNING = "planning"
    THOUGHT = "thought"
    ACTION = "action"
    SPEECH = "speech"
    HIDDEN = "hidden"
    """Tool calls and other machine text, which is private and enters no history."""
    WRAPPER = "wrapper"
    """A wrapper such as `<answer>`. Only the tags are left out, not the text between them."""


PRIVATE = frozenset({Family.PLANNING, Family.THOUGHT})
PUBLIC = frozenset({Family.ACTION, Family.SPEECH})


@dataclass(frozen=True, slots=True)
class Tag:
    """An opening or a closing tag.

    `families` holds several only if the output ended within the tag and the tag could have become
    any of them. `system` is True if the tag names planning in full, which begins a round. `<think>`
    may also be a thought.
    """

    families: frozenset[Family]
    closing: bool
    raw: str
    system: bool = False
    is_channel: bool = False
    """True if the tag opens a channel, which ends with another control token."""

    @property
    def is_ambiguous(self) -> bool:
        """True if the tag was truncated and could have become one of several."""
        return len(self.families) > 1

    def may_be(self, *families: Family) -> bool:
        """Return True if the tag is, or could have become, one of `families`."""
        return not self.families.isdisjoint(families)


@dataclass(frozen=True, slots=True)
class Words:
    """Text between two tags. Never empty."""

    text: str


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """The end of the turn. `raw` is the control token that ended it, or empty at the stream's end.

    `truncated`: the reply hit its length limit, so an open block may lack only its end.
    """

    raw: str
    truncated: bool = False
    is_header: bool = False
    """True if the token begins the assistant's message. It ends the turn only after text."""
    closes_channel: bool = False
    """True if the token closes a channel, if one is open."""


@dataclass(frozen=True, slots=True)
class Noise:
    """Text that is never shown and means nothing, such as `<answer>` or a comment."""

    raw: str
    is_channel: bool = False
    """True if it opens the channel for the final answer, which ends any other channel."""
    begins_answer: bool = False
    """True if it is the control token before an answer, which ends any thinking."""


Token: TypeAlias = Tag | Words | TurnEnd | Noise


class NeedsMore:
    """The result of reading a tag that needs more text."""


@dataclass(frozen=True, slots=True)
class Span:
    """A tag or a control token found in a text, from `start` to `end`."""

    token: Tag | TurnEnd | Noise
    start: int
    end: int


_ROLE = "(?:long|short|roles?|char|characters?|my|own)"
_INWARD = "(?:deep|inner|internal|self|secret|private|hidden|silent|mental)"
_OWNER = f"(?:{_ROLE}|{_INWARD})"
_THINKING = "(?:thinks?|thinkings?|thinkin|thoughts?|thoughtprocess|monologues?|monologs?)"
_ACTING = "(?:acts?|actions?|acting|gestures?)"
_SPEAKING = "(?:speech|speeches|speaks?|speaking|dialogs?|dialogues?|says?|talks?|utterances?)"
_OWNERS = re.compile(f"(?:{_OWNER}|sys|system)+")
_PLANNING = re.compile(
    f"(?:sys|system)(?:{_THINKING}|plan|planning|reasoning|analysis)"
    "|thinks?|thinkings?|thinkingprocess|thoughtprocess|(?:inner|internal)?reasoning(?:content)?"
    "|plan|planning|analysis|reflections?|reflect|scratchpad|rationales?|cot|chainofthoughts?"
    "|deliberations?|introspection|brainstorm(?:ing)?|reasons?"
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
_HIDDEN = re.compile(
    "(?:tool|function)s?(?:calls?|responses?|results?|outputs?)?(?:section)?|invoke|parameters?"
    "|pythontag|systemreminder|executablecode|codeinterpreter|observation|details|meta|invokes"
)
_WRAPPER = re.compile(
    "(?:final)?(?:answer|response|output|reply|solution|result|conclusion)|final|assistant|message"
)
_EVERYDAY_PRIVATE = re.compile(
    "inner|internal|hidden|private|secret|reasons?|summary|caption|judge|critique|draft|outline"
)
"""Private names that are also everyday words. They count only if the bracket follows directly."""
_SAYS_THINKING = re.compile(f"(?:{_OWNER}|sys|system)*{_THINKING}")
_SAYS_THINKING_IN_CHINESE = re.compile(
    "(?:角色)?(?:思考|思维|想法|心理|心声|内心)(?:活动|独白|想法|描写|过程)?|心想"
)
_THINKING_WORD = re.compile(f"{_THINKING}|thinking[a-z]*|cot|reasoning|monologue")
_NAMESPACE = re.compile(r"(?:[\w-]{1,24}[:：.]|[|｜][\w-]{1,24}[|｜])(?=\w)")
_NAMESPACE_BEGUN = re.compile(r"(?:[\w-]{1,24}[:：.]?|[|｜][\w-]{0,24}[|｜]?)\Z")
_EDGE = re.compile(
    r"(?:(begin|start|open)|end|close|stop)(?:[\s_-]+(?:of[\s_-]+)?|(?=think|thought|reasoning))",
    re.IGNORECASE,
)
_EDGE_BEHIND = re.compile(r"[\s_-](?:(begin|start|open)|end|close|stop)\Z", re.IGNORECASE)
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_UNLISTED = re.compile(r"(role|system)_+[a-z]")
_SEPARATORS = re.compile(r"[\s_\-\u2010-\u2015]+")
_INVISIBLE = "\u200b-\u200f\u2060\ufeff"
_CHUNK = re.compile(rf"[\w\-\u2010-\u2015{_INVISIBLE}]+")
_GAP = re.compile(rf"[\s{_INVISIBLE}]*")
_MARKS = ("role_", "system_", "inner_", "long_role_")
_MARKED = re.compile(f"{'|'.join(_MARKS)}|[\u4e00-\u9fff]", re.IGNORECASE)
_LONGEST_CHUNK = 32
_OFTEN_MISSPELT = ("systemthinking", "rolethinking", "thinking", "thought", "thoughts")
_MIN_SIMILARITY = 0.85

# Names that models really write. They decide which families a truncated tag may belong to.
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
    """The name in a tag. `end` is its end within the tag's text."""

    family: Family
    end: int
    system: bool  # True for system thinking, named in full
    everyday: bool = False  # True if the name is also an everyday word
    ends: bool = False  # True for a name such as `end_of_thought`, which closes without a slash


def read_name(inside: str) -> TagName | None:
    """Return HER's tag name at the start of `inside`, or None.

    `inside` is the text between a tag's brackets, without the slash. Attributes may follow the
    name, and the name may consist of several words.
    """
    if edge := _EDGE.match(inside):
        found = _read_plain_name(inside[edge.end() :])
        if found is not None and not found.everyday:
            return replace(found, end=edge.end() + found.end, ends=not edge.group(1))
    if found := _read_plain_name(inside):
        behind = _EDGE_BEHIND.search(inside[: found.end])
        return replace(found, ends=behind is not None and not behind.group(1))
    if namespace := _NAMESPACE.match(inside):
        found = _read_plain_name(inside[namespace.end() :])
        return replace(found, end=namespace.end() + found.end) if found else None
    return None


def _read_plain_name(inside: str) -> TagName | None:
    before, end, found = "", 0, None
    while chunk := _CHUNK.match(inside, end):
        name = before + chunk.group()[:_LONGEST_CHUNK]
        letters = _letters(name)
        if family := _find_family(name, first=not before):
            everyday = family not in PRIVATE or bool(_EVERYDAY_PRIVATE.fullmatch(letters))
            is_system = family is Family.PLANNING and letters.startswith("sys")
            found = TagName(family, chunk.end(), is_system, everyday)
        if not _OWNERS.fullmatch(letters):
            return found
        before = name + "_"
        end = _skip_gap(inside, chunk.end())
    return found


def may_become_name(inside: str) -> bool:
    """Return True if `inside` begins with a name of HER's, or may do so once it continues."""
    if _NAMESPACE_BEGUN.match(inside):
        return True
    before = (_NAMESPACE.match(inside), _EDGE.match(inside))
    return _may_become_plain_name(inside) or any(
        _may_become_plain_name(inside[match.end() :]) for match in before if match
    )


def _may_become_plain_name(inside: str) -> bool:
    before, end = "", 0
    while chunk := _CHUNK.match(inside, end):
        name = before + chunk.group()[:_LONGEST_CHUNK]
        if chunk.end() == len(inside) and len(chunk.group()) <= _LONGEST_CHUNK:
            return True
        if _find_family(name, first=not before):
            return True
        if not _OWNERS.fullmatch(_letters(name)):
            return False
        before = name + "_"
        end = _skip_gap(inside, chunk.end())
    return end == len(inside)


def match_truncated_name(inside: str) -> frozenset[Family]:
    """Return the families of the tags whose names may begin with the truncated text `inside`."""
    beginning = _letters(inside)
    if inside and not beginning:
        return frozenset()
    families = frozenset(family for name, family in _COMMON.items() if name.startswith(beginning))
    if families or (name := read_name(inside)) is None:
        return families
    return frozenset({name.family})


def is_unambiguous(inside: str) -> bool:
    """Return True if only HER uses the name, so that it counts in square brackets too.

    Such a name begins with `role_` or `system_`, or is Chinese.
    """
    return bool(_MARKED.match(inside))


def says_thinking(name: str) -> bool:
    """Return True if the name says that it is thinking, such as `think` or `inner thoughts`."""
    edge = _EDGE.match(name)
    name = name[edge.end() :] if edge else name
    chinese = _SAYS_THINKING_IN_CHINESE.fullmatch(name.strip())
    return chinese is not None or bool(_SAYS_THINKING.fullmatch(_letters(name)))


def may_become_unambiguous(inside: str) -> bool:
    """Return True if `inside` is unambiguous, or may become so once it continues."""
    return is_unambiguous(inside) or any(mark.startswith(inside.casefold()) for mark in _MARKS)


@lru_cache(maxsize=1024)
def _find_family(name: str, *, first: bool) -> Family | None:
    """Return the family of a name. Unlisted names count only if they are the `first` word."""
    letters = _letters(name)
    if _PLANNING.fullmatch(letters):
        return Family.PLANNING
    words = _SEPARATORS.split(_fold(_HUMP.sub("_", name)))
    thinks = any(map(_THINKING_WORD.fullmatch, words))
    if thinks or _THOUGHT.fullmatch(letters):
        return Family.PLANNING if letters.startswith("sys") else Family.THOUGHT
    if _ACTION.fullmatch(letters):
        return Family.ACTION
    if _SPEECH.fullmatch(letters):
        return Family.SPEECH
    if _HIDDEN.fullmatch(letters):
        return Family.HIDDEN
    if _WRAPPER.fullmatch(letters):
        return Family.WRAPPER
    if _EVERYDAY_PRIVATE.fullmatch(letters):
        return Family.THOUGHT
    if any(_resembles(letters, word) for word in _OFTEN_MISSPELT):
        return Family.PLANNING if letters.startswith("sy") else Family.THOUGHT
    return _find_unlisted_family(name) if first else None


def _resembles(letters: str, word: str) -> bool:
    if len(set(word) - set(letters)) > 2 or abs(len(word) - len(letters)) > 3:
        return False
    return SequenceMatcher(None, letters, word).ratio() >= _MIN_SIMILARITY


def _find_unlisted_family(chunk: str) -> Family | None:
    """Return the private family of an unlisted name that begins like HER's own."""
    beginning = _UNLISTED.match(_fold(chunk))
    if beginning is None:
        return None
    return Family.PLANNING if beginning.group(1) == "system" else Family.THOUGHT


@lru_cache(maxsize=1024)
def _fold(text: str) -> str:
    """Return `text` in lower case, without accents, invisible characters and digits."""
    folded = unicodedata.normalize("NFKD", text).casefold()
    return "".join(char for char in folded if unicodedata.category(char) not in ("Mn", "Cf", "Nd"))


def _letters(text: str) -> str:
    return _SEPARATORS.sub("", _fold(text))


def _skip_gap(text: str, start: int) -> int:
    gap = _GAP.match(text, start)
    return gap.end() if gap else start
