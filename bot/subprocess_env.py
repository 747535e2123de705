"""Programs of ours that run in processes of their own: the environment they get."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

_ROOT: Final = Path(__file__).resolve().parents[1]
_SECRETS: Final = ("TOKEN", "KEY", "SECRET", "PASSWORD")


def child_environment() -> dict[str, str]:
    """Return this process's environment without its secrets, and with our own code to be found."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not any(word in name.upper() for word in _SECRETS)
    }
    kept["PYTHONPATH"] = os.pathsep.join(filter(None, [str(_ROOT), os.environ.get("PYTHONPATH")]))
    return kept
