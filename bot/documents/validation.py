"""Validate a document against a pydantic model and report faults with file, line and fix."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError
from rapidfuzz import process

from bot.documents.fault import Fault, NestedFault, SourcePosition
from bot.documents.model_shape import ModelShape
from bot.documents.pydantic_messages import describe_errors, describe_kind
from bot.documents.text_file import read_text
from bot.documents.yaml_tree import Tree, parse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from bot.errors import DocumentError

Model = TypeVar("Model", bound=BaseModel)
Complaint = TypeVar("Complaint", bound="DocumentError")
Steps = tuple[str | int, ...]

MAX_FAULTS = 100
"""Faults that are reported for one document. Fix these to see the rest."""

_MAX_POSITIONS = 10


def read_document(
    path: Path,
    model: type[Model],
    error: type[DocumentError],
    defaults: Mapping[str, object] | None = None,
) -> Model:
    """Return the contents of the YAML file at `path` as a `model`.

    `defaults` supplies keys that the file leaves out. Raises `error`; its text is for a person.
    """
    try:
        tree = parse(read_text(path), str(path))
        if isinstance(tree.data, dict):
            _fill(tree, tree.data, defaults or {}, SourcePosition(str(path)))
        checked = validate(tree, model)
    except Fault as fault:
        checked = [fault]
    if isinstance(checked, list):
        raise combine_faults(checked, error) from None
    return checked


def validate(tree: Tree, model: type[Model]) -> Model | list[Fault]:
    """Return the tree as a `model`, or its faults in the order of the file."""
    if not isinstance(tree.data, dict) and tree.position(()).json:
        problem = f"this must be an object with keys, not {describe_kind(tree.data)}"
        return [Fault(tree.position(()), problem)]
    if not isinstance(tree.data, dict):
        found = (
            "is empty" if tree.data is None else f"contains {describe_kind(tree.data)}, not keys"
        )
        return [Fault(tree.position(()), f"the file {found}. Write `key: value` lines")]
    try:
        return model.model_validate(tree.data)
    except ValidationError as error:
        return _collect_faults(
            tree, ModelShape(model), error.errors(include_url=False)[:MAX_FAULTS]
        )


def _fill(
    tree: Tree, data: dict[str, object], defaults: Mapping[str, object], position: SourcePosition
) -> None:
    for key, value in defaults.items():
        if key not in data:
            data[key] = value
            tree.positions[(key,)] = position


def combine_faults(faults: Sequence[Fault], error: type[Complaint]) -> Complaint:
    """Return an `error` that states the first fault, then the number and lines of the others."""
    others = faults[1:]
    texts = tuple(str(fault) for fault in faults)
    if not others:
        return error(texts[0], texts)
    places = (
        f"line {fault.position.line}" if fault.position.line else fault.position.source
        for fault in others
    )
    more = "1 more fault" if len(others) == 1 else f"{len(others)} more faults"
    named = list(dict.fromkeys(places))
    named[_MAX_POSITIONS:] = ["…"] if named[_MAX_POSITIONS:] else []
    return error(f"{texts[0]} ({more}: {', '.join(named)}.)", texts)


def _collect_faults(tree: Tree, shape: ModelShape, errors: Sequence[Any]) -> list[Fault]:
    """Return one fault for each path, even if all branches of a union reject the value."""
    places: dict[Steps, list[Any]] = {}
    for error in errors:
        location = tuple(error["loc"])
        if isinstance(cause := error.get("ctx", {}).get("error"), NestedFault):
            location += cause.path
        places.setdefault(_find_path(tree, location), []).append(error)
    faults = [
        fault for place, found in places.items() for fault in _describe(tree, shape, place, found)
    ]
    return sorted(faults, key=lambda fault: (fault.position.line or 0, fault.position.column or 0))


def _find_path(tree: Tree, location: Steps) -> Steps:
    """Return the path in the document for a pydantic location, which also names union branches."""
    place: Steps = ()
    for step in location:
        if (*place, step) in tree.positions:
            place = (*place, step)
    return place


def _describe(tree: Tree, shape: ModelShape, place: Steps, errors: Sequence[Any]) -> list[Fault]:
    missing = [error for error in errors if error["type"] == "missing"]
    faults = [_explain_missing_key(tree, shape, place, error["loc"]) for error in missing]
    unknown = [error for error in errors if error["type"] == "extra_forbidden"]
    if unknown:
        faults.append(_explain_unknown_key(tree, shape, place, unknown[0]["loc"]))
    others = [
        error
        for error in errors
        if error not in missing and error not in unknown and not _is_consequence(tree, place, error)
    ]
    if others:
        faults.append(
            Fault(
                tree.position(place),
                describe_errors(place, tree.value(place), tree.position(place), others),
            )
        )
    return faults


def _is_consequence(tree: Tree, place: Steps, error: Any) -> bool:
    """Return whether a list is too short only because pydantic dropped its invalid entries.

    Each invalid entry has a fault of its own.
    """
    entries = tree.value(place)
    return (
        error["type"] == "too_short"
        and isinstance(entries, list)
        and len(entries) >= error["ctx"]["min_length"]
    )


def _explain_missing_key(tree: Tree, shape: ModelShape, place: Steps, location: Steps) -> Fault:
    key = str(location[-1])
    description = shape.keys(location[:-1]).get(key)
    about = f" ({description})" if description else ""
    position = replace(tree.position(place), column=None)
    example = f'`"{key}": …`' if position.json else f"`{key}: …`"
    return Fault(position, f"`{key}` is missing. Add {example}{about}")


def _explain_unknown_key(tree: Tree, shape: ModelShape, place: Steps, location: Steps) -> Fault:
    key = str(location[-1])
    known = list(shape.keys(location[:-1]))
    name, colon, _ = key.partition(":")
    if colon and name in known:
        return Fault(
            tree.keys.get(place) or tree.position(place),
            f"the space after `{name}:` is missing. Write `{name}: …`",
        )
    near = process.extractOne(key.casefold(), known, score_cutoff=70)
    fix = f"Did you mean `{near[0]}`?" if near else f"Delete it or use one of {', '.join(known)}"
    return Fault(
        tree.keys.get(place) or tree.position(place), f"`{key[:40]}` is not a known key here. {fix}"
    )
