"""Start everything that a session needs, and close it in reverse order."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import TYPE_CHECKING

from bot.tryout.bridge.live_discord import LiveDiscord, log_in
from bot.tryout.demo_server import DemoServer
from bot.tryout.engine_proxy import EngineProxy
from bot.tryout.guided_tour import GuidedTour
from bot.tryout.page_session import PageSession
from bot.tryout.site import Site

if TYPE_CHECKING:
    import socket
    from collections.abc import AsyncIterator, Callable

    from discord.ext import commands

    from bot.engine.protocol import Engine
    from bot.library.scenario import Scenario


@asynccontextmanager
async def run_session(
    make_bot: Callable[[Engine], commands.Bot],
    engine: Engine,
    server: socket.socket,
    scenario: Scenario,
) -> AsyncIterator[Site]:
    """Run a bot on a simulated Discord and serve its site on `server` while the context lasts.

    Start the engine before and close it afterwards. `make_bot` creates the bot for a given engine.
    """
    proxy = EngineProxy(engine)
    bot = make_bot(proxy)
    discord = LiveDiscord(bot)
    proxy.external_wait = discord.external_wait
    path = GuidedTour.for_scenario(scenario)
    demo = DemoServer(discord, path.channel, f"A scene of {scenario.book}")
    site = Site(server)
    page_session = PageSession(discord, demo, proxy, site, path)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(site.close)
        await stack.enter_async_context(log_in(discord))
        stack.push_async_callback(bot.close)
        stack.push_async_callback(site.windows.close)
        await site.start(page_session.answers())
        watching = asyncio.create_task(page_session.watch(), name="repaints the windows")
        stack.push_async_callback(_cancel, watching)
        yield site


async def _cancel(task: asyncio.Task[None]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
