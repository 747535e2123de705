"""Limits of buttons, selects and modals."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ..conversation import COMPONENTS_V2, walk_components
from ..refusals import BadField
from . import at_most, length, length_faults

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..entities import Json

ROW, BUTTON, SELECT, TEXT_INPUT, LABEL, FILE_UPLOAD = 1, 2, 3, 4, 18, 19
SELECTS = {3, 5, 6, 7, 8}
LINK, PREMIUM = 5, 6


def check_components(body: Json) -> Iterator[BadField]:
    """Yield the faults of a message's components.

    It may have five rows of five buttons or one select, or 40 components of the newer kind.
    """
    components = body.get("components") or []
    if (body.get("flags") or 0) & COMPONENTS_V2:
        yield from _layout_faults(body, components)
    else:
        yield from at_most(body, "components", 5)
        for index, part in enumerate(components):
            if part.get("type") != ROW:
                yield BadField(
                    f"components.{index}.type",
                    "UNION_TYPE_CHOICES",
                    "Value of field must be one of (1,).",
                )
    for index, part in enumerate(walk_components(components)):
        yield from _one(part, f"components.{index}.")
    yield from _custom_id_twice(components)


def _layout_faults(body: Json, components: list[Json]) -> Iterator[BadField]:
    for key in ("content", "embeds", "poll"):
        if body.get(key):
            text = f"The {key!r} field cannot be used when using MessageFlags.IS_COMPONENTS_V2"
            yield BadField(key, "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2", text)
    every = list(walk_components(components))
    if len(every) > 40:
        yield BadField(
            "components",
            "BASE_TYPE_BAD_LENGTH",
            "The total number of components must not exceed 40.",
        )
    if sum(length(part.get("content") or "") for part in every) > 4000:
        yield BadField(
            "components",
            "BASE_TYPE_MAX_LENGTH",
            "The text of all components must be 4000 or fewer in length.",
        )


def _one(part: Json, path: str) -> Iterator[BadField]:
    kind = part.get("type")
    if kind == ROW:
        yield from _row(part, path)
    elif kind == BUTTON:
        yield from _button(part, path)
    elif kind in SELECTS:
        yield from length_faults(part, "custom_id", 100, least=1, path=path)
        yield from length_faults(part, "placeholder", 150, path=path)
        if kind == SELECT:
            yield from _options(part, path)


def _row(part: Json, path: str) -> Iterator[BadField]:
    inside = part.get("components") or []
    has_select = any(each.get("type") in SELECTS for each in inside)
    if not inside or len(inside) > (1 if has_select else 5):
        yield BadField(
            f"{path}components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length."
        )


def _button(part: Json, path: str) -> Iterator[BadField]:
    yield from length_faults(part, "label", 80, path=path)
    if not part.get("label") and not part.get("emoji") and part.get("style") != PREMIUM:
        yield BadField(
            f"{path}label", "BUTTON_COMPONENT_EMPTY", "A button must have a label or an emoji"
        )
    if part.get("style") == LINK:
        yield from length_faults(part, "url", 512, least=1, path=path)
    elif part.get("style") != PREMIUM:
        yield from length_faults(part, "custom_id", 100, least=1, path=path)


def _options(part: Json, path: str) -> Iterator[BadField]:
    options = part.get("options") or []
    if not 1 <= len(options) <= 25:
        yield BadField(
            f"{path}options", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 25 in length."
        )
    for index, option in enumerate(options):
        for key, least in (("label", 1), ("value", 1), ("description", 0)):
            yield from length_faults(option, key, 100, least=least, path=f"{path}options.{index}.")
    for value, count in Counter(option.get("value") for option in options).items():
        if count > 1:
            yield BadField(
                f"{path}options",
                "SELECT_COMPONENT_OPTION_VALUE_DUPLICATED",
                f"{value!r} is there twice",
            )


def _custom_id_twice(components: list[Json]) -> Iterator[BadField]:
    ids = Counter(
        part["custom_id"] for part in walk_components(components) if part.get("custom_id")
    )
    for custom_id, count in ids.items():
        if count > 1:
            yield BadField(
                "components", "COMPONENT_CUSTOM_ID_DUPLICATED", f"{custom_id!r} is there twice"
            )


def check_modal(modal: Json) -> Iterator[BadField]:
    """Yield the faults of a modal, which has a title of 45 characters and one to five inputs."""
    yield from length_faults(modal, "title", 45, least=1)
    yield from length_faults(modal, "custom_id", 100, least=1)
    if not 1 <= len(modal.get("components") or []) <= 5:
        yield BadField("components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length.")
    for index, part in enumerate(walk_components(modal.get("components") or [])):
        path = f"components.{index}."
        if part.get("type") == LABEL:
            yield from length_faults(part, "label", 45, least=1, path=path)
            yield from length_faults(part, "description", 100, path=path)
        elif part.get("type") == TEXT_INPUT:
            yield from length_faults(part, "label", 45, path=path)
            yield from length_faults(part, "custom_id", 100, least=1, path=path)
            yield from length_faults(part, "placeholder", 100, path=path)
            yield from length_faults(part, "value", 4000, path=path)
        elif part.get("type") == FILE_UPLOAD:
            yield from length_faults(part, "custom_id", 100, least=1, path=path)
    yield from _custom_id_twice(modal.get("components") or [])
