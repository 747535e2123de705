"""`aside run`: bring the bot online."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from bot.cli.console.shared_options import Config, read_settings
from bot.cli.run.signals import cancel_on_signals
from bot.errors import AsideError, SettingsError

if TYPE_CHECKING:
    from bot.settings import Settings

NO_LOGIN = (
    "The Discord token is missing. Create an application at "
    "https://discord.com/developers/applications, copy its bot's token, and put DISCORD_TOKEN=… in "
    "a file named .env here or in the environment."
)
INTENT_MISSING = (
    "Discord refuses the message content intent. Switch on “Message Content Intent” under Bot at "
    "https://discord.com/developers/applications, then start again."
)


class DiscordUnreachable(AsideError):
    """Discord rejects the bot or can't be reached."""


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

    settings = read_settings(config)
    if settings.discord.token is None:
        raise SettingsError(NO_LOGIN)
    logs.set_up(settings)
    asyncio.run(_online(settings, healthy))


async def _online(settings: Settings, healthy: Path | None) -> None:
    import aiohttp
    import discord

    from bot.app import create_bot
    from bot.cli.run.health import maintain_health_file

    token = settings.discord.token
    assert token is not None  # noqa: S101 - `run` has checked it
    try:
        async with create_bot(settings) as bot:
            cancel_on_signals()
            async with maintain_health_file(bot, healthy):
                with contextlib.suppress(asyncio.CancelledError):
                    await bot.start(token.get_secret_value())
    except discord.LoginFailure as error:
        raise DiscordUnreachable(
            "Discord does not accept the token. Reset it at "
            "https://discord.com/developers/applications (Bot, Reset Token) and put the new one in "
            "DISCORD_TOKEN."
        ) from error
    except discord.PrivilegedIntentsRequired as error:
        raise DiscordUnreachable(INTENT_MISSING) from error
    except (aiohttp.ClientConnectionError, OSError) as error:
        raise DiscordUnreachable(
            f"Can't connect to Discord ({type(error).__name__}). Check the network."
        ) from error
