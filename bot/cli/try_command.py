"""`aside try`: run the bot on a simulated Discord in the browser."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import tempfile
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.console.shared_options import Config, open_library, read_settings
from bot.cli.run.signals import cancel_on_signals
from bot.errors import AsideError

if TYPE_CHECKING:
    import socket

    from bot.library.scenario import Scenario
    from bot.settings import Settings

_NEEDED = ("simcord", "markdown_it", "linkify_it", "regex", "av")


class TryExtraMissing(AsideError):
    """The packages of the extra `try` are not installed."""


def try_(
    port: Annotated[
        int | None,
        typer.Option(min=1, max=65535, help="Port on loopback (default: any free port)."),
    ] = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")
    ] = True,
    model: Annotated[
        str | None,
        typer.Option(
            help="Name, file or hf:… address of a model (default: the configured or demo model)."
        ),
    ] = None,
    scenario: Annotated[
        str, typer.Option(help="The scenario that the page suggests.")
    ] = "pride-and-prejudice",
    config: Config = None,
) -> None:
    """Try Aside in the browser on a simulated Discord. Needs no token and keeps no data."""
    if any(find_spec(name) is None for name in _NEEDED):
        raise TryExtraMissing(
            "The extra `try` is not installed. Run `pip install 'aside[try]'`, or "
            "`python3 dev.py aside try` in a checkout."
        )
    from bot import logs
    from bot.tryout.loopback_port import listen

    settings = read_settings(config)
    chosen = open_library(settings).scenario(scenario)
    server = listen(port)
    with tempfile.TemporaryDirectory(prefix="aside-try-") as folder, server:
        settings = _adapt_settings(settings, model, Path(folder))
        logs.set_up(settings)
        # simcord causes warnings that don't matter here.
        logging.getLogger("discord").setLevel(logging.ERROR)
        with contextlib.suppress(asyncio.CancelledError):
            asyncio.run(_serve(settings, chosen, server, browser=browser))


def _adapt_settings(settings: Settings, model: str | None, folder: Path) -> Settings:
    """Return settings that need no Discord and keep no files."""
    from bot.settings import DiscordSettings, LocalEngineSettings, LoggingSettings, StoreSettings

    changes: dict[str, object] = {
        "discord": DiscordSettings(),
        "store": StoreSettings(path=folder / "aside.db"),
        "logging": LoggingSettings(level="ERROR"),  # the console shows the rest
    }
    if model is not None:
        changes["engine"] = LocalEngineSettings(model=model)
    return settings.model_copy(update=changes)


async def _serve(
    settings: Settings, scenario: Scenario, server: socket.socket, *, browser: bool
) -> None:
    from bot.app import create_bot
    from bot.engine_factory import create_engine
    from bot.tryout import terminal_messages

    cancel_on_signals()
    engine = create_engine(settings)
    terminal_messages.announce_loading()
    try:
        # Both take long, so run them at the same time.
        await asyncio.gather(
            engine.start(), asyncio.to_thread(import_module, "bot.tryout.tryout_session")
        )
        from bot.tryout.tryout_session import run_session

        async with run_session(
            lambda proxy: create_bot(settings, engine=proxy), engine, server, scenario
        ) as site:
            terminal_messages.announce_site(site.address, engine.info)
            if browser:
                terminal_messages.open_browser(site.address)
            await asyncio.Event().wait()
    finally:
        await engine.close()
