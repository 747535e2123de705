"""Set values of a document from environment variables.

`ASIDE_ENGINE__MODEL` sets `model` in `engine`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from rapidfuzz import fuzz, process

from bot.documents.fault import Fault, SourcePosition
from bot.documents.model_shape import ModelShape

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from pydantic import BaseModel

    from bot.documents.yaml_tree import Tree

SettingPath: TypeAlias = tuple[str, ...]

_NESTING: Final = "__"
_MOST_NAMES: Final = 3  # names of foreign variables in one sentence
_ALIKE: Final = 80  # similarity (0 to 100) at which a name counts as a misspelt variable of ours

# The variables that Kubernetes and Docker set in every container for a service of a given name.
_SERVICE_VARIABLE: Final = re.compile(
    r"([A-Z0-9]+_)*(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)"
)


def apply_environment(
    tree: Tree,
    model: type[BaseModel],
    environ: Mapping[str, str],
    prefix: str,
    reserved: Mapping[str, SettingPath],
    ignored: Collection[str] = (),
    *,
    warn: Callable[[str], None],
) -> list[Fault]:
    """Set values of `tree` from the variables that begin with `prefix`.

    A variable overrides the file. Commas separate the entries of a list. `reserved` maps each
    variable that other code reads to the path that only this variable may set. Variables in
    `ignored` are skipped. Return one fault for each variable with a misspelt name or no value.

    `warn` receives one sentence about variables that are not ours. A cluster, for example, sets
    `ASIDE_SERVICE_HOST` for a service called aside.
    """
    shape = ModelShape(model)
    places = {prefix + _NESTING.join(path).upper(): path for path in shape.leaves()}
    renamed = {prefix + _NESTING.join(path).upper(): name for name, path in reserved.items()}
    faults: list[Fault] = []
    foreign: list[str] = []
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
            if near := _find_nearest(name, prefix, places, {**reserved, **dict.fromkeys(ignored)}):
                problem = f"no setting has this name. Did you mean {' or '.join(near)}?"
                faults.append(Fault(SourcePosition(name), problem))
            else:
                foreign.append(name)
        elif not value:
            faults.append(
                Fault(SourcePosition(name), "the variable is empty. Give it a value or unset it")
            )
        else:
            _put(tree, places[name], name, value, is_list=shape.takes_list(places[name]))
    for sentence in _describe_foreign(foreign, prefix):
        warn(sentence)
    return faults


def _find_nearest(
    name: str,
    prefix: str,
    places: Mapping[str, SettingPath],
    others: Mapping[str, SettingPath | None],
) -> list[str]:
    """Return the variables of ours that the person probably meant, or an empty list."""
    rest = name.removeprefix(prefix)
    if _NESTING not in rest and _SERVICE_VARIABLE.fullmatch(rest):
        return []
    known: dict[str, SettingPath | None] = {**places, **others}
    if same_key := [one for one, path in known.items() if path and path[-1].upper() == rest]:
        return same_key[:2]
    plain = {one: one.removeprefix(prefix).replace(_NESTING, "_") for one in known}
    bare = rest.replace(_NESTING, "_").strip("_")
    found = process.extract(bare, plain, scorer=fuzz.ratio, limit=2, score_cutoff=_ALIKE)
    if found:
        return [one for _, _, one in found]
    group = rest.partition(_NESTING)[0]
    in_group = {one: text for one, text in plain.items() if one.startswith(f"{prefix}{group}__")}
    return [one for _, _, one in process.extract(bare, in_group, scorer=fuzz.ratio, limit=2)]


def _describe_foreign(names: Sequence[str], prefix: str) -> Iterable[str]:
    """Yield one sentence for the variables of a cluster and one for all others."""
    cluster = [one for one in names if _SERVICE_VARIABLE.fullmatch(one.removeprefix(prefix))]
    others = [one for one in names if one not in cluster]
    if cluster:
        service = prefix.strip("_").lower()
        yield (
            f"Ignored {_list_names(cluster)}. Kubernetes and Docker set such variables for a "
            f"service called {service}. Set `enableServiceLinks: false` to avoid them."
        )
    if others:
        verb = "is not a setting" if len(others) == 1 else "are not settings"
        yield f"Ignored {_list_names(others)}, which {verb} of Aside."


def _list_names(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMES
    listed = ", ".join(names[:_MOST_NAMES])
    return f"{listed} and {more} more variables" if more > 0 else f"{listed}"


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
