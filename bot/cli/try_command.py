"""`aside try`: the bot on a simulated Discord, in the browser."""

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

from bot.cli.console.shared_options import Config, open_library
from bot.cli.run.signals import cancel_on_signals
from bot.errors import AsideError

if TYPE_CHECKING:
    import socket

    from bot.library.scenario import Scenario
    from bot.settings import Settings

_NEEDED = ("simcord", "markdown_it", "linkify_it", "regex", "av")


class TryExtraMissing(AsideError):
    """What only this command needs isn't installed."""


def try_(
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Port on loopback; left out, a free one.")
    ] = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")
    ] = True,
    model: Annotated[
        str | None,
        typer.Option(
            help="A model's name, file or hf:… address; left out, the configured or the demo model."
        ),
    ] = None,
    scenario: Annotated[
        str, typer.Option(help="Which scenario is suggested.")
    ] = "pride-and-prejudice",
    config: Config = None,
) -> None:
    """Try Aside in the browser: a simulated Discord on this machine, no token needed, nothing kept."""
    if any(find_spec(name) is None for name in _NEEDED):
        raise TryExtraMissing(
            "To try Aside its extra `try` must be installed: `pip install 'aside[try]'`, or `python3 dev.py aside try` "
            "in a checkout."
        )
    from bot import logs
    from bot.settings import load_settings
    from bot.tryout.loopback_port import listen

    settings = load_settings(config)
    chosen = open_library(settings).scenario(scenario)
    server = listen(port)
    with tempfile.TemporaryDirectory(prefix="aside-try-") as folder, server:
        settings = _adapt_settings(settings, model, Path(folder))
        logs.set_up(settings)
        logging.getLogger("discord").setLevel(
            logging.ERROR
        )  # simcord makes it warn of what is nobody's concern
        with contextlib.suppress(asyncio.CancelledError):
            asyncio.run(_serve(settings, chosen, server, browser=browser))


def _adapt_settings(settings: Settings, model: str | None, folder: Path) -> Settings:
    """Return settings that leave nothing behind and need no Discord."""
    from bot.settings import DiscordSettings, LocalEngineSettings, LoggingSettings, StoreSettings

    changes: dict[str, object] = {
        "discord": DiscordSettings(),
        "store": StoreSettings(path=folder / "aside.db"),
        "logging": LoggingSettings(level="ERROR"),  # what is to be known is told anyway
    }
    if model is not None:
        changes["engine"] = LocalEngineSettings(model=model)
    return settings.model_copy(update=changes)


async def _serve(
    settings: Settings, scenario: Scenario, server: socket.socket, *, browser: bool
) -> None:
    from bot.app import create_bot
    from bot.engine_factory import create_engine
    from bot.tryout import console

    cancel_on_signals()
    engine = create_engine(settings)
    console.announce_loading()
    try:
        await asyncio.gather(
            engine.start(), asyncio.to_thread(import_module, "bot.tryout.session")
        )  # both take long
        from bot.tryout.session import run_session

        async with run_session(
            lambda proxy: create_bot(settings, engine=proxy), engine, server, scenario
        ) as site:
            console.announce_site(site.address, engine.info)
            if browser:
                console.open_browser(site.address)
            await asyncio.Event().wait()
    finally:
        await engine.close()
