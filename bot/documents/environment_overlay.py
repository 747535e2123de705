"""Set values of a document from environment variables.

`ASIDE_ENGINE__MODEL` sets `model` in `engine`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from rapidfuzz import fuzz, process

from bot.documents.fault import Fault, SourcePosition
from bot.documents.model_shape import ModelShape

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from pydantic import BaseModel

    from bot.documents.yaml_tree import Tree

SettingPath: TypeAlias = tuple[str, ...]

_NESTING = "__"


def apply_environment(
    tree: Tree,
    model: type[BaseModel],
    environ: Mapping[str, str],
    prefix: str,
    reserved: Mapping[str, SettingPath],
    ignored: Collection[str] = (),
) -> list[Fault]:
    """Set values of `tree` from the variables that begin with `prefix`.

    A variable overrides the file. Commas separate the entries of a list. `reserved` maps each
    variable that other code reads to the path that only this variable may set. Variables in
    `ignored` are skipped. Return one fault for each variable with an unknown name or no value.
    """
    shape = ModelShape(model)
    places = {prefix + _NESTING.join(path).upper(): path for path in shape.leaves()}
    renamed = {prefix + _NESTING.join(path).upper(): name for name, path in reserved.items()}
    faults = []
    for name in sorted(
        name for name in environ if name.startswith(prefix) and name not in {*reserved, *ignored}
    ):
        value = environ[name].strip()
        if name in renamed:
            faults.append(
                Fault(
                    SourcePosition(name),
                    f"this value is only read from {renamed[name]}. Rename the variable",
                )
            )
        elif name not in places:
            faults.append(_unknown_variable(name, [*places, *reserved, *ignored]))
        elif not value:
            faults.append(
                Fault(SourcePosition(name), "the variable is empty. Give it a value or unset it")
            )
        else:
            _put(tree, places[name], name, value, is_list=shape.takes_list(places[name]))
    return faults


def _unknown_variable(name: str, known: Iterable[str]) -> Fault:
    near = process.extract(name, sorted(known), scorer=fuzz.ratio, limit=2, score_cutoff=60)
    if not near:
        return Fault(SourcePosition(name), "no setting has this name. Unset the variable")
    names = " or ".join(found for found, _, _ in near)
    return Fault(SourcePosition(name), f"no setting has this name. Did you mean {names}?")


def _put(tree: Tree, path: SettingPath, name: str, text: str, *, is_list: bool) -> None:
    group = _group(tree, path[:-1], name)
    if group is None:
        return
    entries = [entry for part in text.strip("[]").split(",") if (entry := part.strip())]
    if path[-1] in group:
        tree.remove(path)
    group[path[-1]] = entries if is_list else text
    tree.positions[path] = tree.keys[path] = SourcePosition(name, written=text)
    if is_list:
        tree.positions.update(
            {
                (*path, index): SourcePosition(name, written=entry)
                for index, entry in enumerate(entries)
            }
        )


def _group(tree: Tree, path: SettingPath, name: str) -> dict[str, Any] | None:
    """Return the mapping at `path` and create it if it is missing.

    Return None if the file has another kind of value there. Validation reports that later.
    """
    if tree.data is None:
        tree.data = {}
    group: Any = tree.data
    for depth, key in enumerate(path):
        if not isinstance(group, dict):
            break
        if group.get(key) is None:
            group[key] = {}
            tree.positions[path[: depth + 1]] = SourcePosition(name)
        group = group[key]
    return group if isinstance(group, dict) else None
