"""Parses the markdown in a character's speech.

Complete emphasis, code, lists and quotations keep their meaning. Unclosed emphasis and code are
escaped, because they would affect the action or spoiler after them. Spoiler bars, headings and
mentions become plain text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.library.normalise import is_blank
from bot.posting.escaping import disable_mentions, separate_bars
from bot.posting.graphemes import clean
from bot.posting.split import FormattedRun, Markup

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_FENCE = re.compile(
    r"```(?:([\w+.#-]{0,32})\n)?(.*?)```|^```(?:([\w+.#-]{0,32})\n)?(.*)\Z",
    re.DOTALL | re.MULTILINE,
)
_PARAGRAPHS = re.compile(r"(\n\s*\n)")
_TOKEN = re.compile(
    r"""
    (?P<escape>\\[!-/:-@\[-`{-~])                              # a character that is escaped already
  | (?P<backslash>\\)
  | (?<!`)(?P<ticks>`{1,2})(?!`)(?P<code>(?=\s*[^`\s])[^`]++)(?P=ticks)(?!`)
  | (?P<tick>`+)
  | (?P<address>https?://[^\s<>\\`*]+)
  | (?P<start>^[ \t]*(?:\#{1,3}|-\#|>>>)(?=\s))     # heading, small print or endless quotation
  | (?P<bullet>^[ \t]*\*(?=[ ]))
  | (?P<delimiter>\*+|_+|~~+)
    """,
    re.VERBOSE | re.MULTILINE,
)
_EMPHASIS = frozenset(("*", "**", "_", "__", "~~"))


@dataclass(slots=True)
class _Piece:
    """Text, code, or a delimiter that may open or close an emphasis."""

    text: str
    code: str = ""  # the backticks around it
    opens: bool = False
    closes: bool = False
    partner: int | None = None


def parse_speech(text: str) -> list[FormattedRun]:
    """Return speech as runs. Their markup is its emphasis, its code and its code blocks."""
    runs: list[FormattedRun] = []
    text = disable_mentions(clean(text))
    at = 0
    for fence in _FENCE.finditer(text):
        language, content = (fence[1], fence[2]) if fence[2] is not None else (fence[3], fence[4])
        if is_blank(content):
            continue
        runs += _parse_prose(text[at : fence.start()])
        runs.append(
            FormattedRun(
                content.strip("\n"), (Markup(f"```{language or ''}\n", "\n```", verbatim=True),)
            )
        )
        at = fence.end()
    return runs + _parse_prose(text[at:])


def _parse_prose(text: str) -> list[FormattedRun]:
    return [run for paragraph in _PARAGRAPHS.split(text) for run in _parse_paragraph(paragraph)]


def _parse_paragraph(text: str) -> Iterator[FormattedRun]:
    """Yield the runs of a paragraph. Emphasis must end within it."""
    pieces = list(_pieces(text))
    _match_pairs(pieces)
    marks: tuple[Markup, ...] = ()
    for at, piece in enumerate(pieces):
        if piece.partner is None:
            shown = _escape_each(piece.text) if piece.opens or piece.closes else piece.text
            code = (Markup(piece.code, piece.code),) if piece.code else ()
            yield FormattedRun(separate_bars(shown), marks + code)
        elif piece.partner > at:
            marks = (*marks, Markup(piece.text, piece.text))
        else:
            marks = marks[:-1]


def _pieces(text: str) -> Iterator[_Piece]:
    at = 0
    for found in _TOKEN.finditer(text):
        if found.start() > at:
            yield _Piece(text[at : found.start()])
        at = found.end()
        kind, whole = found.lastgroup, found[0]
        if kind == "delimiter":
            yield from _split_delimiters(whole, text[: found.start()][-1:], text[at : at + 1])
        elif found["code"]:
            yield _Piece(found["code"], code=found["ticks"])
        elif kind in ("backslash", "tick"):
            yield _Piece(_escape_each(whole))
        elif kind == "start":
            indent = len(whole) - len(whole.lstrip())
            yield _Piece(f"{whole[:indent]}\\{whole[indent:]}")
        else:
            yield _Piece(whole)
    if text[at:]:
        yield _Piece(text[at:])


def _split_delimiters(run: str, before: str, after: str) -> Iterator[_Piece]:
    """Yield the delimiters in a run of asterisks, underscores or tildes: `***` is `**` and `*`."""
    opens = _attaches_to(before, after)
    closes = _attaches_to(after, before)
    if run == "_":
        if before.isalnum() and after.isalnum():
            yield _Piece(run)  # it has no meaning within a word
            return
        opens = opens and not before.isalnum()
        closes = closes and not after.isalnum()
    parts = (run[:2], run[2:]) if run in ("***", "___") else (run,)
    if closes and not opens:
        parts = parts[::-1]
    for part in parts:
        if part in _EMPHASIS and (opens or closes):
            yield _Piece(part, opens=opens, closes=closes)
        else:
            yield _Piece(_escape_each(part))


def _attaches_to(behind: str, ahead: str) -> bool:
    """Return whether a delimiter between these letters belongs to the one ahead.

    A delimiter belongs to a word, not to a space.
    """
    return bool(ahead.strip()) and (ahead.isalnum() or not behind.isalnum())


def _match_pairs(pieces: Sequence[_Piece]) -> None:
    """Give each delimiter and the one that closes it the other's index.

    Open delimiters in between stay without a partner.
    """
    open_at: list[int] = []
    for at, piece in enumerate(pieces):
        if piece.closes and (opener := _find_opener(pieces, open_at, at)) is not None:
            del open_at[open_at.index(opener) :]
            pieces[opener].partner, piece.partner = at, opener
        elif piece.opens:  # if two are open, the later one counts
            open_at[:] = [*(other for other in open_at if pieces[other].text != piece.text), at]


def _find_opener(pieces: Sequence[_Piece], open_at: Sequence[int], at: int) -> int | None:
    for opener in reversed(open_at):
        if pieces[opener].text == pieces[at].text and opener < at - 1:
            return opener
    return None


def _escape_each(marks: str) -> str:
    return "".join(f"\\{mark}" for mark in marks)
