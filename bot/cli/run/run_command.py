"""`aside run`: bring the bot online."""

from __future__ import annotations

import asyncio
import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from bot.cli.console.shared_options import Config, read_settings
from bot.cli.run.signals import cancel_on_signals
from bot.errors import UserInputError

if TYPE_CHECKING:
    from bot.settings import Settings

Healthy: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--healthy",
        metavar="FILE",
        help="Touch this file while the bot is healthy, for a monitor to watch.",
    ),
]


def run(config: Config = None, healthy: Healthy = None) -> None:
    """Bring the bot online and run it until it is interrupted."""
    from bot import logs
    from bot.cli.run.login import require_token

    settings = read_settings(config)
    token = require_token(settings)
    _require_writable(healthy)
    logs.set_up(settings)
    asyncio.run(_online(settings, token, healthy))


def _require_writable(healthy: Path | None) -> None:
    """Raise UserInputError if the health file can't be created."""
    if healthy is None:
        return
    folder = healthy.absolute().parent
    if healthy.is_dir():
        raise UserInputError(f"--healthy: {healthy} is a folder. Give the path of a file.")
    if not folder.is_dir():
        raise UserInputError(f"--healthy: the folder {folder} does not exist. Create it first.")
    if not os.access(folder, os.W_OK):
        raise UserInputError(f"--healthy: {folder} can't be written. Choose another folder.")


async def _online(settings: Settings, token: str, healthy: Path | None) -> None:
    import aiohttp
    import discord

    from bot.app import create_bot
    from bot.cli.run.health import maintain_health_file
    from bot.cli.run.login import explain_login_error

    try:
        async with create_bot(settings) as bot:
            cancel_on_signals()
            async with maintain_health_file(bot, healthy):
                with contextlib.suppress(asyncio.CancelledError):
                    await bot.start(token)
    except (discord.DiscordException, aiohttp.ClientError, OSError) as error:
        raise explain_login_error(error) from error
