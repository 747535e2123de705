from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.cli.conftest import Aside

PROJECT = Path(__file__).parents[2] / "pyproject.toml"


def test_version_prints_the_version_of_the_project(aside: Aside) -> None:
    version = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["version"]
    assert aside("version").stdout == f"aside {version}\n"
