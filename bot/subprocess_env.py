"""The environment of Aside's subprocesses."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

_ROOT: Final = Path(__file__).resolve().parents[1]
_SECRET_WORDS: Final = ("TOKEN", "KEY", "SECRET", "PASSWORD")


def child_environment() -> dict[str, str]:
    """Return this process's environment without secrets, and with Aside's code in PYTHONPATH."""
    environ = {
        name: value
        for name, value in os.environ.items()
        if not any(word in name.upper() for word in _SECRET_WORDS)
    }
    python_path = (str(_ROOT), os.environ.get("PYTHONPATH"))
    environ["PYTHONPATH"] = os.pathsep.join(filter(None, python_path))
    return environ
