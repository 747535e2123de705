from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from typer.testing import CliRunner, Result

from bot.cli import app

Aside: TypeAlias = Callable[..., Result]

MORNING = """\
title: The Morning Call
book: Pride and Prejudice
author: Jane Austen
summary: A letter has come to Longbourn.
setting: The library at Longbourn, after breakfast.
characters:
  - name: Mr Bennet
    profile: A man of quick parts and sarcastic humour.
    motivation: He wants to be amused.
    aliases: [Papa]
  - name: Elizabeth Bennet
    profile: His second daughter.
    motivation: She fears the letter is about Mr Darcy.
  - name: Mr Darcy
    playable: false
"""


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Run in an empty working folder with a library of one scenario and no outside settings."""
    for name in [
        name for name in os.environ if name.startswith("ASIDE_") or name == "DISCORD_TOKEN"
    ]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    put("books/morning-call/scenario.yaml", MORNING)
    put("aside.yaml", "library:\n  folders: [books]\n")
    return tmp_path


@pytest.fixture
def aside() -> Aside:
    """Return a function that runs `aside` with arguments."""

    def run(*arguments: str, given: str | bytes = b"") -> Result:
        return CliRunner().invoke(app, list(arguments), input=given)

    return run


def put(path: str, text: str) -> Path:
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def data(result: Result) -> Any:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def complaint(result: Result, status: int = 2) -> str:
    """Return the message of a failed command: one line, and an empty standard output."""
    assert result.exit_code == status, result.output
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("aside: ")
    return line.removeprefix("aside: ")
