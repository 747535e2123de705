"""Recognise thinking without tags: a reply that begins by talking about its task.

Distilled reasoning models begin with “Okay, the user wants me to play …” if their template opens no
thinking block. Such a paragraph is private. So are the paragraphs after it that go on about the
task, and everything up to a later label of the character or of the answer.

A reply is only about its task if it says so: it speaks of the user, of the part it plays, of its
own response, or of how the character would respond. “Okay, let me think about it” is speech.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from bot.her.preamble_phrases import (
    ABOUT_THE_WORK,
    CONTINUATION,
    FIRST_WORD,
    INTERJECTION,
    STEP,
    TASK,
    THIRD_PERSON,
)
from bot.her.speaker_names import LINE_BREAKS, LabelOwner

if TYPE_CHECKING:
    from bot.her.speaker_names import Speakers

_OPENING = 320
"""Characters of a paragraph within which it says that it is about the task."""

_STREAMED_OPENING = 120
"""The same for text that people read while it is generated, so that they don't wait for long."""

_SOON = 64
"""Characters within which a reply that begins without an interjection must say so."""

_LONGEST_WORD = 16  # characters
_WORD = re.compile(r"\W*\w+(?:['’]\w+)?(?:[^\w'’]|['’]\W)")
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n\s*")
_LINE = re.compile(rf"(?:\A|(?<=[{LINE_BREAKS}]))(?=[^{LINE_BREAKS}])")


class PreambleFilter:
    """Splits the beginning of a reply into a private preamble and the rest.

    It holds back the first paragraph until it is certain, at most 320 characters, and a preamble
    until it ends. If the text is `streaming`, a preamble ends with its last paragraph. Otherwise it
    ends with the reply, so that a later label can end it.
    """

    def __init__(self, speakers: Speakers, *, streaming: bool, active: bool) -> None:
        self._speakers = speakers
        self._names = _compile_names(speakers.own_names)
        self._first_names = tuple(name.casefold() for name in speakers.own_names)
        self._streaming = streaming
        self._opening = _STREAMED_OPENING if streaming else _OPENING
        self._active = active
        self._pending = ""

    @property
    def pending(self) -> str:
        """The text that was fed and not returned yet."""
        return self._pending

    def feed(self, text: str) -> tuple[str, str]:
        """Take a piece of the stream and return its private and its public text."""
        return self._advance(text, final=False)

    def close(self) -> tuple[str, str]:
        """End the stream and return the rest."""
        return self._advance("", final=True)

    def _advance(self, text: str, *, final: bool) -> tuple[str, str]:
        if not self._active:
            return "", text
        self._pending += text
        verdict = self._judge(self._pending, final=final)
        if verdict is None:
            return "", ""
        if verdict:
            end = self._find_end(self._pending, final=final)
            if end is None:
                return "", ""
        else:
            end = 0
        self._active = False
        text, self._pending = self._pending, ""
        return text[:end], text[end:]

    def _judge(self, text: str, *, final: bool) -> bool | None:
        """Return whether the text begins with a preamble. None: more text is needed."""
        body = text.lstrip()
        paragraph = re.split(f"[{LINE_BREAKS}]", body[: self._opening], maxsplit=1)[0]
        complete = final or len(paragraph) < len(body)
        if not body:
            return False if final else None
        if self._speakers.read_label(text, final=final).owner in _LABELLED:
            return False
        begins = bool(INTERJECTION.match(paragraph))
        if not begins and _has_word(paragraph) and not self._may_be_about_task(paragraph):
            return False
        near = paragraph if begins else paragraph[:_SOON]
        if self._is_about_task(near):
            return True
        if complete or (not begins and len(paragraph) > _SOON):
            return False
        return None

    def _may_be_about_task(self, text: str) -> bool:
        own = text.lstrip('*_"“').casefold().startswith(self._first_names)
        return own or bool(FIRST_WORD.match(text))

    def _is_about_task(self, text: str) -> bool:
        return bool(TASK.search(text) or self._names.search(text))

    def _find_end(self, text: str, *, final: bool) -> int | None:
        """Return the end of the preamble at the start of `text`. None: more text is needed."""
        if not (final or self._streaming):
            return None
        if (label := self._find_label(text, final=final)) is not None:
            return label
        for blank in _BLANK_LINE.finditer(text):
            if blank.end() == len(text) and not final:
                return None
            paragraph = text[blank.end() :]
            goes_on = self._continues(paragraph, final=final)
            if goes_on is None:
                return None
            if not goes_on:
                return blank.end()
        return len(text) if final else None

    def _find_label(self, text: str, *, final: bool) -> int | None:
        """Return the start of the first line with a label after which no preamble follows."""
        for line in _LINE.finditer(text):
            label = self._speakers.read_label(text[line.start() :], final=final)
            if label.owner in _LABELLED and line.start():
                return line.start()
        return None

    def _continues(self, paragraph: str, *, final: bool) -> bool | None:
        """Return whether a paragraph after a preamble goes on about the task."""
        line = re.split(f"[{LINE_BREAKS}]", paragraph[:_OPENING], maxsplit=1)[0]
        if self._speakers.read_label(paragraph, final=final).owner in _LABELLED:
            return False
        if STEP.match(line) or self._is_about_task(line):
            return True
        if CONTINUATION.match(line) and ABOUT_THE_WORK.search(line):
            return True
        complete = final or len(line) < len(paragraph)
        return False if complete else None


_LABELLED = (LabelOwner.OWN, LabelOwner.ANSWER)


def _has_word(text: str) -> bool:
    """Whether the first word of `text` is complete, or longer than any that matters."""
    return len(text) > _LONGEST_WORD or bool(_WORD.match(text))


@lru_cache(maxsize=256)
def _compile_names(own_names: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern for a text that speaks of the character as a part to play."""
    names = "|".join(map(re.escape, own_names)) or r"(?!)"
    return re.compile(THIRD_PERSON.replace("{names}", names), re.IGNORECASE)
