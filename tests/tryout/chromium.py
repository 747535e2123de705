"""Drive a headless Chromium over the DevTools protocol, as a person would use a page."""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import shutil
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import aiohttp

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

PROGRAM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
_OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--no-first-run",
    "--remote-debugging-port=0",
)
_PATIENCE = 20.0  # seconds until an expected change must appear
_KEYS = {"Enter": 13, "Escape": 27, "Tab": 9}


class Page:
    """One page. Selectors are CSS. `within` is the selector of a frame to search."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}

    async def listen(self) -> None:
        """Pass responses to their callers. Runs until the page is closed."""
        async for message in self._socket:
            answer = json.loads(message.data)
            if waiting := self._waiting.pop(answer.get("id", 0), None):
                waiting.set_result(answer)

    async def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call one method of the protocol."""
        number = next(self._numbers)
        waiting = self._waiting[number] = asyncio.get_running_loop().create_future()
        await self._socket.send_json({"id": number, "method": method, "params": parameters})
        async with asyncio.timeout(_PATIENCE):
            answer = await waiting
        assert "error" not in answer, answer["error"]
        result: dict[str, Any] = answer["result"]
        return result

    async def open(self, address: str) -> None:
        """Go to an address."""
        await self.call("Page.enable")
        await self.call("Page.navigate", url=address)

    async def evaluate(self, script: str) -> Any:
        """Return the value of a script."""
        answer = await self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    async def until(
        self, script: str, *, within: str | None = None, patience: float = _PATIENCE
    ) -> Any:
        """Return the value of a script as soon as it is true. `document` in it is the frame's."""
        end = asyncio.get_running_loop().time() + patience
        while not (value := await self.evaluate(_in(within, script))):
            if asyncio.get_running_loop().time() > end:
                text = await self.evaluate(_in(within, "document.body.innerText"))
                raise AssertionError(
                    f"{script} was not true after {patience} s. The page shows:\n{text}"
                )
            await asyncio.sleep(0.05)
        return value

    async def reads(
        self, text: str, *, within: str | None = None, patience: float = _PATIENCE
    ) -> None:
        """Wait until the page shows this text."""
        await self.until(
            f"document.body.innerText.includes({json.dumps(text)})",
            within=within,
            patience=patience,
        )

    async def click(
        self, selector: str, *, within: str | None = None, button: str = "left"
    ) -> None:
        """Click the middle of the last visible element that matches the selector."""
        script = f"""(() => {{
            const all = [...document.querySelectorAll({json.dumps(selector)})];
            const found = all.filter((one) => one.checkVisibility());
            const box = found.at(-1)?.getBoundingClientRect();
            return box && {{ x: box.x + box.width / 2, y: box.y + box.height / 2 }};
        }})()"""
        spot = await self.until(script, within=within)
        if within:
            box = f"document.querySelector({json.dumps(within)}).getBoundingClientRect()"
            offset = f"(({{x, y}}) => ({{x, y}}))({box})"
            frame = await self.evaluate(offset)
            spot = {axis: spot[axis] + frame[axis] for axis in "xy"}
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            await self.call(
                "Input.dispatchMouseEvent", type=kind, button=button, clickCount=1, **spot
            )

    async def write(self, text: str) -> None:
        """Type text into the focused element."""
        for letter in text:
            await self.call("Input.dispatchKeyEvent", type="char", text=letter)

    async def press(self, key: str) -> None:
        """Press a key that types no text."""
        for kind in ("keyDown", "keyUp"):
            text = {"text": "\r"} if key == "Enter" and kind == "keyDown" else {}
            await self.call(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=key,
                windowsVirtualKeyCode=_KEYS[key],
                **text,
            )

    async def picture(self, path: Path) -> None:
        """Save a screenshot as PNG."""
        shot = await self.call("Page.captureScreenshot", format="png")
        await asyncio.to_thread(path.write_bytes, base64.b64decode(shot["data"]))


@asynccontextmanager
async def browser(folder: Path, *, width: int = 1280, height: int = 800) -> AsyncIterator[Page]:
    """Run a browser with its files in `folder`."""
    assert PROGRAM is not None
    process = await asyncio.create_subprocess_exec(
        PROGRAM,
        *_OPTIONS,
        f"--user-data-dir={folder}",
        f"--window-size={width},{height}",
        "about:blank",
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with (
            aiohttp.ClientSession() as session,
            session.ws_connect(await _address(session, folder), max_msg_size=0) as socket,
        ):
            page = Page(socket)
            listening = asyncio.create_task(page.listen())
            await page.call(
                "Emulation.setDeviceMetricsOverride",
                width=width,
                height=height,
                deviceScaleFactor=1,
                mobile=False,
            )
            yield page
            listening.cancel()
    finally:
        process.terminate()
        await process.wait()


async def _address(session: aiohttp.ClientSession, folder: Path) -> str:
    """Return the address of the first page's socket once the browser has published it."""
    async with asyncio.timeout(_PATIENCE):
        while True:
            if port := await asyncio.to_thread(_port, folder):
                async with session.get(f"http://127.0.0.1:{port}/json/list") as answer:
                    if pages := [one for one in await answer.json() if one["type"] == "page"]:
                        return str(pages[0]["webSocketDebuggerUrl"])
            await asyncio.sleep(0.05)


def _port(folder: Path) -> str:
    published = folder / "DevToolsActivePort"
    return published.read_text().partition("\n")[0] if published.exists() else ""


def _in(within: str | None, script: str) -> str:
    if within is None:
        return script
    frame = f"document.querySelector({json.dumps(within)})?.contentDocument"
    return f"((document) => document?.body ? {script} : null)({frame})"
