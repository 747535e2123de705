"""Names and sizes that let a reader find a thing by guessing its file."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
SOURCES = {
    path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
    for top in ("bot", "cogs")
    for path in sorted((ROOT / top).rglob("*.py"))
}

MOST_LINES = 40
LONG_FUNCTIONS = {
    "create_services": "one call per service, in the order of their dependencies",
    "create_cogs": "one call per cog",
}
"""Functions that may be longer than `MOST_LINES`, each with the reason."""

PARTICIPLE = re.compile(
    r"\w+ed|begun|bought|built|caught|chosen|done|drawn|fallen|felt|found|given|gone|got|held|hidden"
    r"|kept|known|laid|led|left|lost|made|meant|paid|said|seen|sent|shown|spent|spoken|taken|thrown"
    r"|told|understood|won|worn|written"
)
VERBS_THAT_END_IN_ED = frozenset({"embed", "exceed", "feed", "need", "proceed", "seed", "speed"})


def functions() -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for path, tree in SOURCES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield path, node


def count_code_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return the lines of a function without its parameters and its docstring."""
    documented = ast.get_docstring(function) is not None and len(function.body) > 1
    first = function.body[1 if documented else 0]
    return (function.end_lineno or 0) - first.lineno + 1


def is_property(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(
        ast.unparse(decorator).rpartition(".")[2] in ("property", "cached_property", "setter")
        for decorator in function.decorator_list
    )


def begins_with_participle(name: str) -> bool:
    word = name.lstrip("_").split("_")[0]
    return word not in VERBS_THAT_END_IN_ED and PARTICIPLE.fullmatch(word) is not None


def test_no_two_modules_have_one_name() -> None:
    places = defaultdict(list)
    for path in SOURCES:
        if (name := path.rsplit("/", 1)[-1]) != "__init__.py":
            places[name].append(path)
    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}


def test_no_two_classes_have_one_name() -> None:
    places = defaultdict(list)
    for path, tree in SOURCES.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                places[node.name].append(path)
    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}


def test_functions_are_short() -> None:
    long = {
        f"{path}::{function.name}": lines
        for path, function in functions()
        if (lines := count_code_lines(function)) > MOST_LINES
        and function.name not in LONG_FUNCTIONS
    }
    assert long == {}


def test_every_long_function_exists_and_is_long() -> None:
    lines = {function.name: count_code_lines(function) for _, function in functions()}
    assert [name for name in LONG_FUNCTIONS if lines.get(name, 0) <= MOST_LINES] == []


def test_functions_are_verbs_and_not_participles() -> None:
    found = [
        f"{path}::{function.name}"
        for path, function in functions()
        if begins_with_participle(function.name) and not is_property(function)
    ]
    assert found == []
