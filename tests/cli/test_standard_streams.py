"""Commands with closed or full standard streams."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

FULL = Path("/dev/full")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "cp437"])
@pytest.mark.parametrize(
    "arguments",
    [
        ("doctor", "--offline", "--quick"),
        ("models", "list"),
        ("scenarios", "list"),
        ("scenarios", "show", "…"),
    ],
)
def test_a_console_without_utf8_gets_similar_characters(
    encoding: str, arguments: tuple[str, ...], tmp_path: Path
) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "bot", *arguments],
        capture_output=True,
        check=False,
        cwd=tmp_path,
        env={
            "PYTHONPATH": os.pathsep.join(sys.path),
            "PYTHONIOENCODING": encoding,
            "HOME": str(tmp_path),
            "PATH": os.environ["PATH"],
        },
    )
    output = (ran.stdout + ran.stderr).decode(encoding, "replace")
    assert ran.returncode == (2 if "…" in arguments else 0), output
    assert "Internal error" not in output
    assert "Traceback" not in output


def aside(redirected: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `aside` with these arguments from a shell with a redirection."""
    return subprocess.run(
        ["/bin/sh", "-c", f'exec "$@" {redirected}', "sh", sys.executable, "-m", "bot", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_command_works_with_closed_streams(closed: str) -> None:
    ran = aside(closed, "scenarios", "list")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ("pride-and-prejudice" in ran.stdout) is (">&-" not in closed.replace("2>&-", ""))


def test_a_closed_input_counts_as_ended() -> None:
    ran = aside("<&-", "chat")
    assert ran.returncode == 2
    assert "--scenario" in ran.stderr


@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")
def test_a_full_disk_is_reported_in_one_sentence() -> None:
    ran = aside(f">{FULL}", "prompt", "pride-and-prejudice", "Mr Bennet")
    assert (ran.returncode, ran.stderr.count("\n")) == (1, 1)
    assert "disk is full" in ran.stderr
