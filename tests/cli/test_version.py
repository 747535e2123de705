from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.cli.conftest import Aside

PROJECT = Path(__file__).parents[2] / "pyproject.toml"


def test_version_prints_the_version_of_the_project(aside: Aside) -> None:
    version = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["version"]
    assert aside("version").stdout == f"aside {version}\n"


def test_the_command_line_starts_without_the_packages_that_only_some_commands_need() -> None:
    names = "{'aiohttp', 'discord', 'gguf', 'jinja2', 'llama_cpp', 'numpy', 'PIL', 'yaml'}"
    program = f"import sys, bot.cli; print(*sorted({names} & set(sys.modules)))"
    started = subprocess.run(
        [sys.executable, "-c", program],
        cwd=PROJECT.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    assert started.stdout == "\n"
