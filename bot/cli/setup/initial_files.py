"""Write the first files: `.env` with the token, readable only by its owner, and `aside.yaml`."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from bot.errors import AsideError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_SETTINGS = """\
# Aside's settings. All are optional. A line behind # shows the default or an example.
# `aside doctor` reports mistakes with their line. Secrets belong in `.env`, never in this file.

discord:
  {proxy}        # proxy for all traffic to Discord
  # mention_roles: true   # create a role for each character, so that @ completes their names
  {guilds}        # ids of the servers to play on (default: every server that invites the bot)

engine:
  {model}
  # weights: /big/disk/models   # folder for weights (default: Aside's own folder)
  # context: 8192               # tokens of one mind (default: as memory allows)
  # minds: 4                    # replies generated at once (default: as memory allows)
  # gpu_layers: auto            # auto, all or a number
  # cache_type: q8_0            # half the size of f16; q4_0 is half of that

play:
  # max_tokens: 2048            # the longest reply, planning included
  # planning_tokens: 1024       # tokens after which planning is cut off
  # guided: true                # constrain replies with a grammar

library:
  # folders: [scenarios]        # folders with your own scenarios

store:
  # path: aside.db              # the database file
  # backups:
  #   folder: backups           # a folder for regular backups

logging:
  # level: INFO
  # file: aside.log
"""


class SetupFileNotWritable(AsideError):
    """A file can't be written during the set-up."""


def write_token(path: Path, variable: str, token: str) -> None:
    """Store the token in an `.env` file that only its owner may read. Keep its other lines.

    Raises SetupFileNotWritable.
    """
    lines = []
    with contextlib.suppress(FileNotFoundError):
        lines = path.read_text(encoding="utf-8").splitlines()
    kept = [
        line for line in lines if line.split("=")[0].removeprefix("export ").strip() != variable
    ]
    _write(path, "\n".join([*kept, f"{variable}={token}", ""]), 0o600)


def write_settings(
    path: Path, *, model: str | None, proxy: str | None, guilds: Sequence[int]
) -> None:
    """Write a commented settings file with these choices. Raises SetupFileNotWritable."""
    text = _SETTINGS.format(
        model=f"model: {_quote(model)}" if model else "# model: HER-32B",
        proxy=f"proxy: {_quote(proxy)}" if proxy else "# proxy: null",
        guilds=f"guilds: [{', '.join(map(str, guilds))}]" if guilds else "# guilds: null",
    )
    _write(path, text, 0o644)


def _write(path: Path, text: str, mode: int) -> None:
    """Write a file atomically. It never exists with more permissions than `mode`."""
    new = path.with_name(f"{path.name}.new")
    try:
        new.unlink(missing_ok=True)
        with os.fdopen(
            os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w", encoding="utf-8"
        ) as file:
            file.write(text)
        new.replace(path)
    except OSError as error:
        raise SetupFileNotWritable(
            f"{path} can't be written ({error.strerror or error}). Run this in a folder of yours."
        ) from error


def _quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
