"""Tells the tokens of a reply's format from its prose, so that penalties affect prose only.

The format's own tokens are tags, the speaker's name before the colon, and line breaks. Penalties on
repetition would make them less likely with every use, although the format requires them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAX_LABEL_BYTES: Final = 80
_TAG: Final = re.compile(rb"<\s*/?\s*[A-Za-z_]{1,40}\s*>")
_TAG_START: Final = re.compile(rb"<\s*/?\s*[A-Za-z_]{0,40}\s*")
_COLONS: Final = (b":", "：".encode())


class FormatTracker:
    """Follows a text token by token and holds tokens back until it knows what they belong to.

    `speaker` is the name that may precede the text with a colon. If it is None, every line may
    begin with any name, as in a prompt.
    """

    def __init__(self, speaker: str | None) -> None:
        self._labels = None if speaker is None else [speaker.encode() + c for c in _COLONS]
        self._held: list[int] = []
        self._tag: bytes | None = None  # text since an angle bracket that may begin a tag
        self._label = b""  # text since a place at which a name may begin
        self._expects_label = True

    @property
    def inside_tag(self) -> bool:
        """Whether the text ends within a tag."""
        return self._tag is not None

    @property
    def expects_label(self) -> bool:
        """Whether the speaker's name may begin or continue here."""
        return self._expects_label

    def may_be_format(self, piece: bytes) -> bool:
        """Return whether a token with these bytes could be the next token of the format."""
        if self.inside_tag or breaks_prose(piece):
            return True
        if not self._expects_label:
            return False
        label = (self._label + piece).lstrip()
        return not label or self._is_label(label) or self._begins_label(label)

    def feed(self, token: int, piece: bytes) -> Iterator[int | None]:
        """Add a token. Yield the tokens that turn out to be prose, and None for each break."""
        self._held.append(token)
        if self.inside_tag or b"<" in piece:
            yield from self._feed_tag(piece)
        elif b"\n" in piece or not piece:  # a control token has no text
            yield from self._release(keep=1)
            yield from self._break(expects_label=True)
        elif self._expects_label:
            yield from self._feed_label(piece)
        else:
            yield from self._release()

    def _feed_tag(self, piece: bytes) -> Iterator[int | None]:
        if self._tag is None:
            yield from self._release(keep=1)
            self._tag = piece[piece.rindex(b"<") :]
        else:
            self._tag += piece
        if tag := _TAG.match(self._tag):
            rest = self._tag[tag.end() :]
            closes = b"/" in tag[0]
            yield from self._break(expects_label=closes or b"\n" in rest)
            if b"<" in rest:  # one token that ends a tag and begins another
                self._tag = rest[rest.index(b"<") :]
        elif not _TAG_START.fullmatch(self._tag):
            newest = self._tag.rfind(b"<", 1)  # the older bracket does not begin a tag
            if newest > 0:
                yield from self._release(keep=1)
                self._tag = None
                yield from self._feed_tag(piece)
            else:
                yield from self._release()

    def _feed_label(self, piece: bytes) -> Iterator[int | None]:
        self._label = (self._label + piece).lstrip()
        if not self._label:  # white space in front of a name
            self._held.clear()
        elif self._is_label(self._label):
            yield from self._break(expects_label=False)
        elif not self._begins_label(self._label):
            yield from self._release()

    def _is_label(self, text: bytes) -> bool:
        if self._labels is None:
            return any(colon in text for colon in _COLONS)
        return any(text.startswith(label) for label in self._labels)

    def _begins_label(self, text: bytes) -> bool:
        if self._labels is None:
            return len(text) <= _MAX_LABEL_BYTES
        return any(label.startswith(text) for label in self._labels)

    def _break(self, *, expects_label: bool) -> Iterator[None]:
        """Drop the held tokens, which belong to the format."""
        self._held.clear()
        self._tag = None
        self._label = b""
        self._expects_label = expects_label
        yield None

    def _release(self, keep: int = 0) -> Iterator[int]:
        """Yield the held tokens but the last `keep`, which are prose."""
        count = len(self._held) - keep
        released, self._held = self._held[:count], self._held[count:]
        self._tag = None
        self._label = b""
        if released:
            self._expects_label = False
        yield from released


def breaks_prose(piece: bytes) -> bool:
    """Return whether a token with these bytes breaks a line or may begin a tag."""
    return b"\n" in piece or b"<" in piece
