"""Find the folders that ship with Aside, in a checkout or an installed wheel."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeAlias

Folder: TypeAlias = Literal["personas", "models"]

_PACKAGE = Path(__file__).resolve().parent


def checkout() -> Path | None:
    """Return the root of the checkout that this code runs from, or None if it was installed from a
    wheel.
    """
    root = _PACKAGE.parent
    return root if (root / "pyproject.toml").is_file() and (root / "personas").is_dir() else None


def find_shipped_folder(name: Folder) -> Path:
    """Return the shipped folder `name`: the wheel's copy if there is one, else the checkout's."""
    inside = _PACKAGE / "shipped" / name
    return inside if inside.is_dir() else _PACKAGE.parent / name
