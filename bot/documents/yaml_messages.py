"""Translate PyYAML's errors into sentences that name the mistake and the fix.

PyYAML reports the place where its parser stopped. A person needs the line of the mistake, so the
lines around that place are compared with mistakes that people make.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from bot.documents.fault import Fault, SourcePosition

if TYPE_CHECKING:
    from collections.abc import Sequence

    import yaml

_CONTROL: Final = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_TAB: Final = re.compile(r"[ -]*\t")
_SEARCHED_LINES: Final = 20  # lines before the error that may contain the mistake

_KEY: Final = r"^\s*(?:- +)*"
_NO_SPACE: Final = re.compile(_KEY + r"([\w-]+):(?!//)([^\s:].*)$")
_OTHER_COLON: Final = re.compile(_KEY + r"([\w-]+) ?([：﹕︰꞉])")
_VALUE: Final = _KEY + r"(?:[\w -]+:\s+)?"
_APOSTROPHE: Final = re.compile(_VALUE + r"'[^']*\w'\w")
_AFTER_QUOTE: Final = re.compile(_VALUE + r"""("[^"]*"|'[^']*')\s*[^\s#,\]}:]""")
_AFTER_BRACKET: Final = re.compile(_VALUE + r"([\[{]).*[\]}]\s*[^\s#,\]}:]")

TOO_DEEP: Final = "lists and keys are nested too deeply. Flatten them"
HALF_CHARACTER: Final = (
    "`{escape}` is half of a character, or not a character. Write the character itself"
)
_ESCAPE: Final = (
    "a `\\` in double quotes starts an escape. Write `\\\\` for each `\\`, or use single quotes"
)

# PyYAML's two scanners word errors differently. `{begun}` is the line of the enclosing construct.
_MEANINGS: Final = (
    (
        "mapping values are not allowed",
        "this line has a second `: `. Put the text after the first one in quotes",
    ),
    ("cannot start any token", "text can't begin with `{letter}`. Put it in quotes"),
    ("alphabetic or numeric", "text can't begin with `*` or `&`. Put it in quotes"),
    ("sequence entries are not allowed", "text can't begin with `- `. Put it in quotes"),
    ("mapping keys are not allowed", "text can't begin with `? `. Put it in quotes"),
    ("chomping or indentation", "text can't begin with `>` or `|`. Put it in quotes"),
    ("expected comment or line break", "text can't begin with `>` or `|`. Put it in quotes"),
    ("unexpected end of stream", "the quote opened in line {begun} is never closed. Close it"),
    (
        "',' or ']'",
        (
            "the `[` of line {begun} is not closed, or a comma is missing. End the list with `]`, "
            "or put text that begins with `[` in quotes"
        ),
    ),
    (
        "',' or '}'",
        (
            "the `{{` of line {begun} is not closed, or a comma is missing. End the group with "
            "`}}`, or put text that begins with `{{` in quotes"
        ),
    ),
    ("node content", "a `[` or `{{` above is not closed. Close it"),
    ("nesting depth", TOO_DEEP),
    (
        "find expected ':'",
        (
            "the text in line {begun} has no `: ` after it. Write `key: value`, or `- text` for an "
            "entry of a list"
        ),
    ),
    ("invalid Unicode character escape", HALF_CHARACTER),
    ("escape", _ESCAPE),
    ("hexdecimal", _ESCAPE),
    (
        "'-' indicator",
        (
            "this is not part of the list that starts in line {begun}. Start the line with `- ` or "
            "indent it"
        ),
    ),
    (
        "block end",
        (
            "this doesn't match the block that starts in line {begun}. Indent it like the lines "
            "above or quote the text"
        ),
    ),
    (
        "expected key",
        (
            "this doesn't match the block that starts in line {begun}. Indent it like the lines "
            "above or quote the text"
        ),
    ),
)


def refuse_control_characters(text: str, source: str) -> None:
    """Raise Fault if `text` contains a character that YAML does not allow."""
    if found := _CONTROL.search(text):
        line = text.count("\n", 0, found.start()) + 1
        column = found.start() - text.rfind("\n", 0, found.start())
        letter = f"U+{ord(found.group()):04X}"
        kind = "half character" if "\ud800" <= found.group() <= "\udfff" else "control character"
        raise Fault(
            SourcePosition(source, line, column), f"the {kind} {letter} is not allowed. Delete it"
        )


def explain_syntax_error(error: yaml.YAMLError, text: str, source: str) -> Fault:
    """Return the fault for a text that PyYAML rejected with `error`."""
    mark = getattr(error, "problem_mark", None)
    if mark is None:
        return Fault(SourcePosition(source), "this is not YAML. Write `key: value` lines")
    lines = text.splitlines()
    line = lines[mark.line] if mark.line < len(lines) else ""
    position = SourcePosition(source, mark.line + 1, mark.column + 1)
    if _TAB.match(line):
        return Fault(position, "the line is indented with a tab. Use spaces")
    begun = getattr(error, "context_mark", None) or mark
    problem = str(getattr(error, "problem", ""))
    if _may_follow_a_missing_space(problem) and (
        fault := find_missing_space(lines[: mark.line + 1], source)
    ):
        return fault
    for words, meaning in _MEANINGS:
        if words in problem:
            return Fault(
                position,
                _explain_end_of_text(problem, line)
                or meaning.format(
                    begun=begun.line + 1,
                    letter=line[mark.column : mark.column + 1],
                    escape=_find_escape(line, mark.column),
                ),
            )
    return Fault(position, f"this is not valid YAML ({problem}). If it is text, put it in quotes")


def find_missing_space(lines: Sequence[str], source: str) -> Fault | None:
    """Return the fault of the last of `lines` with a key that has no colon and space after it."""
    first = max(0, len(lines) - _SEARCHED_LINES)
    for number in range(len(lines), first, -1):
        line = lines[number - 1]
        if found := _NO_SPACE.match(line):
            key = found[1]
            return Fault(
                SourcePosition(source, number, found.end(1) + 1),
                f"the space after `{key[:40]}:` is missing. Write `{key[:40]}: …`",
            )
        if found := _OTHER_COLON.match(line):
            return Fault(
                SourcePosition(source, number, found.start(2) + 1),
                f"`{found[2]}` is not YAML's colon. Write `{found[1][:40]}: …`",
            )
    return None


def _may_follow_a_missing_space(problem: str) -> bool:
    return any(words in problem for words in ("mapping values", "find expected ':'"))


def _explain_end_of_text(problem: str, line: str) -> str | None:
    """Explain text after a closing quote or bracket, where the parser expects the next key."""
    if "block end" not in problem and "expected key" not in problem:
        return None
    if _APOSTROPHE.match(line):
        return "the apostrophe ends the text. Write it twice (`''`), or use double quotes"
    if _AFTER_QUOTE.match(line):
        return (
            "there is text after the closing quote. Put the whole text in quotes of the other kind"
        )
    if found := _AFTER_BRACKET.match(line):
        return f"text can't begin with `{found[1]}`. Put the whole text in quotes"
    return None


def _find_escape(line: str, column: int) -> str:
    """Return the escape around a column of a line, such as `\\ud83d`."""
    start = line.rfind("\\", 0, column + 1)
    found = re.match(r"\\[A-Za-z][0-9A-Fa-f]*", line[start:] if start >= 0 else "")
    return found.group() if found else "\\u…"
