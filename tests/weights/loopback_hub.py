"""A hub on loopback with the Hugging Face hub's listing, redirects, ranges and refusals."""

from __future__ import annotations

import asyncio
import hashlib
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from aiohttp import web

if TYPE_CHECKING:
    from collections.abc import Callable

COMMIT = "c0ffee" * 6 + "beef"
_SMALL = 1000  # largest file that git stores itself, such as `config.json`


@dataclass
class LoopbackHub:
    """Runs in its own thread, because the tested code blocks."""

    commit: str = COMMIT
    token: str = ""  # required by gated and private repositories
    gated: set[str] = field(default_factory=set)
    private: set[str] = field(default_factory=set)
    breaks: list[int] = field(
        default_factory=list
    )  # bytes after which the next transfers are interrupted
    answers_html: bool = False  # like the login page of a hotel's network
    asked: list[str] = field(default_factory=list)
    ranges: list[str] = field(default_factory=list)
    tokens_at_storage: list[str] = field(default_factory=list)
    url: str = ""
    files: dict[str, dict[str, bytes]] = field(default_factory=dict)
    promised: dict[str, int] = field(default_factory=dict)  # sizes listed instead of the true ones
    spoilt: dict[str, bytes] = field(
        default_factory=dict
    )  # content sent instead of the listed file
    before_sending: Callable[[], None] = lambda: None

    def put(self, repo: str, name: str, content: bytes) -> None:
        """Publish a file."""
        self.files.setdefault(repo, {})[name] = content

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._open(), self._loop).result(10)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop at once, even during a transfer."""
        if not self._loop.is_closed():
            asyncio.run_coroutine_threadsafe(self._runner.cleanup(), self._loop).result(10)
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(10)
            self._loop.close()

    async def _open(self) -> None:
        app = web.Application()
        app.router.add_get("/api/models/{owner}/{repo}", self._listed)
        app.router.add_get("/{owner}/{repo}/resolve/{commit}/{name:.+}", self._resolve)
        app.router.add_get("/storage/{owner}/{repo}/{name:.+}", self._store)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"

    async def _listed(self, request: web.Request) -> web.Response:
        if self.answers_html:
            return web.Response(
                text="<!DOCTYPE html><html>Room number?</html>", content_type="text/html"
            )
        repo = _repo(request)
        if refusal := self._refused(request, listing=True):
            return refusal
        files = [self._sibling(name, content) for name, content in self.files[repo].items()]
        return web.json_response(
            {"id": repo, "sha": self.commit, "siblings": files, "gated": repo in self.gated}
        )

    def _sibling(self, name: str, content: bytes) -> dict[str, Any]:
        size = self.promised.get(name, len(content))
        blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
        sibling: dict[str, Any] = {"rfilename": name, "size": size, "blobId": blob}
        if len(content) > _SMALL:
            sibling["lfs"] = {
                "sha256": hashlib.sha256(content).hexdigest(),
                "size": size,
                "pointerSize": 130,
            }
        return sibling

    async def _resolve(self, request: web.Request) -> web.Response:
        repo = _repo(request)
        name = request.match_info["name"]
        self.asked.append(name)
        if refusal := self._refused(request, listing=False):
            return refusal
        if name not in self.files[repo]:
            return web.Response(status=404, headers={"X-Error-Code": "EntryNotFound"})
        content = self.files[repo][name]
        etag = hashlib.sha256(content).hexdigest()
        headers = {
            "X-Repo-Commit": self.commit,
            "X-Linked-Etag": f'"{etag}"',
            "X-Linked-Size": str(len(content)),
        }
        address = self.url.replace(
            "127.0.0.1", "localhost"
        )  # another host, as with the real storage
        return web.Response(
            status=302, headers=headers | {"Location": f"{address}/storage/{repo}/{name}"}
        )

    async def _store(self, request: web.Request) -> web.StreamResponse:
        repo = _repo(request)
        name = request.match_info["name"]
        self.tokens_at_storage.append(request.headers.get("Authorization", ""))
        self.ranges.append(request.headers.get("Range", ""))
        content = self.spoilt.get(name, self.files[repo][name])
        start = (
            int(self.ranges[-1].removeprefix("bytes=").split("-")[0] or 0) if self.ranges[-1] else 0
        )
        status, headers = (
            (206, {"Content-Range": f"bytes {start}-{len(content) - 1}/{len(content)}"})
            if start
            else (200, {})
        )
        response = web.StreamResponse(status=status, headers=headers)
        response.content_length = len(content) - start
        await response.prepare(request)
        await asyncio.to_thread(self.before_sending)
        if self.breaks:
            await response.write(content[start : start + self.breaks.pop(0)])
            assert request.transport
            request.transport.abort()
            return response
        await response.write(content[start:])
        return response

    def _refused(self, request: web.Request, *, listing: bool) -> web.Response | None:
        repo = _repo(request)
        known = self.token and request.headers.get("Authorization") == f"Bearer {self.token}"
        if repo not in self.files or (repo in self.private and not known):
            return web.Response(status=401, headers={"X-Error-Code": "RepoNotFound"})
        if repo in self.gated and not known and not listing:
            return web.Response(status=403, headers={"X-Error-Code": "GatedRepo"})
        return None


def _repo(request: web.Request) -> str:
    return f"{request.match_info['owner']}/{request.match_info['repo']}"
