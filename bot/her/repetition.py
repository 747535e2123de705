"""A model that says the same phrase over and over: seen early, at a bounded cost."""

from __future__ import annotations

_LONGEST_PHRASE = 400
_LEAST_TIMES = 4
_WINDOW = _LONGEST_PHRASE * _LEAST_TIMES
_STRIDE = 64
# Characters that a loop must fill: a scream or a laugh is longer than a phrase said again, a divider longest of all.
_LEAST = 100
_LEAST_OF_SYLLABLES = 200
_LEAST_OF_SIGNS = 500
_SYLLABLE = 4


def is_repeating(text: str) -> bool:
    """Tell whether `text` ends in a phrase said over and over. Looks at its last 1,600 characters only."""
    return _period(text) is not None


def collapse_repetition(text: str) -> str:
    """Return `text` with the phrase that it repeats at its end said once."""
    period = _period(text)
    if period is None:
        return text
    start = len(text) - period
    while start and text[start - 1] == text[start - 1 + period]:
        start -= 1
    end = start + period
    while end < len(text) and not text[end].isalnum() and not text[end].isspace():
        end += 1
    return text[:end]


def _period(text: str) -> int | None:
    tail = text[-_WINDOW:]
    for period in range(1, min(_LONGEST_PHRASE, len(tail) // _LEAST_TIMES) + 1):
        if tail[-1] == tail[-1 - period] and _loops(tail, tail[-period:]):
            return period
    return None


def _loops(tail: str, phrase: str) -> bool:
    end = len(tail)
    if not tail.endswith(phrase, 0, end - len(phrase)):
        return False
    least = max(_least(phrase), _LEAST_TIMES * len(phrase))
    while tail.endswith(phrase, 0, end):
        end -= len(phrase)
        if len(tail) - end >= least:
            return (phrase + phrase).find(phrase, 1) == len(
                phrase
            )  # else it repeats a shorter phrase itself
    return False


def _least(phrase: str) -> int:
    if not any(map(str.isalnum, phrase)):
        return _LEAST_OF_SIGNS
    return _LEAST_OF_SYLLABLES if len(phrase) <= _SYLLABLE else _LEAST


class RepetitionDetector:
    """Watches a stream for a loop, at every 64th character: the same text is cut at the same place in any chunks."""

    def __init__(self) -> None:
        self._tail = ""
        self._read = 0

    def feed(self, text: str) -> int | None:
        """Take a piece of the stream; return how much of it to keep where a loop shows in it, else None."""
        kept = 0
        while len(text) - kept >= _STRIDE - self._read % _STRIDE:
            step = _STRIDE - self._read % _STRIDE
            self._hear(text[kept : kept + step])
            kept += step
            if is_repeating(self._tail):
                return kept
        self._hear(text[kept:])
        return None

    def _hear(self, text: str) -> None:
        self._tail = (self._tail + text)[-_WINDOW:]
        self._read += len(text)
