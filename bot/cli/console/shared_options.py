"""Options and functions that several commands share.

Commands import their dependencies when they run, so that the command line starts fast.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.library.library import Library
    from bot.settings import Settings

Config: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--config", metavar="FILE", help="Settings file (default: ./aside.yaml, if it exists)."
    ),
]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


def print_warning(text: str) -> None:
    """Print a warning on standard error."""
    typer.echo(f"aside: Warning: {text}", err=True)


def read_settings(config: Path | None, warn: Callable[[str], None] = print_warning) -> Settings:
    """Return the settings of this folder and environment.

    `warn` receives sentences about variables that are not settings. Raises SettingsError.
    """
    from bot.settings import load_settings

    return load_settings(config, warn=warn)


def open_library(settings: Settings) -> Library:
    """Return the library that the bot uses with these settings."""
    from bot.library.library import Library
    from bot.package_data import find_shipped_folder

    return Library([*settings.library.folders, find_shipped_folder("personas")])


def write(text: str) -> None:
    """Write text to standard output unchanged, in UTF-8, without a line break at the end."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))
    sys.stdout.buffer.flush()


def write_json(data: object) -> None:
    """Write indented JSON to standard output."""
    write(json.dumps(data, ensure_ascii=False, indent=2) + "\n")
