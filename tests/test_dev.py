"""`dev.py` in a checkout that is set up already, with small programs in its `.venv`."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="shell scripts")
PRINT_ARGUMENTS = 'echo "$(basename "$0") $*"'


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout whose programs print how they were called."""
    for name in ("dev.py", "pyproject.toml", "requirements.txt"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    pins = [(tmp_path / name).read_bytes() for name in ("requirements.txt", "pyproject.toml")]
    (tmp_path / ".venv" / ".pins").write_bytes(b"".join(pins))
    for name in ("aside", "ruff", "mypy", "pytest"):
        write_program(tmp_path, name, PRINT_ARGUMENTS)
    return tmp_path


def write_program(checkout: Path, name: str, script: str) -> None:
    program = checkout / ".venv" / "bin" / name
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


def dev(checkout: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(checkout / "dev.py"), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_a_signal_to_dev_reaches_aside(checkout: Path, name: str) -> None:
    """An orphan would go on holding the database."""
    number = signal.Signals[name]
    catch = "import os, signal, sys\n"
    catch += "for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):\n"
    catch += "    signal.signal(each, lambda caught, _: sys.exit(caught + 40))\n"
    catch += "print(os.getpid(), flush=True)\nsignal.pause()\n"
    (checkout / "wait.py").write_text(catch)
    write_program(checkout, "aside", f'exec "{sys.executable}" "$(dirname "$0")/../../wait.py"')
    command = [sys.executable, str(checkout / "dev.py"), "aside", "run"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert int(process.stdout.readline()) == process.pid
        process.send_signal(number)
        assert process.wait(30) == number + 40


def test_aside_gets_its_arguments_and_runs_in_the_checkout(checkout: Path) -> None:
    write_program(checkout, "aside", 'pwd; echo "$1|$2"')
    called = dev(checkout, "aside", "prompt", "Mr Bennet")
    assert called.stdout.splitlines() == [str(checkout), "prompt|Mr Bennet"]


def test_the_status_of_aside_is_that_of_dev(checkout: Path) -> None:
    write_program(checkout, "aside", "exit 130")
    assert dev(checkout, "aside", "chat").returncode == 130


def test_check_runs_format_lint_types_and_all_tests(checkout: Path) -> None:
    called = [line.split() for line in dev(checkout, "check").stdout.splitlines()]
    assert [words[:2] for words in called[:3]] == [["ruff", "format"], ["ruff", "check"], ["mypy"]]
    assert called[3][0] == "pytest"
    assert "-m" not in called[3]


def test_check_fast_leaves_out_the_slow_tests(checkout: Path) -> None:
    assert dev(checkout, "check", "--fast").stdout.rstrip().endswith("-m not slow")


def test_check_lint_runs_no_tests(checkout: Path) -> None:
    assert "pytest" not in dev(checkout, "check", "--lint").stdout


def test_check_stops_at_the_first_failure(checkout: Path) -> None:
    write_program(checkout, "mypy", "exit 3")
    called = dev(checkout, "check")
    assert called.returncode == 3
    assert "pytest" not in called.stdout


def test_fix_changes_the_code_and_checks_nothing(checkout: Path) -> None:
    assert dev(checkout, "fix").stdout.splitlines() == ["ruff check --fix", "ruff format"]


def test_the_tests_are_compiled_even_if_the_shell_forbids_it(checkout: Path) -> None:
    write_program(checkout, "pytest", 'echo "bytecode:$PYTHONDONTWRITEBYTECODE"')
    called = subprocess.run(
        [sys.executable, str(checkout / "dev.py"), "check"],
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert called.stdout.endswith("bytecode:\n")


@pytest.mark.parametrize("words", [[], ["sing"], ["check", "--loud"], ["gpu"], ["gpu", "abacus"]])
def test_an_unknown_command_prints_the_help(checkout: Path, words: list[str]) -> None:
    called = dev(checkout, *words)
    assert called.returncode == 2
    assert "check --fast" in called.stderr
    assert called.stdout == ""


def test_a_failed_setup_step_names_itself(checkout: Path, tmp_path: Path) -> None:
    (checkout / ".venv" / ".pins").write_text("older pins")
    uv = tmp_path / "uv"
    uv.write_text("#!/bin/sh\nexit 7\n")
    uv.chmod(0o755)
    called = subprocess.run(
        [sys.executable, str(checkout / "dev.py"), "check"],
        env=os.environ | {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert called.returncode == 1
    assert "uv pip sync` failed with status 7" in called.stderr
    assert "Traceback" not in called.stderr
