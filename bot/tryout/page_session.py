"""Answer the requests of a visitor's page about the simulated server."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from simcord.results import ResponseMessage

from bot.errors import Refused
from bot.tryout import guided_tour
from bot.tryout.bridge.windows import ChannelWindow

if TYPE_CHECKING:
    from bot.tryout.bridge.live_discord import LiveDiscord
    from bot.tryout.demo_server import DemoServer
    from bot.tryout.engine_proxy import EngineProxy
    from bot.tryout.guided_tour import GuidedTour
    from bot.tryout.site import Answer, Site

_log = logging.getLogger(__name__)
_POLL_INTERVAL = 0.25  # seconds between two checks for changes


class PageSession:
    """A simulated server, its windows and its guided tour."""

    def __init__(
        self,
        discord: LiveDiscord,
        demo: DemoServer,
        engine: EngineProxy,
        site: Site,
        tour: GuidedTour,
    ) -> None:
        self._discord = discord
        self._demo = demo
        self._engine = engine
        self._site = site
        self._path = tour
        self._windows: dict[tuple[str, int], ChannelWindow] = {}
        self._opening = asyncio.Lock()

    async def watch(self) -> None:
        """Repaint the windows after every change. Runs until it is cancelled."""
        seen = 0
        while True:
            self._discord.fire_due_timers()
            if (now := self._discord.changes) != seen:
                seen = now
                self._repaint()
            await asyncio.sleep(_POLL_INTERVAL)

    def answers(self) -> dict[str, Answer]:
        """Return the handlers of the page's requests."""
        return {"news": self.news, "window": self.window, "menu": self.menu, "step": self.step}

    async def news(self, asked: dict[str, str]) -> dict[str, Any]:
        """Return the data that the page shows around the windows, for one person."""
        person = self._demo.person(asked["person"])
        info = self._engine.info
        return {
            "server": self._demo.guild.name,
            "people": [
                {"key": one.key, "name": one.name, "part": one.part} for one in self._demo.people
            ],
            "places": [
                asdict(place) | {"id": str(place.id)} for place in self._demo.places(person)
            ],
            "thinking": [
                {"who": one.mind.partition("/")[2] or one.mind, "seconds": round(one.seconds)}
                for one in self._engine.thinking
            ],
            "took": self._engine.last_took,
            "model": {
                "name": info.model,
                "device": info.device,
                "stand_in": info.stand_in,
                "warning": info.warning,
            },
            "menus": self._demo.menus(),
            "done": guided_tour.find_completed_steps(self._discord, self._demo),
            "path": asdict(self._path),
        }

    async def window(self, asked: dict[str, str]) -> dict[str, str]:
        """Return the address of a person's window for a place."""
        return {
            "address": (
                await self._window(asked["person"], int(asked["place"]), asked.get("zone", ""))
            ).address
        }

    async def menu(self, asked: dict[str, str]) -> dict[str, bool]:
        """Run a command from a message's menu as a person."""
        person = self._demo.person(asked["person"])
        channel, _ = self._demo.channel(person, int(asked["place"]))
        if channel.guild is None:
            raise Refused(
                "A message's menu works in the server's channels, not in direct messages."
            )
        message = self._discord.backend.get_message(channel.id, int(asked["message"]))
        async with self._discord.step:
            result = await person.member.context_menu(
                channel, asked["name"], ResponseMessage(self._discord, message)
            )
        if result.modal is not None:
            (await self._window(person.key, channel.id)).show_form(result)
        return {"done": True}

    async def step(self, asked: dict[str, str]) -> dict[str, bool]:
        """Do one step of the guided tour for the visitor."""
        async with self._discord.step:
            await guided_tour.take_step(asked["step"], self._path, self._demo)
        return {"done": True}

    def _repaint(self) -> None:
        for window in self._site.windows:
            try:
                window.repaint()
            except Exception:  # a broken window must not stop the others
                _log.exception("A window could not be repainted")

    async def _window(self, key: str, place_id: int, zone: str = "") -> ChannelWindow:
        async with self._opening:
            if (window := self._windows.get((key, place_id))) is None:
                channel, viewer = self._demo.channel(self._demo.person(key), place_id)
                window = ChannelWindow(self._discord, channel, viewer, zone, port=self._site.port)
                await window.open()
                self._site.windows.add(window)
                self._windows[key, place_id] = window
            return window
