"""The domain's sentences fit Discord and a terminal alike: they name no command of either."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOMAIN = [
    ROOT / "bot/errors.py",
    *(
        path
        for package in ("her", "library", "scenes", "store")
        for path in (ROOT / "bot" / package).rglob("*.py")
    ),
]
COMMAND = re.compile(r"`/[a-z]|(?<![\w/])/(?:cast|gm|mydata|play|reveal|scene)\b")


def texts(path: Path) -> list[str]:
    """Every string of a module except its docstrings."""
    tree = ast.parse(path.read_text("utf-8"))
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in docstrings
    ]


@pytest.mark.parametrize("path", DOMAIN, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_sentence_of_the_domain_names_a_command(path: Path) -> None:
    assert [text for text in texts(path) if COMMAND.search(text)] == []


def test_the_search_finds_commands() -> None:
    for sentence in ("Use `/scene start`.", "Ask them to /reveal it.", "`/roll` works"):
        assert COMMAND.search(sentence)
