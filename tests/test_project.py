"""What a checkout promises about itself."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PINS = (ROOT / "requirements.txt").read_text(encoding="utf-8")


def named(requirement: str) -> str:
    found = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert found
    return re.sub(r"[._-]+", "-", found[0]).lower()


def test_every_dependency_is_pinned_by_hash() -> None:
    wanted = [*PROJECT["project"]["dependencies"], *PROJECT["dependency-groups"]["dev"]]
    wanted += [
        one for extra in PROJECT["project"]["optional-dependencies"].values() for one in extra
    ]
    pinned = dict(
        re.findall(
            r"^([a-z0-9-]+)==\S+.*\n    --hash=(sha256):", PINS.replace(" \\\n", "\n"), re.MULTILINE
        )
    )
    assert {named(requirement) for requirement in wanted} <= pinned.keys()


def test_no_pin_names_an_address() -> None:
    assert "://" not in PINS
    assert "--index" not in PINS


def test_the_changelog_tells_of_this_version() -> None:
    assert f"## [{PROJECT['project']['version']}]" in (ROOT / "CHANGELOG.md").read_text(
        encoding="utf-8"
    )
