"""Translate pydantic's errors into sentences that name the fix."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.documents.fault import SourcePosition

# Characters of a wrong value that a message quotes. A longer value may be a misplaced secret.
_MAX_QUOTED = 24

_EXPECTED = {
    "string_type": "text",
    "string_unicode": "text without half of a surrogate pair",
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
    expected = " or ".join(dict.fromkeys(filter(None, (_expected(error) for error in errors))))
    if not expected:
        return f"{name} is not valid. {errors[0]['msg']}"
    if value is None:
        return f"{name} is empty. Write {expected} or delete the line"
    if expected == "text" and not isinstance(value, (list, dict)):
        kind = describe_kind(value)
        return (
            f"{name} must be text, but YAML reads this as {kind}. "
            f'Put it in quotes: "{position.written}"'
        )
    written = (
        " ".join(position.written.split())
        if position.written and len(position.written) <= _MAX_QUOTED
        else None
    )
    return f"{name} must be {expected}, not {f'`{written}`' if written else describe_kind(value)}"


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
    kind, context = error["type"], error.get("ctx", {})
    if kind == "value_error":
        return str(context["error"])
    if kind == "union_tag_invalid":
        key, tags = (context[part].replace("'", "`") for part in ("discriminator", "expected_tags"))
        return f"{key} of {name} must be one of {tags}"
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


def _expected(error: Any) -> str | None:
    template = _EXPECTED.get(error["type"])
    if template is None:
        return None
    context = {key: str(value).replace("'", "`") for key, value in error.get("ctx", {}).items()}
    return template.format(**context)
