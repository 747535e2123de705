"""The project's own files: pins, changelog, workflows and templates."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import dev
from tests import conftest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PINS = (ROOT / "requirements.txt").read_text(encoding="utf-8")
WORKFLOW = yaml.safe_load((ROOT / ".github/workflows/checks.yml").read_text(encoding="utf-8"))
YAML_FILES = [
    *(ROOT / ".github").rglob("*.yml"),
    ROOT / ".pre-commit-config.yaml",
]


def normalised_name(requirement: str) -> str:
    found = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert found
    return re.sub(r"[._-]+", "-", found[0]).lower()


def commands(node: Any) -> list[list[str]]:
    """Return the arguments of every `dev.py` command in a YAML document."""
    if isinstance(node, dict):
        return [words for value in node.values() for words in commands(value)]
    if isinstance(node, list):
        return [words for value in node for words in commands(value)]
    found = re.findall(r"python3? dev\.py ([^\n<]+)", node) if isinstance(node, str) else []
    return [words.split() for words in found]


def test_every_dependency_is_pinned_by_hash() -> None:
    wanted = [*PROJECT["project"]["dependencies"], *PROJECT["dependency-groups"]["dev"]]
    for extra in PROJECT["project"]["optional-dependencies"].values():
        wanted += extra
    pinned = re.findall(
        r"^([a-z0-9-]+)==\S+.*\n    --hash=sha256:", PINS.replace(" \\\n", "\n"), re.MULTILINE
    )
    assert {normalised_name(requirement) for requirement in wanted} <= set(pinned)


def test_no_pin_names_a_registry() -> None:
    assert "://" not in PINS
    assert "--index" not in PINS


def test_the_changelog_has_an_entry_for_this_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## [{PROJECT['project']['version']}]" in changelog


@pytest.mark.parametrize("path", YAML_FILES, ids=lambda path: path.name)
def test_the_files_for_the_host_are_valid_yaml(path: Path) -> None:
    assert isinstance(yaml.safe_load(path.read_text(encoding="utf-8")), dict)


def test_ci_runs_every_supported_python_on_three_systems() -> None:
    matrix = WORKFLOW["jobs"]["fast"]["strategy"]["matrix"]
    assert [name.split("-")[0] for name in matrix["os"]] == ["ubuntu", "macos", "windows"]
    oldest = PROJECT["project"]["requires-python"].removeprefix(">=")
    assert matrix["python-version"][0] == oldest
    assert len(matrix["python-version"]) >= 4


@pytest.mark.parametrize(
    "path",
    [ROOT / ".github/workflows/checks.yml", ROOT / ".pre-commit-config.yaml"],
    ids=lambda path: path.name,
)
def test_ci_and_hooks_use_only_commands_that_dev_has(path: Path) -> None:
    found = commands(yaml.safe_load(path.read_text(encoding="utf-8")))
    assert found
    for words in found:
        assert f"\n    {words[0]} " in (dev.__doc__ or "")
        if words[0] == "check":
            assert tuple(words[1:]) in dev.CHECKS


def test_the_slow_tests_and_the_others_are_all_tests_of_ci() -> None:
    selections = {tuple(words[-2:]) for words in commands(WORKFLOW) if words[0] == "test"}
    assert ("-m", "slow") in selections
    assert any(selection[-1] == 'slow"' for selection in selections)


def test_every_slow_file_and_folder_exists() -> None:
    for name in (*conftest.SLOW_FILES, *conftest.SLOW_FOLDERS):
        assert (ROOT / "tests" / name).exists(), name


def test_contributing_names_every_check() -> None:
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for command in ("check", "check --fast", "fix", "test", "coverage", "pin"):
        assert f"python3 dev.py {command}" in contributing
