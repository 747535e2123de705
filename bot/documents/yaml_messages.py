"""Translate PyYAML's errors into sentences that name the fix."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bot.documents.fault import Fault, SourcePosition

if TYPE_CHECKING:
    import yaml

_CONTROL = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_TAB = re.compile(r"[ -]*\t")

TOO_DEEP = "lists and keys are nested too deeply. Flatten them"

# PyYAML's two scanners word errors differently. `{begun}` is the line of the enclosing construct.
_MEANINGS = (
    (
        "mapping values are not allowed",
        "this line has a second `: `. Put the text after the first one in quotes",
    ),
    ("cannot start any token", "text can't begin with `{letter}`. Put it in quotes"),
    ("alphabetic or numeric", "text can't begin with `*` or `&`. Put it in quotes"),
    ("unexpected end of stream", "the quote opened in line {begun} is never closed. Close it"),
    (
        "',' or ']'",
        "the `[` of line {begun} is not closed, or a comma is missing. End the list with `]`",
    ),
    (
        "',' or '}'",
        "the `{{` of line {begun} is not closed, or a comma is missing. End the group with `}}`",
    ),
    ("nesting depth", TOO_DEEP),
    ("find expected ':'", "the key in line {begun} has no `: ` after it. Write `key: value`"),
    (
        "'-' indicator",
        (
            "this is not part of the list that starts in line {begun}. "
            "Start the line with `- ` or indent it"
        ),
    ),
    (
        "block end",
        (
            "this doesn't match the block that starts in line {begun}. "
            "Indent it like the lines above or quote the text"
        ),
    ),
    (
        "expected key",
        (
            "this doesn't match the block that starts in line {begun}. "
            "Indent it like the lines above or quote the text"
        ),
    ),
)


def refuse_control_characters(text: str, source: str) -> None:
    """Raise Fault if `text` contains a character that YAML does not allow."""
    if found := _CONTROL.search(text):
        line = text.count("\n", 0, found.start()) + 1
        column = found.start() - text.rfind("\n", 0, found.start())
        letter = f"U+{ord(found.group()):04X}"
        raise Fault(
            SourcePosition(source, line, column),
            f"the control character {letter} is not allowed. Delete it",
        )


def syntax_fault(error: yaml.YAMLError, text: str, source: str) -> Fault:
    """Return the fault for a text that PyYAML rejected with `error`."""
    mark = getattr(error, "problem_mark", None)
    if mark is None:
        return Fault(SourcePosition(source), "this is not YAML. Write `key: value` lines")
    position = SourcePosition(source, mark.line + 1, mark.column + 1)
    lines = text.splitlines()
    line = lines[mark.line] if mark.line < len(lines) else ""
    if _TAB.match(line):
        return Fault(position, "the line is indented with a tab. Use spaces")
    begun = getattr(error, "context_mark", None) or mark
    problem = str(getattr(error, "problem", ""))
    for words, meaning in _MEANINGS:
        if words in problem:
            return Fault(
                position,
                meaning.format(begun=begun.line + 1, letter=line[mark.column : mark.column + 1]),
            )
    return Fault(position, f"this is not valid YAML ({problem}). If it is text, put it in quotes")
