"""Split streamed text into tags and words.

The rules for tags, which hold for any chunks of the stream:

- Brackets are `<…>`, their full-width and typographic variants, or `&lt;…&gt;`. Square brackets
  (`[role_thinking]`, `【内心】`) count only around unambiguous names. `role_thinking>` and
  `role_thinking:` are tags too, although they lack the opening bracket.
- A tag consists of spaces, an optional slash, the name, optional attributes and another optional
  slash. `<role_thinking/>` opens.
- If the closing bracket is missing, the tag ends with its name: `</role_thinking Elizabeth smiles`
  closes. The bracket is missing if another bracket, a line break, 96 characters or the end of the
  output come first.
- `<act natural>` and `<say` are words: everyday names of public tags need their bracket directly
  behind the name, or an attribute.
- At the end of the output, a truncated tag (`</role_thin`) counts as that tag. If it could become
  several tags (`</`, `</role_`), it has all their families. A single `<` at the end is dropped.
- Control tokens spelt out (`<|im_end|>`) end the turn.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from bot.her.tags import (
    PRIVATE,
    Tag,
    TagName,
    Token,
    TurnEnd,
    Words,
    is_unambiguous,
    match_truncated_name,
    may_become_name,
    may_become_unambiguous,
    read_name,
)

_OPEN = "<＜﹤‹⟨〈"
_CLOSE = ">＞﹥›⟩〉"
_SQUARE_OPEN = "[【［"
_SQUARE_CLOSE = "]】］"
_ANY_OPEN = f"(?:[{_OPEN}{re.escape(_SQUARE_OPEN)}]|&lt;)"
_ANY_CLOSE = f"(?:[{_CLOSE}{re.escape(_SQUARE_CLOSE)}]|&gt;)"
_INVISIBLE = "\u200b-\u200f\u2060\ufeff"
_LONGEST_TAG = 96

_BARE = r"(?:role|system)_(?:think|thought|action|speech)\w{0,16}"
_START = re.compile(
    rf"{_ANY_OPEN}|(?:(/)|(?<!\w))({_BARE})\s{{0,4}}(?:[{_CLOSE}:：]|&gt;)", re.IGNORECASE
)
_BARE_BEGUN = "|".join(
    name[:length] for name in ("role", "system") for length in range(1, len(name) + 1)
)
_BEGUN = re.compile(
    rf"(?:&(?:lt?)?|/|(?:/|(?<!\w))(?:{_BARE_BEGUN}|(?:role|system)_\w{{0,24}}\s{{0,4}}(?:&(?:gt?)?)?))\Z",
    re.IGNORECASE,
)
_HEAD = re.compile(
    rf"{_ANY_OPEN}([\s{_INVISIBLE}]{{0,8}})([/／\\]?)[\s{_INVISIBLE}]{{0,8}}", re.IGNORECASE
)
_STOPPER = re.compile(rf"({_ANY_CLOSE})|{_ANY_OPEN}|[\r\n]", re.IGNORECASE)
_CLOSER = re.compile(rf"\s{{0,8}}[/／]?\s{{0,8}}{_ANY_CLOSE}", re.IGNORECASE)
_CLOSER_BEGUN = re.compile(r"\s{0,8}[/／]?\s{0,8}(?:&(?:gt?)?)?\Z", re.IGNORECASE)
_CONTROL = re.compile(r"[<＜][|｜]([^|｜<>＜＞\r\n]{0,40})([|｜][>＞])?")
_CONTROL_NAMES = ("im_start", "im_end", "endoftext", "end_of_text", "eot_id")


class _NeedsMore:
    """The result of reading a tag that needs more text."""


_NEEDS_MORE = _NeedsMore()


@dataclass(frozen=True, slots=True)
class Span:
    """A tag or a control token found in a text, from `start` to `end`."""

    token: Tag | TurnEnd
    start: int
    end: int


class TagScanner:
    """Turns a stream of text into tokens.

    It holds back text that may still become a tag, about a hundred characters at most.
    """

    def __init__(self) -> None:
        self._text = ""  # one character of context that was already returned, then the pending text
        self._emitted = 0

    def feed(self, text: str) -> list[Token]:
        """Take a piece of the stream and return the tokens that are certain now."""
        self._text += text
        return self._scan(final=False)

    def close(self) -> list[Token]:
        """End the stream and return the remaining tokens."""
        return self._scan(final=True)

    def _scan(self, *, final: bool) -> list[Token]:
        tokens: list[Token] = []
        spans, hold = find_tags(self._text, self._emitted, final=final)
        for span in spans:
            self._emit_words(tokens, span.start)
            if span.token.raw:
                tokens.append(span.token)
            self._emitted = span.end
        self._emit_words(tokens, hold)
        kept = max(self._emitted - 1, 0)
        self._text, self._emitted = self._text[kept:], self._emitted - kept
        return tokens

    def _emit_words(self, tokens: list[Token], end: int) -> None:
        if end > self._emitted:
            tokens.append(Words(self._text[self._emitted : end]))
            self._emitted = end


def find_tags(text: str, start: int = 0, *, final: bool = True) -> tuple[list[Span], int]:
    """Return the tags and control tokens in `text` from `start` on, and the end of the text read.

    Unless `final`, more text may follow, and the part that may still become a tag stays unread.
    """
    spans: list[Span] = []
    while candidate := _START.search(text, start):
        read = _read_bare_tag(candidate) or _read_tag(text, candidate.start(), final=final)
        if isinstance(read, _NeedsMore):
            return spans, candidate.start()
        if isinstance(read, Span):
            spans.append(read)
        start = read.end if isinstance(read, Span) else candidate.start() + 1
    begun = None if final else _BEGUN.search(text, max(start, len(text) - 48))
    return spans, begun.start() if begun else len(text)


def _read_bare_tag(candidate: re.Match[str]) -> Span | None:
    """Return the tag without opening bracket that `candidate` is, or None."""
    name = read_name(candidate.group(2) or "")
    if name is None:
        return None
    tag = Tag(frozenset({name.family}), bool(candidate.group(1)), candidate.group(), name.system)
    return Span(tag, candidate.start(), candidate.end())


def _read_tag(text: str, start: int, *, final: bool) -> Span | _NeedsMore | None:
    """Read the tag or control token whose bracket opens at `start`. Return None for words."""
    if control := _CONTROL.match(text, start):
        return _read_control_token(control, final=final)
    head = _HEAD.match(text, start)
    if head is None:  # never happens: candidates begin with an opening bracket
        return None
    limit = start + _LONGEST_TAG
    stopper = _STOPPER.search(text, head.end(), limit)
    inside = text[head.end() : stopper.start() if stopper else limit]
    square = text[start] in _SQUARE_OPEN
    if stopper is None and len(text) < limit:
        if final:
            return _read_truncated_tag(head, inside, square=square)
        open_end = may_become_name(inside) and (not square or may_become_unambiguous(inside))
        return _NEEDS_MORE if open_end else None
    name = read_name(inside)
    if name is None or (square and not is_unambiguous(inside)):
        return None
    return _finish_tag(head, name, stopper, final=final)


def _finish_tag(
    head: re.Match[str], name: TagName, stopper: re.Match[str] | None, *, final: bool
) -> Span | _NeedsMore | None:
    """Find the end of a tag whose name is known: its closing bracket, or else the name's end."""
    text, end = head.string, head.end() + name.end
    if closer := _CLOSER.match(text, end):
        return _make_span(head, name, closer.end())
    if not final and _CLOSER_BEGUN.match(text, end):
        return _NEEDS_MORE
    bracketed = stopper is not None and stopper.group(1) is not None
    rest = text[end : stopper.start()] if stopper else ""
    everyday = name.family not in PRIVATE and not is_unambiguous(text[head.end() : end])
    if everyday and not (bracketed and "=" in rest):
        return None
    return _make_span(head, name, stopper.end() if stopper and bracketed else end)


def _make_span(head: re.Match[str], name: TagName, end: int) -> Span:
    raw = head.string[head.start() : end]
    return Span(
        Tag(frozenset({name.family}), bool(head.group(2)), raw, name.system), head.start(), end
    )


def _read_truncated_tag(head: re.Match[str], inside: str, *, square: bool) -> Span | None:
    """Read the tag within which the output ended."""
    text, start, closing = head.string, head.start(), bool(head.group(2))
    name = read_name(inside)
    if square and not is_unambiguous(inside):
        return None
    if name and name.end < len(inside.rstrip()):
        read = _finish_tag(head, name, None, final=True)
        return read if isinstance(read, Span) else None
    if text[start:] in _OPEN:
        return Span(TurnEnd(""), start, len(text))
    if not (inside or closing) or (head.group(1) and name is None):
        return None
    families = match_truncated_name(inside)
    if not families:
        return None
    return Span(
        Tag(families, closing, text[start:], inside.casefold().startswith("sys")), start, len(text)
    )


def _read_control_token(control: re.Match[str], *, final: bool) -> Span | _NeedsMore | None:
    """Read `<|…|>`: a control token, perhaps without its end, or a tag in unusual brackets."""
    inside, ended = control.group(1), control.group(2)
    at_end = not ended and control.string[control.end() :] in ("", "|", "｜")
    if at_end and not final:
        return _NEEDS_MORE
    lowered = inside.strip().casefold()
    name = read_name(inside.lstrip(" /"))
    if name and (ended or name.family in PRIVATE):
        tag = Tag(
            frozenset({name.family}), inside.lstrip().startswith("/"), control.group(), name.system
        )
        return Span(tag, control.start(), control.end())
    known = any(
        lowered.startswith(token) or (at_end and token.startswith(lowered))
        for token in _CONTROL_NAMES
    )
    if known or (ended and re.search(r"[a-z]", lowered)):
        return Span(TurnEnd(control.group()), control.start(), control.end())
    return None
