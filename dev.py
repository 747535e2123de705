#!/usr/bin/env python3
"""Everything a checkout needs, with nothing but Python: `python3 dev.py COMMAND …`.

    python3 dev.py aside try    set up, then run Aside (any of its commands)
    python3 dev.py check        set up, then lint, type-check and test: what CI runs
    python3 dev.py test …       set up, then pytest with these arguments
    python3 dev.py gpu cuda     set up, then build llama.cpp anew for a GPU: cuda, rocm, vulkan or metal
    python3 dev.py pin          write requirements.txt anew from pyproject.toml

Setting up means: uv is fetched where it is missing, and `.venv` gets exactly the versions in requirements.txt,
each checked against its hash. The first time builds llama.cpp, which takes about five minutes on two cores.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
PINS = ROOT / "requirements.txt"
GPUS = {
    "cuda": "-DGGML_CUDA=on -DCMAKE_CUDA_ARCHITECTURES=native",  # the card's own alone: it keeps the build short
    "rocm": "-DGGML_HIP=on",
    "vulkan": "-DGGML_VULKAN=on",
    "metal": "-DGGML_METAL=on",
}
CHECKS = (["ruff", "format", "--check"], ["ruff", "check"], ["mypy"], ["pytest"])


def main(arguments: list[str]) -> int:
    """Run one command of this script and return its exit status."""
    command, *rest = arguments or [""]
    known = command in {"aside", "check", "test", "pin"} or (
        command == "gpu" and len(rest) == 1 and rest[0] in GPUS
    )
    if not known:
        sys.stderr.write(__doc__ or "")
        return 2
    try:
        if command == "pin":
            return pin()
        set_up()
        if command == "aside":
            return run([str(BIN / "aside"), *rest])
        if command == "gpu":
            return build_for(rest[0])
        if command == "test":
            return run([str(BIN / "pytest"), *rest])
        return next(
            (status for check in CHECKS if (status := run([str(BIN / check[0]), *check[1:]]))), 0
        )
    except SetUpError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except KeyboardInterrupt:
        return 130


class SetUpError(Exception):
    """Setting up failed; its text tells a person what to do."""


def set_up() -> None:
    """Bring `.venv` to exactly the pinned versions. Costs about a second when it already is."""
    uv = find_uv()
    if not VENV.exists():
        steps(uv, "venv", "--quiet", "--python", ">=3.11", str(VENV))
    stamp = VENV / ".pins"
    pinned = PINS.read_bytes() + (ROOT / "pyproject.toml").read_bytes()
    if stamp.exists() and stamp.read_bytes() == pinned:
        return
    sys.stderr.write(
        "Setting up. The first time builds llama.cpp: about five minutes on two cores.\n"
    )
    sync = (uv, "pip", "sync", "--python", str(VENV), "--require-hashes", str(PINS))
    # What uv has kept is what the hashes ask for. Asking a registry again may bring llama.cpp's source anew, and with
    # it another build.
    if run([*sync, "--offline", "--quiet"], quiet=True):
        steps(*sync)
    itself = ("--no-deps", "--no-build-isolation", "--editable", str(ROOT))
    steps(uv, "pip", "install", "--quiet", "--python", str(VENV), *itself)
    stamp.write_bytes(pinned)


def build_for(gpu: str) -> int:
    """Build llama.cpp anew for a kind of GPU, whose toolkit has to be installed. Setting up keeps this build."""
    os.environ["CMAKE_ARGS"] = f"{os.environ.get('CMAKE_ARGS', '')} {GPUS[gpu]}".strip()
    anew = ("--reinstall-package", "llama-cpp-python", "--refresh-package", "llama-cpp-python")
    pins = ("--require-hashes", "--requirement", str(PINS))
    steps(find_uv(), "pip", "install", "--python", str(VENV), *anew, *pins)
    return run([str(BIN / "aside"), "doctor", "--offline"])


def pin() -> int:
    """Resolve every dependency anew and write the versions and hashes to requirements.txt."""
    options = [
        "--all-extras",
        "--all-groups",
        "--no-emit-project",
        "--no-header",
        "--no-annotate",
        "--quiet",
    ]
    return run([find_uv(), "export", "--upgrade", *options, "--output-file", str(PINS)])


def find_uv() -> str:
    """Path of uv; where there is none, it is installed into `.uv`, away from everything else."""
    private = ROOT / ".uv"
    found = shutil.which("uv") or shutil.which("uv", path=str(private / "bin"))
    if found:
        return found
    if run([sys.executable, "-m", "pip", "install", "--quiet", "--target", str(private), "uv"]):
        raise SetUpError(
            "uv is missing and pip could not fetch it: install uv by hand (https://docs.astral.sh/uv/)."
        )
    found = shutil.which("uv", path=str(private / "bin"))
    if not found:
        raise SetUpError(
            f"uv was fetched, but {private} has no program of that name: install uv by hand."
        )
    return found


def steps(*command: str) -> None:
    """Run one step of the set-up; raise SetUpError where it fails."""
    if status := run(list(command)):
        hint = (
            ""
            if shutil.which("c++") or os.name == "nt"
            else " A C++ compiler is missing (Debian: apt install g++)."
        )
        raise SetUpError(
            f"`{' '.join(command[:3])}` failed with status {status}; its own words stand above.{hint}"
        )


def run(command: list[str], *, quiet: bool = False) -> int:
    """Run a program in the root of the checkout and return its exit status."""
    output = subprocess.DEVNULL if quiet else None
    return subprocess.run(command, cwd=ROOT, check=False, stdout=output, stderr=output).returncode  # noqa: S603 - ours


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
