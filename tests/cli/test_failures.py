from __future__ import annotations

import asyncio
import errno
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import typer
from typer.testing import CliRunner

from bot.cli.console.failures import SentencesGroup
from bot.errors import EngineBusy, NameNotFound
from tests.cli.conftest import complaint
from tests.wait_until import until

if TYPE_CHECKING:
    from pathlib import Path

    from typer.testing import Result

failing = typer.Typer(cls=SentencesGroup)
ERRORS = {
    "input": NameNotFound("X has no character “C”. Choose one of A, B."),
    "own": EngineBusy("The queue is full. Try again later."),
    "unexpected": KeyError("secret words"),
    "interrupt": KeyboardInterrupt(),
    "exit": typer.Exit(5),
    "full": OSError(errno.ENOSPC, "No space left on device", "x.gguf"),
    "denied": PermissionError(errno.EACCES, "Permission denied", "x\n.gguf"),
    "read-only": OSError(errno.EROFS, "Read-only file system", "x.gguf"),
    "files": OSError(errno.EMFILE, "Too many open files"),
    "disk": OSError(errno.EIO, "Input/output error", "x.gguf"),
    "memory": MemoryError(),
    "package": ModuleNotFoundError("No module named 'numpy.core'", name="numpy.core"),
}


@failing.callback()
def start(debug: bool = False) -> None:
    """A program that fails."""


@failing.command()
def fail(kind: str) -> None:
    """Fail in this way."""
    if kind == "token":
        raise RuntimeError("hf_" + "a" * 30)
    raise ERRORS[kind]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(failing, list(arguments))


def test_a_user_error_is_one_sentence_and_status_2() -> None:
    assert complaint(run("fail", "input"), 2) == "X has no character “C”. Choose one of A, B."


def test_a_failure_of_aside_is_one_sentence_and_status_1() -> None:
    assert complaint(run("fail", "own"), 1) == "The queue is full. Try again later."


def test_an_unexpected_error_is_logged_and_shows_no_traceback(tmp_path: Path) -> None:
    message = complaint(run("fail", "unexpected"), 1)
    assert "Internal error (KeyError)" in message
    assert "secret words" not in message
    (log,) = (tmp_path / "state").rglob("failures.log")
    assert str(log) in message
    assert "KeyError: 'secret words'" in log.read_text()


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("full", "The disk is full."),
        ("denied", r"Permission denied for x\n.gguf."),
        ("read-only", "The disk of x.gguf is read-only."),
        ("files", "Too many files are open."),
        ("disk", "The disk failed at x.gguf."),
        ("memory", "The machine is out of memory."),
        ("package", "The package numpy is missing or broken."),
    ],
)
def test_a_fault_of_the_system_is_named(kind: str, message: str) -> None:
    assert complaint(run("fail", kind), 1).startswith(message)


def test_without_a_log_the_message_suggests_debug(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("no folder")
    assert "--debug" in complaint(run("fail", "unexpected"), 1)


def test_the_failure_log_has_no_secrets(tmp_path: Path) -> None:
    run("fail", "token")
    (log,) = (tmp_path / "state").rglob("failures.log")
    assert "RuntimeError" in log.read_text()
    assert "hf_a" not in log.read_text()


@pytest.mark.parametrize("kind", ["own", "unexpected"])
def test_debug_shows_the_traceback_and_the_sentence(kind: str) -> None:
    result = run("--debug", "fail", kind)
    assert result.exit_code == 1
    assert "Traceback (most recent call last)" in result.stderr
    assert result.stderr.splitlines()[-1].startswith("aside: ")


def test_a_wrong_option_is_a_user_error() -> None:
    assert run("fail", "--loud", "own").exit_code == 2
    assert run("sing").exit_code == 2


def test_an_interruption_exits_with_130() -> None:
    assert run("fail", "interrupt").exit_code == 130


def test_a_command_may_choose_its_exit_status() -> None:
    assert run("fail", "exit").exit_code == 5


def test_the_command_line_starts_without_heavy_imports() -> None:
    heavy = ("discord", "llama_cpp", "numpy", "PIL", "pydantic", "aiosqlite", "gguf", "jinja2")
    seen = f"import sys, bot.cli; print([name for name in {heavy} if name in sys.modules])"
    assert (
        subprocess.run(
            [sys.executable, "-c", seen], capture_output=True, text=True, check=True
        ).stdout
        == "[]\n"
    )


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for other processes")
async def test_an_interrupted_program_is_silent_and_exits_with_130() -> None:
    program = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        "from bot.cli import main; print('ready', flush=True); main()",
        "render",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert program.stdout is not None
    assert await program.stdout.readline() == b"ready\n"
    assert program.stdin is not None
    program.stdin.write(b"a")
    await program.stdin.drain()
    import fcntl  # not on Windows
    import termios

    pipe = program.stdin.get_extra_info("pipe").fileno()
    await until(lambda: not any(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4))))
    await asyncio.sleep(0.1)  # it has read the text, and waits for more
    os.kill(program.pid, signal.SIGINT)
    out, err = await asyncio.wait_for(program.communicate(), 20)
    assert (program.returncode, out, err) == (130, b"", b"")
