"""Discord's rules that its OpenAPI description lacks.

Each check returns the faults that it found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..refusals import BadField, Refusal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..entities import Json


def length(text: str) -> int:
    """Return the larger of code points and UTF-16 units, which is the safe way to count."""
    return max(len(text), len(text.encode("utf-16-le", "surrogatepass")) // 2)


def length_faults(
    body: Json, key: str, most: int, *, least: int = 0, path: str = ""
) -> list[BadField]:
    """Yield the faults of a text that must have `least` to `most` characters."""
    text = body.get(key) or ""
    where = f"{path}{key}"
    if not isinstance(text, str):
        return [BadField(where, "STRING_TYPE_CONVERT", "Could not interpret as string.")]
    if length(text) > most:
        return [BadField(where, "BASE_TYPE_MAX_LENGTH", f"Must be {most} or fewer in length.")]
    if length(text.strip()) < least:
        return [BadField(where, "BASE_TYPE_REQUIRED", "This field is required")]
    return []


def at_most(body: Json, key: str, most: int, *, path: str = "") -> list[BadField]:
    """Yield the faults of a list that may have `most` entries."""
    if len(body.get(key) or []) > most:
        return [
            BadField(f"{path}{key}", "BASE_TYPE_MAX_LENGTH", f"Must be {most} or fewer in length.")
        ]
    return []


def refuse(faults: Iterable[BadField]) -> None:
    """Refuse a body if it has any faults."""
    if found := list(faults):
        raise Refusal(50035, faults=found)
