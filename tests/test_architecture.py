"""docs/architecture.md: each path and name in it exists, and its import table is the real one."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.test_imports import ALLOWED

ROOT = Path(__file__).parent.parent
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PATH = re.compile(
    r"`((?:bot|cogs|tests|personas|models|docs|\.ci)(?:/[\w.*-]+)*/?)(?:::([\w.]+))?`"
)
REFERENCES = sorted(set(PATH.findall(ARCHITECTURE)))


def names_in(path: Path) -> set[str]:
    """Return the functions, classes and constants of a module, and methods as `Class.method`."""
    found: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{name}" for name in _members(node)}
        targets = node.targets if isinstance(node, ast.Assign) else []
        targets = [node.target] if isinstance(node, ast.AnnAssign) else targets
        found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return found


def _members(node: ast.ClassDef) -> set[str]:
    return {
        member.name
        for member in node.body
        if isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def dotted(path: str) -> str:
    """Return the name by which a package or module is imported."""
    return path.removesuffix(".py").replace("/", ".")


@pytest.mark.parametrize(("path", "name"), REFERENCES)
def test_every_path_and_name_in_the_architecture_exists(path: str, name: str) -> None:
    assert list(ROOT.glob(path.rstrip("/"))), f"{path} does not exist"
    if name:
        assert name in names_in(ROOT / path), f"{path} has no {name}"


def test_the_architecture_refers_to_the_code_often_enough_to_guide_a_reader() -> None:
    assert len(REFERENCES) > 60
    assert sum(1 for _, name in REFERENCES if name) > 25


def test_the_import_table_is_the_one_that_is_enforced() -> None:
    section = ARCHITECTURE.split("### Who may import whom", 1)[1].split("\n#", 1)[0]
    rows = re.findall(r"^\| `([\w./]+)` \| (.*?) \|$", section, re.MULTILINE)
    written = {
        dotted(package): {dotted(one) for one in re.findall(r"`([\w./]+)`", allowed)}
        for package, allowed in rows
    }
    assert written == ALLOWED
