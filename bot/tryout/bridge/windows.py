"""Windows: simcord's page of one channel for one person. All of them share one address."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast
from zoneinfo import available_timezones

import simcord.preview
from aiohttp import web
from simcord.preview import Preview, _server
from simcord.preview._server import PreviewServer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simcord.actors import MemberActor
    from simcord.builders import ChannelHandle, UserHandle
    from simcord.results import InteractionResult

    from bot.tryout.bridge.live_discord import LiveDiscord

_STATIC = Path(simcord.preview.__file__).with_name("static")
_INDEX = "/window"  # the path of simcord's page, since our own page has the root


class _MountedPreview(PreviewServer):
    """simcord's handlers without their own port. Pages of the same origin may embed them."""

    _SECURITY_HEADERS: ClassVar[dict[str, str]] = {
        **PreviewServer._SECURITY_HEADERS,
        "X-Frame-Options": "SAMEORIGIN",
        "Content-Security-Policy": PreviewServer._SECURITY_HEADERS[
            "Content-Security-Policy"
        ].replace("frame-ancestors 'none'", "frame-ancestors 'self'"),
    }

    async def start(self) -> None:
        self.port = self._requested_port

    async def close(self) -> None:
        self.port = None


class ChannelWindow(Preview):
    """One person's view of one channel, with times in `zone` (UTC if the zone is unknown)."""

    def __init__(
        self,
        discord: LiveDiscord,
        channel: ChannelHandle,
        viewer: MemberActor | UserHandle,
        zone: str,
        *,
        port: int,
    ) -> None:
        super().__init__(
            discord,
            channel,
            (viewer,),
            layout="channel",
            display="responsive",
            width=960,
            height=720,
            locale="en-US",
            timezone=zone if zone in available_timezones() else "UTC",
            presentation_time=None,
            assets=None,
            port=port,
        )
        self._discord = discord
        self._server = _MountedPreview(self, port)

    @property
    def address(self) -> str:
        """Return the page's path on the site, with its key."""
        return f"{_INDEX}#{self.capability}"

    async def open(self) -> None:
        """Open the window. simcord allows only one at a time, so hide each from the next."""
        self.env._preview = None
        await self.__aenter__()
        self.env._preview = None
        # Pages start at the end of a channel, not at a message in it.
        if self._python is not None:
            self._python.target_id = self._python.window_end_id = None

    def repaint(self) -> None:
        """Show changes on every page of this window."""
        self._advance_presentation_time()
        for page in [page for page in self._pages.values() if page is not self._python]:
            if page.id in self._pages:
                self._publish(page, reason="refresh")

    def show_form(self, result: InteractionResult) -> None:
        """Show the modal that an interaction opened, on every page of this window."""
        for page in self._pages.values():
            page.modal, page.modal_handle = result, f"m_{result._interaction.id}"
        self.repaint()

    async def _action(self, context_id: str | None, body: Mapping[str, Any]) -> dict[str, Any]:
        """Handle an action on the page, even if the channel changed at the same moment."""
        async with self._discord.step:
            page = self._get_page(context_id)
            self.env._preview = self  # the one that learns whether the action reaches the bot
            try:
                return await super()._action(
                    context_id, {**body, "published_revision": page.revision}
                )
            finally:
                self.env._preview = None


class WindowRegistry:
    """All windows, and simcord's part of the site: its files, and its API for each window's key.

    `head` is added to the head of every window's page.
    """

    def __init__(self, port: int, head: str) -> None:
        self._windows: dict[str, ChannelWindow] = {}
        self._head = head
        self._files = _MountedPreview(cast("Preview", None), port)
        self._files.port = port

    def __iter__(self) -> Any:
        return iter(list(self._windows.values()))

    def add(self, window: ChannelWindow) -> None:
        """Add a window to the site."""
        self._windows[window.capability] = window

    async def close(self) -> None:
        """Close all windows."""
        for window in self:
            await window.close()
        self._windows.clear()

    def routes(self) -> list[web.RouteDef]:
        """Return the routes that the site forwards to simcord."""
        vars(_server)["web"] = web  # simcord imports it only when it opens a port
        api = {
            ("POST", "/api/pages"): "_pages",
            ("DELETE", "/api/pages/{context_id}"): "_delete_page",
            ("GET", "/api/state"): "_state",
            ("GET", "/api/commands"): "_commands",
            ("GET", "/api/action-result"): "_action_result",
            ("POST", "/api/action"): "_action",
            ("GET", "/api/assets/{asset_id}"): "_asset",
        }
        files = [path for path in PreviewServer._STATIC_FILES if path != "/"]
        return [
            web.get(_INDEX, self._index),
            *(web.get(path, self._files._static) for path in files),
            *(web.route(method, path, self._to(name)) for (method, path), name in api.items()),
        ]

    async def _index(self, _request: web.Request) -> web.Response:
        text = (
            (_STATIC / "index.html")
            .read_text(encoding="utf-8")
            .replace("</head>", f"{self._head}</head>")
        )
        return web.Response(
            text=text, content_type="text/html", headers=_MountedPreview._SECURITY_HEADERS
        )

    def _to(self, handler: str) -> Any:
        async def serve(request: web.Request) -> web.StreamResponse:
            window = self._windows.get(request.headers.get("X-Simcord-Capability", ""))
            if window is None:
                raise web.HTTPUnauthorized
            answer: web.StreamResponse = await getattr(window._server, handler)(request)
            return answer

        return serve
