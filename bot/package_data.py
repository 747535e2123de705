"""Finds the folders that ship with Aside: at the root of a checkout, or inside an installed wheel."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeAlias

Folder: TypeAlias = Literal["personas", "models"]

_PACKAGE = Path(__file__).resolve().parent


def checkout() -> Path | None:
    """Return the root of the checkout that this code runs from, or None where it was installed from a wheel."""
    root = _PACKAGE.parent
    return root if (root / "pyproject.toml").is_file() and (root / "personas").is_dir() else None


def shipped_folder(name: Folder) -> Path:
    """Return the folder `name` as it ships: the wheel's copy where there is one, else the checkout's."""
    inside = _PACKAGE / "shipped" / name
    return inside if inside.is_dir() else _PACKAGE.parent / name
