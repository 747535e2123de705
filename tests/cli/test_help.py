"""The help of every command, as people read it on a terminal of 80 columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import typer.main
from typer.core import TyperGroup
from typer.testing import CliRunner

from bot.cli import app

if TYPE_CHECKING:
    from collections.abc import Iterator


def paths(group: TyperGroup, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield path
    for name, command in group.commands.items():
        if isinstance(command, TyperGroup):
            yield from paths(command, (*path, name))
        else:
            yield (*path, name)


def all_commands() -> list[tuple[str, ...]]:
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    return list(paths(group))


@pytest.mark.parametrize("path", all_commands(), ids=" ".join)
def test_help_is_plain_and_complete(path: tuple[str, ...]) -> None:
    result = CliRunner(env={"COLUMNS": "80"}).invoke(app, [*path, "--help"], prog_name="aside")
    assert result.exit_code == 0
    assert max(map(len, result.output.splitlines())) <= 80
    for noise in ("<str>", "<int", "<bool>", "<path>", "<list"):
        assert noise not in result.output
    assert not [line for line in result.output.splitlines() if line.endswith("...")][1:]
