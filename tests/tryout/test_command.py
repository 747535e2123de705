"""`aside try` as a person runs it."""

from __future__ import annotations

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

from bot.tryout import telling

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

COMMAND = (sys.executable, "-m", "bot", "try", "--no-browser")


@contextmanager
def trying(folder: Path, *options: str) -> Iterator[subprocess.Popen[str]]:
    """Run the command in an empty folder, as from a terminal of its own."""
    quiet = {name: value for name, value in os.environ.items() if not name.startswith(("ASIDE_", "DISCORD_"))}
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


def link_of(process: subprocess.Popen[str]) -> str:
    """Wait for the link that the command prints."""
    assert process.stdout is not None
    said = []
    for line in process.stdout:
        said.append(line)
        if found := re.match(r"Open\s+(http://127\.0\.0\.1:\d+/#\S+)", line):
            return found[1]
    raise AssertionError("".join(said))


@pytest.mark.model
def test_the_page_stands_and_ctrl_c_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    began = perf_counter()
    with trying(tmp_path) as process:
        address = link_of(process).partition("#")[0]
        with urllib.request.urlopen(address) as page:
            assert "Your first scene" in page.read().decode()
        took = perf_counter() - began
        os.killpg(process.pid, signal.SIGINT)  # a terminal's Ctrl-C goes to the worker too
        rest, _ = process.communicate(timeout=20)
    assert process.returncode in (0, 130)
    assert "Traceback" not in rest
    assert [path.name for path in tmp_path.rglob("*")] == ["tmp"]
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)  # nobody of it is left
    assert took < 30  # seconds, on a machine that does other things too


@pytest.mark.model
def test_ctrl_c_while_it_starts_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    with trying(tmp_path) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("Loading")
        os.killpg(process.pid, signal.SIGINT)
        rest, _ = process.communicate(timeout=20)
    assert process.returncode in (0, 130)
    assert "Traceback" not in rest
    assert [path.name for path in tmp_path.rglob("*")] == ["tmp"]
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


def test_a_port_that_is_taken_is_the_user_s_fault(tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        with trying(tmp_path, "--port", port) as process:
            said, _ = process.communicate(timeout=30)
    assert process.returncode == 2
    assert f"Port {port}" in said
    assert len(said.splitlines()) == 1


def test_a_scenario_that_isn_t_there_is_the_user_s_fault(tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    with trying(tmp_path, "--scenario", "pride") as process:
        said, _ = process.communicate(timeout=30)
    assert process.returncode == 2
    assert "pride-and-prejudice" in said


def test_without_a_display_the_link_is_left_to_the_visitor(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    telling.opened("http://127.0.0.1:8123/#key")
    assert "ssh -L 8123:127.0.0.1:8123" in capsys.readouterr().out
