"""`aside try` on the command line."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from bot.cli import app
from bot.cli.try_command import TryExtraMissing, try_
from bot.tryout import terminal_messages

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

COMMAND = (sys.executable, "-m", "bot", "try", "--no-browser")


@contextmanager
def trying(folder: Path, *options: str) -> Iterator[subprocess.Popen[str]]:
    """Run the command in an empty folder and its own process group."""
    quiet = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("ASIDE_", "DISCORD_"))
    }
    process = subprocess.Popen(
        [*COMMAND, *options],
        cwd=folder,
        env=quiet | {"TMPDIR": str(folder / "tmp")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


def link_of(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Wait for the link that the command prints. Return it and the output so far."""
    assert process.stdout is not None
    said = []
    for line in process.stdout:
        said.append(line)
        if found := re.match(r"Open\s+(http://127\.0\.0\.1:\d+/#\S+)", line):
            return found[1], "".join(said)
    raise AssertionError("".join(said))


def ask(link: str, what: str, **body: str) -> None:
    """Send a request to the site as its page does."""
    root, _, key = link.partition("#")
    headers = {"X-Aside-Key": key, "Content-Type": "application/json"}
    asked = urllib.request.Request(f"{root}aside/{what}", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(asked) as answer:
        assert answer.status == 200


@pytest.mark.model
def test_ctrl_c_during_a_reply_cleans_up(tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    began = perf_counter()
    with trying(tmp_path) as process:
        link, said = link_of(process)
        assert "warn" not in said.lower()
        with urllib.request.urlopen(link.partition("#")[0]) as page:
            assert "Your first scene" in page.read().decode()
        assert perf_counter() - began < 30  # seconds on a busy machine
        ask(link, "step", step="start")
        ask(link, "step", step="speak")
        os.killpg(process.pid, signal.SIGINT)  # a terminal sends Ctrl-C to the worker too
        rest, _ = process.communicate(timeout=20)
    assert process.returncode in (0, 130)
    assert_nothing_left(tmp_path, process, rest)


@pytest.mark.model
def test_ctrl_c_during_the_start_cleans_up(tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    with trying(tmp_path) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("Loading")
        process.terminate()
        rest, _ = process.communicate(timeout=20)
    assert process.returncode == 0
    assert_nothing_left(tmp_path, process, rest)


def assert_nothing_left(folder: Path, process: subprocess.Popen[str], said: str) -> None:
    """Assert that no process, file or traceback is left."""
    assert "Traceback" not in said
    assert [path.name for path in folder.rglob("*")] == ["tmp"]
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


def test_a_missing_extra_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "simcord", None)
    with pytest.raises(TryExtraMissing, match=r"pip install 'aside\[try\]'"):
        try_()


def test_a_used_port_is_a_user_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        result = CliRunner().invoke(app, ["try", "--port", port])
    assert result.exit_code == 2
    assert f"Port {port} can't be used" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_an_unknown_scenario_is_a_user_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["try", "--scenario", "pride"])
    assert result.exit_code == 2
    assert "pride-and-prejudice" in result.stderr


def test_without_a_display_the_visitor_opens_the_link(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    terminal_messages.open_browser("http://127.0.0.1:8123/#key")
    assert "ssh -L 8123:127.0.0.1:8123" in capsys.readouterr().out
