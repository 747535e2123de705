"""What somebody gets who installs Aside instead of cloning it."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the wheel puts into site-packages, and nothing of this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [
        sys.executable,
        "-m",
        "hatchling",
        "build",
        "--target",
        "wheel",
        "--directory",
        str(folder),
    ]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def aside(installed: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the installed program somewhere else, with the dependencies of this environment."""
    environ = os.environ | {"PYTHONPATH": str(installed)}
    # -P: not the working folder; the editable checkout comes after PYTHONPATH
    command = [sys.executable, "-P", "-m", "bot", *arguments]
    return subprocess.run(
        command, cwd=installed.parent, env=environ, capture_output=True, text=True, check=False
    )


def test_the_wheel_has_the_library_and_the_catalogue_in_it_and_no_weights(installed: Path) -> None:
    there = {
        path.relative_to(installed).as_posix() for path in installed.rglob("*") if path.is_file()
    }
    assert "bot/shipped/personas/pride-and-prejudice/scenario.yaml" in there
    assert "bot/shipped/personas/pride-and-prejudice/mr-bennet.png" in there
    assert "bot/shipped/models/demo.yaml" in there
    assert "bot/py.typed" in there
    assert not [name for name in there if name.endswith((".gguf", ".db", ".pyc"))]
    assert not [name for name in there if name.startswith("tests")]


def test_the_installed_program_plays_from_its_own_library(installed: Path) -> None:
    listed = aside(installed, "scenarios", "list", "--json")
    assert listed.returncode == 0, listed.stderr
    assert '"pride-and-prejudice"' in listed.stdout
    prompt = aside(installed, "prompt", "pride-and-prejudice", "Mr Bennet")
    assert prompt.returncode == 0, prompt.stderr
    assert prompt.stdout.startswith(
        "<|im_start|>system\nYou are Mr Bennet from Pride and Prejudice."
    )
