"""Write sample libraries: scenario files in a folder."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from pathlib import Path


def scenario(**changes: object) -> dict[str, Any]:
    """Return a small scenario as plain data. A change to None removes the key."""
    data: dict[str, Any] = {
        "title": "The mad tea party",
        "book": "Alice's Adventures in Wonderland",
        "summary": "It is always six o'clock.",
        "setting": "A table under a tree.",
        "characters": [{"name": "The Hatter"}, {"name": "Alice"}],
    }
    return {key: value for key, value in (data | changes).items() if value is not None}


def put(folder: Path, name: str, **changes: object) -> Path:
    """Write a scenario into `folder` and return its file."""
    path = folder / name / "scenario.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(scenario(**changes), allow_unicode=True), encoding="utf-8")
    return path


def put_scenes(path: Path, scenes: object) -> Path:
    """Write a JSON file in CoSER's format."""
    path.write_text(json.dumps(scenes), encoding="utf-8")
    return path
