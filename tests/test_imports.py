"""Who may import whom, as the docstrings of the rooms say."""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROOMS = {
    # room: the rooms of ours it may know besides itself
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
    "bot.scenes": {"bot.errors", "bot.her", "bot.library", "bot.engine.protocol"},
    "bot.store": {"bot.errors", "bot.her", "bot.library", "bot.scenes"},
    "bot.posting": {"bot.errors", "bot.her", "bot.library", "bot.scenes"},
    "bot.terminal": {"bot.errors", "bot.her", "bot.library", "bot.scenes"},
    "cogs": {"bot.errors", "bot.her", "bot.library", "bot.scenes", "bot.posting"},
}
WIRING = (
    "bot.__main__",
    "bot.app",
    "bot.bench",
    "bot.cli",
    "bot.engine_factory",
    "bot.tryout",
)  # these know everybody
NO_DISCORD = (
    "bot.her",
    "bot.engine",
    "bot.weights",
    "bot.library",
    "bot.store",
    "bot.scenes",
    "bot.terminal",
)


def module(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module(path): path for room in ("bot", "cogs") for path in (ROOT / room).rglob("*.py")}


def imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


def within(name: str, rooms: object) -> bool:
    return any(name == room or name.startswith(f"{room}.") for room in rooms)  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", sorted(MODULES))
def test_a_room_imports_only_the_rooms_it_may_know(name: str) -> None:
    if name == "bot" or within(name, WIRING):
        return
    room = next(room for room in ROOMS if within(name, [room]))
    allowed = {room, *ROOMS[room]}
    ours = {other for other in imports(MODULES[name]) if other in MODULES}
    assert {
        other
        for other in ours
        if other != "bot" and not within(other, allowed) and other not in allowed
    } == set()


@pytest.mark.parametrize("name", sorted(name for name in MODULES if within(name, NO_DISCORD)))
def test_discord_stays_at_the_doors(name: str) -> None:
    assert not [other for other in imports(MODULES[name]) if within(other, ["discord", "simcord"])]


def test_the_imports_of_our_modules_go_in_no_circle() -> None:
    graph = {
        name: {other for other in imports(path) if other in MODULES} - {name}
        for name, path in MODULES.items()
    }
    packages = {name for name, path in MODULES.items() if path.name == "__init__.py"}
    for name in graph:  # importing a module runs its packages first
        graph[name] |= {package for package in packages if name.startswith(f"{package}.")}
    for package in packages:
        graph[package] -= {
            name for name in graph if name.startswith(f"{package}.") and name in graph[package]
        }
    TopologicalSorter(graph).prepare()
