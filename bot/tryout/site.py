"""The site on loopback: our page around simcord's windows, and the requests of that page."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from aiohttp import web
from simcord.backend.errors import BackendError, SetupError

from bot.errors import AsideError
from bot.tryout.bridge.windows import WindowRegistry
from bot.tryout.loopback_port import HOST

if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping

_PAGE = Path(__file__).with_name("page")
_HEAD = (
    '<link rel="stylesheet" href="/aside/window.css">'
    '<script type="module" src="/aside/window.js"></script>'
)
_FILES = {"/": "index.html"} | {
    f"/aside/{name}": name for name in ("page.css", "page.js", "window.css", "window.js")
}
_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Content-Security-Policy": (
        "default-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'"
    ),
}
Handler: TypeAlias = Callable[[web.Request], Awaitable[web.StreamResponse]]
Answer: TypeAlias = Callable[[dict[str, str]], Awaitable[object]]
"""Handles the JSON of a request and returns the JSON of the response.

KeyError, ValueError and TypeError mean a malformed request.
"""


class Site:
    """Serves one session to everyone who has the key in the address."""

    def __init__(self, server: socket.socket) -> None:
        self.port: int = server.getsockname()[1]
        self.windows = WindowRegistry(self.port, _HEAD)
        self._key = secrets.token_urlsafe(24)
        self._server = server
        self._runner: web.AppRunner | None = None

    @property
    def address(self) -> str:
        """Return the link to the page. Everyone who has it can play."""
        return f"http://{HOST}:{self.port}/#{self._key}"

    async def start(self, answers: Mapping[str, Answer]) -> None:
        """Serve the page and its requests. `answers` maps the end of a path to its handler."""
        app = web.Application(middlewares=[self._require_key])
        app.add_routes([web.get(path, _file) for path in _FILES])
        app.add_routes(
            [web.post(f"/aside/{name}", _json_handler(answer)) for name, answer in answers.items()]
        )
        app.add_routes(self.windows.routes())
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        await self._runner.setup()
        await web.SockSite(self._runner, self._server).start()

    async def close(self) -> None:
        """Stop serving. Open pages show that Aside has stopped."""
        if self._runner is not None:
            await self._runner.cleanup()
        self._server.close()

    @web.middleware
    async def _require_key(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Reject requests without the key, and those of other sites in the visitor's browser."""
        if request.host not in (f"{HOST}:{self.port}", f"localhost:{self.port}"):
            raise web.HTTPForbidden
        ours = request.path.startswith("/aside/") and request.path not in _FILES
        if ours and not secrets.compare_digest(request.headers.get("X-Aside-Key", ""), self._key):
            raise web.HTTPUnauthorized
        return await handler(request)


async def _file(request: web.Request) -> web.Response:
    path = _PAGE / _FILES[request.path]
    return web.Response(
        text=path.read_text("utf-8"), content_type=_TYPES[path.suffix], headers=_HEADERS
    )


def _json_handler(answer: Answer) -> Handler:
    async def serve(request: web.Request) -> web.StreamResponse:
        try:
            return web.json_response(await answer(await request.json()), headers=_HEADERS)
        except (KeyError, ValueError, TypeError) as error:
            return _refusal(f"The request is malformed ({error}). Reload the page.", 400)
        except (AsideError, SetupError, BackendError) as error:
            return _refusal(str(error), 409)

    return serve


def _refusal(sentence: str, status: int) -> web.Response:
    return web.json_response({"error": sentence}, status=status, headers=_HEADERS)
