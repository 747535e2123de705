"""Detect a model that repeats one phrase endlessly, early and at a bounded cost."""

from __future__ import annotations

_LONGEST_PHRASE = 400
_MIN_TIMES = 4
_WINDOW = _LONGEST_PHRASE * _MIN_TIMES
_STRIDE = 64
# The characters a loop must fill before it counts. Screams and laughs may be longer than a repeated
# phrase, and dividers longer still.
_MIN_LENGTH = 100
_MIN_LENGTH_OF_SYLLABLES = 200
_MIN_LENGTH_OF_SIGNS = 500
_SYLLABLE = 4


def is_repeating(text: str) -> bool:
    """Return True if `text` ends with a repeated phrase. Only the last 1,600 characters count."""
    return _find_period(text) is not None


def collapse_repetition(text: str) -> str:
    """Return `text` with the phrase repeated at its end written once."""
    period = _find_period(text)
    if period is None:
        return text
    start = len(text) - period
    while start and text[start - 1] == text[start - 1 + period]:
        start -= 1
    end = start + period
    while end < len(text) and not text[end].isalnum() and not text[end].isspace():
        end += 1
    return text[:end]


def _find_period(text: str) -> int | None:
    tail = text[-_WINDOW:]
    for period in range(1, min(_LONGEST_PHRASE, len(tail) // _MIN_TIMES) + 1):
        if tail[-1] == tail[-1 - period] and _loops(tail, tail[-period:]):
            return period
    return None


def _loops(tail: str, phrase: str) -> bool:
    end = len(tail)
    if not tail.endswith(phrase, 0, end - len(phrase)):
        return False
    min_length = max(_min_length(phrase), _MIN_TIMES * len(phrase))
    while tail.endswith(phrase, 0, end):
        end -= len(phrase)
        if len(tail) - end >= min_length:
            # A phrase that itself repeats a shorter one is measured by the shorter one.
            return (phrase + phrase).find(phrase, 1) == len(phrase)
    return False


def _min_length(phrase: str) -> int:
    if not any(map(str.isalnum, phrase)):
        return _MIN_LENGTH_OF_SIGNS
    return _MIN_LENGTH_OF_SYLLABLES if len(phrase) <= _SYLLABLE else _MIN_LENGTH


class RepetitionDetector:
    """Detects a loop in a stream.

    It checks after every 64th character, so that the cut does not depend on how the stream is
    chunked.
    """

    def __init__(self) -> None:
        self._tail = ""
        self._read = 0

    def feed(self, text: str) -> int | None:
        """Take a piece of the stream.

        Return the number of its characters to keep if it completes a loop, else None.
        """
        kept = 0
        while len(text) - kept >= _STRIDE - self._read % _STRIDE:
            step = _STRIDE - self._read % _STRIDE
            self._append(text[kept : kept + step])
            kept += step
            if is_repeating(self._tail):
                return kept
        self._append(text[kept:])
        return None

    def _append(self, text: str) -> None:
        self._tail = (self._tail + text)[-_WINDOW:]
        self._read += len(text)
