"""Translate pydantic's errors into sentences that name the fix."""

from __future__ import annotations

import datetime
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.documents.fault import SourcePosition

# Characters of a wrong value that a message quotes. A longer value may be a misplaced secret.
_MAX_QUOTED = 24

_MAX_TEXT = 40  # characters of a value that a message shows in quotes as the fix
_NO_SPACE = re.compile(r"[\w-]+:(?!//)[^\s:]")

_EXPECTED = {
    "string_type": "text",
    "tuple_type": "a list",
    "list_type": "a list",
    "model_type": "a group of keys",
    "model_attributes_type": "a group of keys",
    "dict_type": "a group of keys",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_parsing_size": "a smaller number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "literal_error": "{expected}",
    "enum": "{expected}",
    "greater_than": "more than {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than": "less than {lt}",
    "less_than_equal": "at most {le}",
    "union_tag_not_found": "a group of keys",
    "path_type": "a path",
}


def describe_errors(
    place: tuple[str | int, ...], value: object, position: SourcePosition, errors: Sequence[Any]
) -> str:
    """Return a sentence with the problem and the fix for the value at `place`.

    `errors` are the errors that pydantic reports for this value.
    """
    name = _name(place)
    for error in errors:
        if special := _special(name, value, error):
            return special
    expected = " or ".join(
        dict.fromkeys(filter(None, (_describe_expected(error) for error in errors)))
    )
    if not expected:
        return f"{name} is not valid. {errors[0]['msg']}"
    if value is None and not position.written and not position.json:
        return f"{name} is empty. Write {expected} or delete the line"
    if position.json:
        return _describe_json(name, value, expected)
    if expected == "text":
        return _describe_text(name, value, position)
    problem = f"{name} must be {expected}, not {_quote_value(value, position)}"
    written_value = position.written if not isinstance(value, (list, dict)) else None
    if "a list" in expected:
        if isinstance(value, dict) and not position.written:
            return f"{name} must be a list, but its entries have no dashes. Start each with `- `"
        if not isinstance(value, dict):
            return f"{problem}. Start each entry with `- ` on its own line"
    if expected == "a path" and written_value:
        return f"{problem}. Put it in quotes: {_quote(written_value)}"
    if "a group of keys" in expected and isinstance(value, str) and _NO_SPACE.match(value):
        return f"{problem}. Put a space after the colon"
    return problem


def _describe_text(name: str, value: object, position: SourcePosition) -> str:
    """Return the sentence for a value that should be text. Quoting it is usually the fix."""
    kind = describe_kind(value)
    written = position.written
    if written and len(written) <= _MAX_TEXT and "\n" not in written:
        problem = f"{name} must be text, but YAML reads this as {kind}"
        fix = f"Put it in quotes: {_quote(written)}"
        return f"{problem}. {fix}" + (", or delete the line" if value is None else "")
    if written:
        return f"{name} must be text, but YAML reads this as {kind}. Put the text in quotes"
    if isinstance(value, dict) and len(value) == 1:
        key = str(next(iter(value)))[:_MAX_QUOTED]
        return f"{name} must be text, but YAML reads `{key}:` as a key. Put the text in quotes"
    return f"{name} must be text, not {kind}"


def _describe_json(name: str, value: object, expected: str) -> str:
    """Return the sentence for a wrong value in a JSON file."""
    fix = ". Put it in double quotes" if expected == "text" and _is_scalar(value) else ""
    kind = "null" if value is None else describe_kind(value)
    return f"{name} must be {expected}, not {kind}{fix}"


def _is_scalar(value: object) -> bool:
    return isinstance(value, (bool, int, float))


def _quote_value(value: object, position: SourcePosition) -> str:
    """Return the value as the person wrote it, or its kind if it is long and may be a secret."""
    written = position.written
    if written and len(written) <= _MAX_QUOTED:
        return f"`{' '.join(written.split())}`"
    return describe_kind(value)


def _quote(text: str) -> str:
    """Return `text` as a quoted YAML scalar."""
    if '"' in text or "\\" in text:
        return "'" + text.replace("'", "''") + "'"
    return f'"{text}"'


def describe_kind(value: object) -> str:
    """Return the kind of a plain value in everyday words."""
    kinds = {bool: "true or false", int: "a number", float: "a number", str: "text", list: "a list"}
    if isinstance(value, datetime.date):
        return "a date"
    return "nothing" if value is None else kinds.get(type(value), "a group of keys")


def _name(place: tuple[str | int, ...]) -> str:
    if not place:
        return "the file"
    if isinstance(place[-1], int):
        return (
            f"entry {place[-1] + 1} of `{place[-2]}`"
            if len(place) > 1
            else f"entry {place[-1] + 1}"
        )
    return f"`{place[-1]}`"


def _special(name: str, value: object, error: Any) -> str | None:
    kind = error["type"]
    context = error.get("ctx", {})
    if kind == "value_error":
        return str(context["error"])
    if kind == "union_tag_invalid":
        key, tags = (context[part].replace("'", "`") for part in ("discriminator", "expected_tags"))
        return f"{key} of {name} must be one of {tags}"
    if kind == "string_unicode":
        return f"{name} has half of a character, such as `\\ud83d`. Write the whole character"
    if kind == "string_too_long":
        return f"{name} has {len(str(value))} characters. Shorten it to {context['max_length']}"
    if kind == "string_too_short":
        return f"{name} is empty. Write some text"
    if kind == "too_long":
        return (
            f"{name} has {context['actual_length']} entries. Keep at most {context['max_length']}"
        )
    if kind == "too_short":
        return f"{name} has too few entries. Add entries until it has {context['min_length']}"
    return None


def _describe_expected(error: Any) -> str | None:
    template = _EXPECTED.get(error["type"])
    if template is None:
        return None
    context = {key: str(value).replace("'", "`") for key, value in error.get("ctx", {}).items()}
    return template.format(**context)
