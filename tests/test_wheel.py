"""An installed wheel, without a checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.program


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel and return a folder with the files that it puts into site-packages."""
    folder = tmp_path_factory.mktemp("wheel")
    build = (sys.executable, "-m", "hatchling", "build", "--target", "wheel")
    subprocess.run([*build, "--directory", str(folder)], cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def aside(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the installed program in another folder, with this environment's dependencies."""
    # -P leaves out the working folder, and PYTHONPATH comes before the editable checkout.
    return subprocess.run(
        [sys.executable, "-P", "-m", "bot", *arguments],
        cwd=site.parent,
        env=os.environ | {"PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_wheel_contains_the_library_and_the_catalogue_but_no_weights(site: Path) -> None:
    names = {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()}
    assert "bot/shipped/personas/pride-and-prejudice/scenario.yaml" in names
    assert "bot/shipped/personas/pride-and-prejudice/mr-bennet.png" in names
    assert "bot/shipped/models/demo.yaml" in names
    assert "bot/py.typed" in names
    assert not [name for name in names if name.endswith((".gguf", ".db", ".pyc"))]
    assert not [name for name in names if name.startswith("tests")]


def test_the_installed_program_uses_its_own_library(site: Path) -> None:
    scenarios = aside(site, "scenarios", "list", "--json")
    assert scenarios.returncode == 0, scenarios.stderr
    assert '"pride-and-prejudice"' in scenarios.stdout
    prompt = aside(site, "prompt", "pride-and-prejudice", "Mr Bennet")
    assert prompt.returncode == 0, prompt.stderr
    assert prompt.stdout.startswith(
        "<|im_start|>system\nYou are Mr Bennet from Pride and Prejudice."
    )
