#!/usr/bin/env python3
"""Set up this checkout and run its tools: `python3 dev.py COMMAND [ARGUMENT ...]`.

    aside ...      run Aside, for example `python3 dev.py aside try`
    check          run everything that CI runs: format, lint, types and all tests
    check --fast   the same, but only the tests that are not slow: under two minutes
    check --lint   format, lint and types only
    fix            format the code and fix the lint errors that can be fixed automatically
    test ...       run pytest with these arguments, for example `tests/her -k chunk`
    coverage       run all tests and fail if they cover too little of the code
    gpu KIND       rebuild llama.cpp for a GPU: cuda, rocm, vulkan or metal
    pin            update requirements.txt to the latest versions that pyproject.toml allows

Every command except `pin` sets up the checkout first. It downloads uv if it is not installed, and
installs the versions in requirements.txt into `.venv`, each checked against its hash. The first
time it compiles llama.cpp, which takes about five minutes on two cores.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent
VENV: Final = ROOT / ".venv"
BIN: Final = VENV / ("Scripts" if os.name == "nt" else "bin")
PINS: Final = ROOT / "requirements.txt"
GPUS: Final = {
    # Only the architecture of the installed card, because each further one makes the build longer.
    "cuda": "-DGGML_CUDA=on -DCMAKE_CUDA_ARCHITECTURES=native",
    "rocm": "-DGGML_HIP=on",
    "vulkan": "-DGGML_VULKAN=on",
    "metal": "-DGGML_METAL=on",
}
LINT: Final = (["ruff", "format", "--check"], ["ruff", "check"], ["mypy"])
FIX: Final = (["ruff", "check", "--fix"], ["ruff", "format"])
# More workers than cores, because many tests wait for processes, timers and disks.
TESTS: Final = ["pytest", "--numprocesses", str(2 * (os.cpu_count() or 1)), "--dist", "loadgroup"]
FAST: Final = [*TESTS, "-m", "not slow"]
COVERAGE: Final = [*TESTS, "--cov", "--cov-report", "term:skip-covered"]
CHECKS: Final = {
    (): (*LINT, TESTS),
    ("--fast",): (*LINT, FAST),
    ("--lint",): LINT,
}


def main(arguments: list[str]) -> int:
    """Run one command and return its exit status."""
    try:
        match arguments:
            case ["pin"]:
                return pin()
            case ["aside", *rest]:
                set_up()
                return replace_by([BIN / "aside", *rest])
            case ["test", *rest]:
                set_up()
                return replace_by([BIN / "pytest", *rest])
            case ["check", *rest] if tuple(rest) in CHECKS:
                set_up()
                return run_in_turn(*CHECKS[tuple(rest)])
            case ["fix"]:
                set_up()
                return run_in_turn(*FIX)
            case ["coverage"]:
                set_up()
                return run_in_turn(COVERAGE)
            case ["gpu", kind] if kind in GPUS:
                set_up()
                return build_for(kind)
            case _:
                sys.stderr.write(__doc__ or "")
                return 2
    except SetUpError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except KeyboardInterrupt:
        return 130


class SetUpError(Exception):
    """Setting up failed. The message says how to fix it."""


def set_up() -> None:
    """Install exactly the pinned versions into `.venv`, unless they are installed already."""
    stamp = VENV / ".pins"
    pinned = PINS.read_bytes() + (ROOT / "pyproject.toml").read_bytes()
    if stamp.exists() and stamp.read_bytes() == pinned:
        return
    uv = find_uv()
    if not VENV.exists():
        require_success(uv, "venv", "--quiet", "--python", ">=3.11", str(VENV))
    sys.stderr.write(
        "Setting up. The first time compiles llama.cpp: about five minutes on two cores.\n"
    )
    sync = (uv, "pip", "sync", "--python", str(VENV), "--require-hashes", str(PINS))
    # uv's cache first: going back to the registry may download llama.cpp's source again, and then
    # it would be compiled again.
    if run([*sync, "--offline", "--quiet"], quiet=True):
        require_success(*sync)
    project = ("--no-deps", "--no-build-isolation", "--editable", str(ROOT))
    require_success(uv, "pip", "install", "--quiet", "--python", str(VENV), *project)
    stamp.write_bytes(pinned)


def build_for(gpu: str) -> int:
    """Rebuild llama.cpp for a kind of GPU. The GPU's toolkit must be installed.

    Setting up the checkout again keeps this build.
    """
    os.environ["CMAKE_ARGS"] = f"{os.environ.get('CMAKE_ARGS', '')} {GPUS[gpu]}".strip()
    rebuild = ("--reinstall-package", "llama-cpp-python", "--refresh-package", "llama-cpp-python")
    pins = ("--require-hashes", "--requirement", str(PINS))
    require_success(find_uv(), "pip", "install", "--python", str(VENV), *rebuild, *pins)
    return run([str(BIN / "aside"), "doctor", "--offline"])


def pin() -> int:
    """Resolve all dependencies and write their versions and hashes to requirements.txt."""
    options = (
        "--all-extras",
        "--all-groups",
        "--no-emit-project",
        "--no-header",
        "--no-annotate",
        "--quiet",
    )
    return run([find_uv(), "export", "--upgrade", *options, "--output-file", str(PINS)])


def find_uv() -> str:
    """Return the path of uv. If it is missing, install it into `.uv` in this checkout."""
    private = ROOT / ".uv"
    found = shutil.which("uv") or shutil.which("uv", path=str(private / "bin"))
    if found:
        return found
    if run([sys.executable, "-m", "pip", "install", "--quiet", "--target", str(private), "uv"]):
        raise SetUpError(
            "uv is missing, and pip failed to install it. "
            "Install uv yourself (https://docs.astral.sh/uv/)."
        )
    found = shutil.which("uv", path=str(private / "bin"))
    if not found:
        raise SetUpError(
            f"pip installed uv into {private}, but there is no program `uv` in it. "
            "Install uv yourself (https://docs.astral.sh/uv/)."
        )
    return found


def require_success(*command: str) -> None:
    """Run one step of the setup. Raise SetUpError if it fails."""
    status = run(list(command))
    if status:
        hint = (
            ""
            if shutil.which("c++") or os.name == "nt"
            else " A C++ compiler is missing. Install one (Debian: `apt install g++`)."
        )
        raise SetUpError(
            f"`{' '.join(command[:3])}` failed with status {status}. "
            f"Its own message is above.{hint}"
        )


def run_in_turn(*commands: list[str]) -> int:
    """Run programs of `.venv` until one fails. Return its status, or 0."""
    # Hundreds of tests start Aside. Without bytecode each of them would compile it first.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    for program, *arguments in commands:
        if status := run([str(BIN / program), *arguments]):
            return status
    return 0


def replace_by(command: list[Path | str]) -> int:
    """Replace this process by a program, so that signals reach it.

    Windows cannot do that. There, wait for the program and return its status.
    """
    os.chdir(ROOT)
    words = [str(word) for word in command]
    if os.name != "nt":
        os.execv(words[0], words)  # noqa: S606 - one of this checkout's own programs
    with subprocess.Popen(words) as process:  # noqa: S603 - as above
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                continue  # Ctrl-C reached the program too. Let it end in its own time.


def run(command: list[str], *, quiet: bool = False) -> int:
    """Run a program in the root of the checkout and return its exit status."""
    output = subprocess.DEVNULL if quiet else None
    return subprocess.run(  # noqa: S603 - the commands are listed in this file
        command, cwd=ROOT, check=False, stdout=output, stderr=output
    ).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
