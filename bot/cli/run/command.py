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
    "There is no Discord token: make an application at https://discord.com/developers/applications, copy the token "
    "of its bot, and put DISCORD_TOKEN=… into a file named .env here, or into the environment."
)
INTENT_MISSING = (
    "Discord refuses the message content intent: switch on “Message Content Intent” for this bot at "
    "https://discord.com/developers/applications (under Bot), then start again."
)


class DiscordUnreachable(AsideError):
    """Discord refuses the bot, or can't be reached."""


Healthy: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--healthy",
        metavar="FILE",
        help="Touch this file while all is well: for whoever watches the bot.",
    ),
]


def run(config: Config = None, healthy: Healthy = None) -> None:
    """Bring the bot online, and keep it there until it is interrupted."""
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
    assert token is not None  # noqa: S101 - `run` has looked
    try:
        async with create_bot(settings) as bot:
            cancel_on_signals()
            async with maintain_health_file(bot, healthy):
                with contextlib.suppress(asyncio.CancelledError):
                    await bot.start(token.get_secret_value())
    except discord.LoginFailure as error:
        raise DiscordUnreachable(
            "Discord does not accept the token: copy it anew from https://discord.com/developers/applications (Bot, "
            "Reset Token) into DISCORD_TOKEN."
        ) from error
    except discord.PrivilegedIntentsRequired as error:
        raise DiscordUnreachable(INTENT_MISSING) from error
    except (aiohttp.ClientConnectionError, OSError) as error:
        raise DiscordUnreachable(
            f"Discord can't be reached ({type(error).__name__}): check the network."
        ) from error
