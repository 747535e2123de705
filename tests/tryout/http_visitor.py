"""A visitor without a browser, who sends the page's requests."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import aiohttp

    from bot.tryout.site import Site


class Visitor:
    """Has the link and opens windows as the page does."""

    def __init__(self, session: aiohttp.ClientSession, site: Site) -> None:
        self._session = session
        self._root, _, self._key = site.address.partition("#")

    async def ask(self, what: str, body: object) -> tuple[int, Any]:
        """Send a request to our own API. Return the status and the response."""
        headers = {"X-Aside-Key": self._key}
        async with self._session.post(
            f"{self._root}aside/{what}", json=body, headers=headers
        ) as answer:
            return answer.status, await answer.json()

    async def news(self, person: str = "ada") -> Any:
        """Return the data that the page shows around the windows."""
        status, news = await self.ask("news", {"person": person})
        assert status == 200, news
        return news

    async def window(self, person: str, place: int) -> Pane:
        """Open a window."""
        status, answer = await self.ask("window", {"person": person, "place": place})
        assert status == 200, answer
        headers = {"X-Simcord-Capability": answer["address"].partition("#")[2]}
        async with self._session.post(f"{self._root}api/pages", json={}, headers=headers) as opened:
            state = await opened.json()
        return Pane(
            self._session,
            self._root,
            headers | {"X-Simcord-Context": state["context"]["id"]},
            state,
        )


class Pane:
    """One window on one page."""

    def __init__(
        self, session: aiohttp.ClientSession, root: str, headers: dict[str, str], state: Any
    ) -> None:
        self._session = session
        self._root = root
        self._headers = headers
        self._first = state
        self._sequence = 0

    async def messages(self) -> list[Any]:
        """Return the visible messages, in order."""
        async with self._session.get(f"{self._root}api/state", headers=self._headers) as answer:
            state = await answer.json()
        return [state["messages"][number] for number in state["timeline"]]

    async def says(self, text: str) -> bool:
        """Return whether a visible message contains this text."""
        return text in json.dumps(await self.messages(), ensure_ascii=False)

    async def act(self, kind: str, **details: Any) -> Any:
        """Send an action as the page would, based on the state when it was opened."""
        self._sequence += 1
        body = {
            "protocol_version": 3,
            "sequence": self._sequence,
            "request_id": f"request-{self._sequence}",
            "generation": self._first["context"]["generation"],
            "bot_generation": self._first["botGeneration"],
            "published_revision": self._first["publishedRevision"],
            "kind": kind,
        }
        async with self._session.post(
            f"{self._root}api/action", json=body | details, headers=self._headers
        ) as answer:
            return await answer.json()

    async def commands(self) -> dict[str, Any]:
        """Return the available slash commands by their names."""
        async with self._session.get(f"{self._root}api/commands", headers=self._headers) as answer:
            return {entry["invocation"]: entry for entry in (await answer.json())["entries"]}
