"""`aside forget`: delete the scenes of a server."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.console.shared_options import Config, read_settings, write
from bot.errors import UserInputError

if TYPE_CHECKING:
    from pathlib import Path


def forget(
    server: Annotated[
        int, typer.Argument(metavar="SERVER", help="The server's id, as copied in Discord.")
    ],
    yes: Annotated[bool, typer.Option("--yes", help="Delete without asking.")] = False,
    config: Config = None,
) -> None:
    """Delete every scene of a server. Stop the bot first."""
    path = read_settings(config).store.path
    if not path.is_file():
        raise UserInputError(
            f"{path} does not exist. Run this in the bot's folder or set `store.path`."
        )
    if not yes and not typer.confirm(
        f"Permanently delete every scene of server {server} in {path}?", err=True
    ):
        raise typer.Abort
    count = asyncio.run(_forget(path, server))
    write(f"Deleted {count} {'scene' if count == 1 else 'scenes'}.\n")


async def _forget(path: Path, server: int) -> int:
    from bot.store.store import Store

    async with await Store.open(path) as store:
        return await store.forget_server(server)
