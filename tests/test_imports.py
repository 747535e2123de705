"""Which package may import which: the table in docs/architecture.md, enforced."""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT = Path(__file__).parent.parent
ALLOWED = {
    # package or module: the other packages of the project that it may import
    "bot.errors": set(),
    "bot.package_data": set(),
    "bot.subprocess_env": set(),
    "bot.her": set(),
    "bot.documents": {"bot.errors"},
    "bot.settings": {"bot.errors", "bot.documents"},
    "bot.logs": {"bot.errors", "bot.settings"},
    "bot.library": {"bot.errors", "bot.documents", "bot.package_data"},
    "bot.weights": {
        "bot.errors",
        "bot.documents",
        "bot.package_data",
        "bot.subprocess_env",
        "bot.engine.protocol",
    },
    "bot.engine": {
        "bot.errors",
        "bot.her",
        "bot.weights",
        "bot.package_data",
        "bot.subprocess_env",
    },
    "bot.scenes": {
        "bot.errors",
        "bot.her",
        "bot.library",
        "bot.engine.protocol",
        "bot.engine.reproducible_engine",
    },
    "bot.store": {"bot.errors", "bot.her", "bot.library", "bot.scenes"},
    "bot.posting": {"bot.errors", "bot.her", "bot.library", "bot.scenes"},
    "bot.evaluation": {
        "bot.errors",
        "bot.her",
        "bot.library",
        "bot.scenes",
        "bot.engine.protocol",
    },
    "bot.transcript": {"bot.her", "bot.library", "bot.scenes"},
    "bot.terminal": {"bot.errors", "bot.her", "bot.library", "bot.scenes"},
    "cogs": {
        "bot.errors",
        "bot.her",
        "bot.library",
        "bot.scenes",
        "bot.posting",
        "bot.transcript",
    },
}
COMPOSITION = (
    "bot.__main__",
    "bot.app",
    "bot.bench",
    "bot.cli",
    "bot.cog_list",
    "bot.engine_factory",
    "bot.services",
    "bot.tryout",
)
"""Packages that put the others together, and may import all of them."""

WITHOUT_DISCORD = (
    "bot.her",
    "bot.engine",
    "bot.weights",
    "bot.library",
    "bot.store",
    "bot.scenes",
    "bot.terminal",
    "bot.transcript",
)


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {
    module_name(path): path for top in ("bot", "cogs") for path in (ROOT / top).rglob("*.py")
}


def imports_of(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


def is_in(name: str, packages: Iterable[str]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


@pytest.mark.parametrize("name", sorted(MODULES))
def test_a_package_imports_only_the_packages_it_may(name: str) -> None:
    if name == "bot" or is_in(name, COMPOSITION):
        return
    package = next(package for package in ALLOWED if is_in(name, [package]))
    allowed = {package, *ALLOWED[package]}
    ours = {other for other in imports_of(MODULES[name]) if other in MODULES}
    assert not [other for other in sorted(ours) if other != "bot" and not is_in(other, allowed)]


@pytest.mark.parametrize("name", sorted(name for name in MODULES if is_in(name, WITHOUT_DISCORD)))
def test_only_the_outer_packages_import_discord(name: str) -> None:
    imported = imports_of(MODULES[name])
    assert not [other for other in imported if is_in(other, ["discord", "simcord"])]


def test_imports_have_no_cycles() -> None:
    graph = {
        name: {other for other in imports_of(path) if other in MODULES} - {name}
        for name, path in MODULES.items()
    }
    packages = {name for name, path in MODULES.items() if path.name == "__init__.py"}
    for name in graph:  # importing a module first runs the packages that contain it
        graph[name] |= {package for package in packages if name.startswith(f"{package}.")}
    for package in packages:
        children = {name for name in graph if name.startswith(f"{package}.")}
        graph[package] -= children & graph[package]
    TopologicalSorter(graph).prepare()
