"""What several commands have in common: the settings and the library they work on, and how they write.

Commands import what they need when they run, here and in the modules beside: the command line starts fast.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

if TYPE_CHECKING:
    from bot.library.library import Library
    from bot.settings import Settings

Config: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--config", metavar="FILE", help="Settings file; ./aside.yaml where there is one."
    ),
]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="JSON instead of a table.")]


def read_settings(config: Path | None) -> Settings:
    """Return the settings that hold here. Raises SettingsError."""
    from bot.settings import load_settings

    return load_settings(config)


def open_library(settings: Settings) -> Library:
    """Return the library that the bot has with these settings."""
    from bot.library.library import Library
    from bot.package_data import shipped_folder

    return Library([*settings.library.folders, shipped_folder("personas")])


def write(text: str) -> None:
    """Write text to standard output as it is: UTF-8 whatever the terminal's encoding, no line ending added."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))
    sys.stdout.buffer.flush()


def write_json(data: object) -> None:
    """Write JSON to standard output, readable for people too."""
    write(json.dumps(data, ensure_ascii=False, indent=2) + "\n")
