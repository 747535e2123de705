"""`aside backup`, `aside restore` and `aside vacuum`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from bot.cli.console.shared_options import Config, read_settings, write


def backup(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE", help="The backup (default: aside-DATE-TIME.db in the backup folder)."
        ),
    ] = None,
    config: Config = None,
) -> None:
    """Write a backup of the database. The bot may be running."""
    from bot.store.backup import name_backup, write_backup

    store = read_settings(config).store
    folder = store.backups.folder or Path()
    target = file or folder / name_backup(datetime.now(UTC))
    made = write_backup(store.path, target)
    write(f"{made.path}: {made.rows:,} rows, {made.size / 1e6:.1f} MB, checked.\n")


def restore(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A backup that `aside backup` wrote.")
    ],
    yes: Annotated[bool, typer.Option("--yes", help="Restore without asking.")] = False,
    config: Config = None,
) -> None:
    """Put a backup in the place of the database. Stop the bot first.

    The present database is kept beside it.
    """
    from bot.store.backup import restore_backup

    path = read_settings(config).store.path
    question = f"Replace {path} with {file}?"
    if path.exists() and not yes and not typer.confirm(question, err=True):
        raise typer.Abort
    kept = restore_backup(file, path)
    write(f"Restored {path}.\n" + (f"The earlier database is {kept}.\n" if kept else ""))


def vacuum(config: Config = None) -> None:
    """Shrink the database after much was deleted. Stop the bot first."""
    from bot.store import backup as store_backup

    path = read_settings(config).store.path
    before, after = store_backup.vacuum(path)
    write(f"{path}: {before / 1e6:.1f} MB before, {after / 1e6:.1f} MB now.\n")
