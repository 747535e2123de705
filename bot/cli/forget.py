"""`aside forget`: the stories of a server that needs them no more."""

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
        int, typer.Argument(metavar="SERVER", help="The server's id, as Discord's clients copy it.")
    ],
    yes: Annotated[bool, typer.Option("--yes", help="Don't ask.")] = False,
    config: Config = None,
) -> None:
    """Delete every story of a server, such as one that has sent Aside away. Stop the bot before."""
    path = read_settings(config).store.path
    if not path.is_file():
        raise UserInputError(f"There is no {path}: nothing is stored here.")
    if not yes and not typer.confirm(
        f"Delete every story of server {server} in {path}, for good?", err=True
    ):
        raise typer.Abort
    count = asyncio.run(_forget(path, server))
    write(f"{count} {'story' if count == 1 else 'stories'} deleted.\n")


async def _forget(path: Path, server: int) -> int:
    from bot.store.store import Store

    async with await Store.open(path) as store:
        return await store.forget_server(server)
