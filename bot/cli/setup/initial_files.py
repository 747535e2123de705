"""What a first set-up writes: `.env` with the token, for its owner's eyes, and a commented `aside.yaml`."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from bot.errors import AsideError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_SETTINGS = """\
# Aside's settings. All of it is optional; what stands behind a # is the default.
# What is wrong here is told with line and remedy by `aside doctor`. Secrets never stand here, but in `.env`.

discord:
  {proxy}        # for everything that goes to Discord
  # mention_roles: true   # make a role for each character, so that @ completes their names
  {guilds}        # ids of the servers to play on; left out: every server that invites the bot

engine:
  {model}
  # weights: /big/disk/models   # where weights are kept; left out: Aside's own folder
  # context: 8192               # tokens of one mind; left out: what memory allows
  # minds: 4                    # replies written at once; left out: what memory allows
  # gpu_layers: auto            # or all, or a number
  # cache_type: q8_0            # half of f16; q4_0 is half of that again

play:
  # max_tokens: 2048            # the longest reply, planning included
  # planning_tokens: 1024       # planning is closed by force after these
  # guided: true                # hold replies to a grammar

library:
  # folders: [scenarios]        # folders with scenarios of your own

store:
  # path: aside.db              # where scenes are remembered

logging:
  # level: INFO
  # file: aside.log
"""


class SetupFileNotWritable(AsideError):
    """A file of the set-up can't be written."""


def write_token(path: Path, variable: str, token: str) -> None:
    """Put the token into an `.env` file, keeping its other lines; only its owner may read it. Raises Unwritable."""
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
    """Write a commented settings file that says what was chosen. Raises Unwritable."""
    text = _SETTINGS.format(
        model=f"model: {_quote(model)}" if model else "# model: HER-32B",
        proxy=f"proxy: {_quote(proxy)}" if proxy else "# proxy: null",
        guilds=f"guilds: [{', '.join(map(str, guilds))}]" if guilds else "# guilds: null",
    )
    _write(path, text, 0o644)


def _write(path: Path, text: str, mode: int) -> None:
    """Write a file anew, or not at all; it never exists with more rights than `mode`."""
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
            f"{path} can't be written ({error.strerror or error}): start from a folder of yours."
        ) from error


def _quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
