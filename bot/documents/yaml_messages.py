"""What YAML's own complaints mean, in words that say what to write instead."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bot.documents.fault import Fault, SourcePosition

if TYPE_CHECKING:
    import yaml

_CONTROL = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_TAB = re.compile(r"[ -]*\t")

TOO_DEEP = "lists and keys lie too deep inside each other: write it flatter"

# In the words of either of PyYAML's two scanners. `{begun}` is the line where the thing complained about begins.
_MEANINGS = (
    (
        "mapping values are not allowed",
        "a second `: ` stands in this line: put the text after the first one in quotes",
    ),
    ("cannot start any token", "text that begins with `{letter}` must stand in quotes"),
    ("alphabetic or numeric", "text that begins with `*` or `&` must stand in quotes"),
    ("unexpected end of stream", "the quote opened in line {begun} is never closed: close it"),
    (
        "',' or ']'",
        "the `[` of line {begun} is not closed, or a comma is missing: end the list with `]`",
    ),
    (
        "',' or '}'",
        "the `{{` of line {begun} is not closed, or a comma is missing: end the group with `}}`",
    ),
    ("nesting depth", TOO_DEEP),
    ("find expected ':'", "the key of line {begun} has no `: ` after it: write `key: value`"),
    (
        "'-' indicator",
        "this doesn't belong to the list begun in line {begun}: begin the line with `- `, or indent it",
    ),
    (
        "block end",
        "this doesn't fit what began in line {begun}: indent it as the lines before, or quote the text",
    ),
    (
        "expected key",
        "this doesn't fit what began in line {begun}: indent it as the lines before, or quote the text",
    ),
)


def refuse_control_characters(text: str, source: str) -> None:
    """Raise Fault where `text` holds a character that YAML does not allow."""
    if found := _CONTROL.search(text):
        line = text.count("\n", 0, found.start()) + 1
        column = found.start() - text.rfind("\n", 0, found.start())
        letter = f"U+{ord(found.group()):04X}"
        raise Fault(
            SourcePosition(source, line, column),
            f"the control character {letter} is not allowed: delete it",
        )


def syntax_fault(error: yaml.YAMLError, text: str, source: str) -> Fault:
    """Return what is wrong with the text that YAML refused with `error`."""
    mark = getattr(error, "problem_mark", None)
    if mark is None:
        return Fault(SourcePosition(source), "this is no YAML: write `key: value` lines")
    position = SourcePosition(source, mark.line + 1, mark.column + 1)
    lines = text.splitlines()
    line = lines[mark.line] if mark.line < len(lines) else ""
    if _TAB.match(line):
        return Fault(position, "the line is indented with a tab: use spaces")
    begun = getattr(error, "context_mark", None) or mark
    problem = str(getattr(error, "problem", ""))
    for words, meaning in _MEANINGS:
        if words in problem:
            return Fault(
                position,
                meaning.format(begun=begun.line + 1, letter=line[mark.column : mark.column + 1]),
            )
    return Fault(
        position, f"YAML can't be read here ({problem}): if this is text, put it in quotes"
    )
