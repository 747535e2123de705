"""Form metrics: how replies keep to HER's format and to good writing, without a judge."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from statistics import fmean, median
from typing import TYPE_CHECKING, Final

from bot.her.beats import BeatKind, select_public
from bot.her.reply_parser import parse_reply
from bot.her.speaker_names import LabelOwner, Speakers

if TYPE_CHECKING:
    from collections.abc import Sequence

_PLANNING_END: Final = "</system_thinking>"
_TAG = re.compile(r"</?[a-z_]{1,40}>")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]|\w+(?:['’]\w+)*")


@dataclass(frozen=True, slots=True, repr=False)
class ReplySample:
    """One generated reply. `raw` starts with the opening planning tag."""

    raw: str
    character: str
    others: tuple[str, ...]
    seconds: float
    tokens: int
    forced_planning_end: bool = False
    chinese: bool = False  # whether the scene is in Chinese


@dataclass(frozen=True, slots=True)
class FormReport:
    """Shares are between 0 and 1. Rates count beats per reply. Lengths are medians."""

    replies: int
    speech: float  # replies with spoken words
    planning_closed: float  # replies whose planning the model itself ended
    name_once: float  # replies that begin with the character's name and do not repeat it
    no_other_lines: float  # replies without a line for another character
    language_kept: float  # replies in the scene's language
    distinct_1: float  # different words per word, over all replies
    distinct_2: float
    distinct_3: float
    longest_repeat: int  # words in the longest span that occurs twice, over all replies
    words: float  # public words per reply
    thoughts: float
    actions: float
    seconds: float
    tokens_per_second: float


def measure_form(samples: Sequence[ReplySample]) -> FormReport | None:
    """Return the metrics of these replies, or None without replies."""
    if not samples:
        return None
    public = [_public_words(sample) for sample in samples]
    words = [word for one in public for word in one]
    beats = [parse_reply(sample.raw, sample.character, sample.others).beats for sample in samples]
    kinds = Counter(beat.kind for one in beats for beat in one)
    seconds = sum(sample.seconds for sample in samples)
    return FormReport(
        replies=len(samples),
        speech=fmean(any(beat.kind is BeatKind.SPEECH for beat in one) for one in beats),
        planning_closed=fmean(map(_closes_planning, samples)),
        name_once=fmean(map(_names_itself_once, samples)),
        no_other_lines=fmean(not _has_other_lines(sample) for sample in samples),
        language_kept=fmean(
            _is_chinese(one) == sample.chinese for one, sample in zip(public, samples, strict=True)
        ),
        distinct_1=distinct(public, 1),
        distinct_2=distinct(public, 2),
        distinct_3=distinct(public, 3),
        longest_repeat=longest_repeat(words),
        words=median(map(len, public)),
        thoughts=kinds[BeatKind.THOUGHT] / len(samples),
        actions=kinds[BeatKind.ACTION] / len(samples),
        seconds=median(sample.seconds for sample in samples),
        tokens_per_second=sum(sample.tokens for sample in samples) / seconds if seconds else 0.0,
    )


def distinct(texts: Sequence[Sequence[str]], size: int) -> float:
    """Return distinct-n: the share of n-grams of `size` words that differ, over all texts."""
    grams = [
        tuple(words[start : start + size])
        for words in texts
        for start in range(len(words) - size + 1)
    ]
    return len(set(grams)) / len(grams) if grams else 0.0


def longest_repeat(words: Sequence[str]) -> int:
    """Return the length of the longest span of words that occurs twice without overlapping."""
    low = 0
    high = len(words) // 2
    while low < high:  # if a span of n words repeats, so does one of n - 1
        size = (low + high + 1) // 2
        if _repeats(words, size):
            low = size
        else:
            high = size - 1
    return low


def _repeats(words: Sequence[str], size: int) -> bool:
    first: dict[tuple[str, ...], int] = {}
    for start in range(len(words) - size + 1):
        span = tuple(words[start : start + size])
        if start - first.setdefault(span, start) >= size:
            return True
    return False


def _public_words(sample: ReplySample) -> list[str]:
    beats = parse_reply(sample.raw, sample.character, sample.others).beats
    text = " ".join(beat.text for beat in select_public(beats))
    return [word.casefold() for word in _WORD.findall(text)]


def _is_chinese(words: Sequence[str]) -> bool:
    return sum(bool(_CJK.match(word)) for word in words) * 2 > len(words)


def _closes_planning(sample: ReplySample) -> bool:
    return _PLANNING_END in sample.raw and not sample.forced_planning_end


def _label_owners(sample: ReplySample) -> list[LabelOwner]:
    """Return whose label each public line begins with."""
    speakers = Speakers(sample.character, sample.others)
    after = sample.raw.split(_PLANNING_END, 1)[-1]
    lines = (line for line in _TAG.sub("\n", after).splitlines() if line.strip())
    return [speakers.read_label(line, final=True).owner for line in lines]


def _names_itself_once(sample: ReplySample) -> bool:
    owners = _label_owners(sample)
    return owners[:1] == [LabelOwner.OWN] and owners.count(LabelOwner.OWN) == 1


def _has_other_lines(sample: ReplySample) -> bool:
    return LabelOwner.OTHER in _label_owners(sample)
