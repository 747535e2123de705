"""Read JSON that people edit, and report mistakes with line and fix."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final, NoReturn

from bot.documents.fault import Fault, SourcePosition
from bot.documents.text_file import read_text

if TYPE_CHECKING:
    from pathlib import Path

_STRING: Final = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_STRINGS: Final = re.compile(_STRING, re.DOTALL)
_TOKENS: Final = re.compile(rf"({_STRING})(\s*:)?|([\[\]{{}}])", re.DOTALL)
# A backslash and the characters that it escapes. The group is half of a surrogate pair.
_ESCAPES: Final = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|u([dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
_COMMENT: Final = "JSON has no comments. Delete this one"
_PYTHON: Final = "this is not a JSON value. Write `null`, `true`, `false`, or text in double quotes"
_CUT_OFF: Final = "the file ends too early. Save or download it again"

# By the beginning of the decoder's message.
_MEANINGS: Final = (
    ("Extra data", "the file has more than one JSON value. Put them in one list: `[…, …]`"),
    ("Illegal trailing comma", "JSON allows no comma after the last entry. Delete it"),
    (
        "Expecting ',' delimiter",
        "a comma or a closing bracket is missing before this place. Add it",
    ),
    ("Expecting ':' delimiter", "a key has no `:` after it. Add it"),
    ("Expecting property name", "a key must be in double quotes. Add them"),
    ("Invalid control character", "a text has a line break or a tab. Write `\\n` or `\\t` instead"),
    ("Invalid \\escape", "a `\\` starts an escape. Write `\\\\` for each `\\`"),
    ("Invalid \\uXXXX", "`\\u` needs four digits after it. Write `\\\\` for each `\\`"),
    (
        "Unterminated string",
        "the text that starts here is never closed. Close it with a double quote",
    ),
    ("Expecting value", _PYTHON),
)


def read_json(path: Path, limit: int, max_values: int) -> object:
    """Return the data of a JSON file.

    Raises Fault if the file is larger than `limit` bytes, has more than `max_values` values, is not
    JSON, or has a key twice in one object.
    """
    text = read_text(path, limit)
    source = str(path)
    bare = _STRINGS.sub("", text)
    if sum(map(bare.count, ",[{")) > max_values:
        raise Fault(
            SourcePosition(source),
            f"the file has more than {max_values:,} values. Use another file",
        )
    _refuse_half_characters(text, source)
    try:
        found: object = json.loads(
            text, object_pairs_hook=_build_object, parse_constant=_refuse_constant
        )
    except json.JSONDecodeError as error:
        position = SourcePosition(source, error.lineno, error.colno)
        raise Fault(position, _describe(error, text)) from None
    except _DuplicateKeyError:
        raise _find_duplicate(text, source) from None
    except RecursionError:
        raise Fault(
            SourcePosition(source), "lists and objects are nested too deeply. Use another file"
        ) from None
    except ValueError as error:
        reason = str(error) if isinstance(error, _ConstantError) else "a number is too long"
        raise Fault(SourcePosition(source), f"{reason}. Write a usual number") from None
    return found


class _DuplicateKeyError(Exception):
    """An object has a key twice."""


class _ConstantError(ValueError):
    """A number is not in JSON's standard."""


def _build_object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _DuplicateKeyError
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise _ConstantError(f"`{name}` is not in JSON's standard")


def _refuse_half_characters(text: str, source: str) -> None:
    for found in _ESCAPES.finditer(text):
        if found[1]:
            line = text.count("\n", 0, found.start()) + 1
            column = found.start() - text.rfind("\n", 0, found.start())
            raise Fault(
                SourcePosition(source, line, column),
                f"`\\u{found[1]}` is half of a character. Write the character itself",
            )


def _find_duplicate(text: str, source: str) -> Fault:
    """Return the fault for the second of two equal keys of an object."""
    open_keys: list[dict[str, int]] = []
    for found in _TOKENS.finditer(text):
        string, colon, bracket = found.groups()
        if bracket in ("{", "["):
            open_keys.append({})
        elif bracket:
            open_keys.pop()
        elif colon and open_keys:
            line = text.count("\n", 0, found.start()) + 1
            key = str(json.loads(string, strict=False))
            if earlier := open_keys[-1].get(key):
                column = found.start() - text.rfind("\n", 0, found.start())
                return Fault(
                    SourcePosition(source, line, column),
                    f"the key `{key[:40]}` is already in line {earlier} of the same object. "
                    "Keep one of them",
                )
            open_keys[-1][key] = line
    return Fault(SourcePosition(source), "an object has a key twice. Keep one of them")


def _describe(error: json.JSONDecodeError, text: str) -> str:
    """Return the mistake and the fix for a text that is not JSON."""
    rest = text[error.pos :].lstrip()
    before = text[: error.pos].rstrip()
    if not text.strip():
        return "the file is empty. Write a JSON list of scenes"
    if text.lstrip().startswith("<"):
        return "this is a web page, not JSON. Download the file itself"
    if text.startswith("version https://git-lfs"):
        return "this is only the pointer to a file. Download the file itself"
    if not rest and not error.msg.startswith("Unterminated"):
        return _CUT_OFF
    if rest.startswith(("//", "/*", "#")):
        return _COMMENT
    if rest.startswith(("'", "‘", "“", "”")):
        return "JSON needs straight double quotes. Replace these"
    if rest[:1] in ("]", "}") and before.endswith(","):
        return "JSON allows no comma after the last entry. Delete it"
    for words, meaning in _MEANINGS:
        if error.msg.startswith(words):
            return meaning
    return f"this is not JSON ({error.msg}). Save the file again"
