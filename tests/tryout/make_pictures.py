"""Make the README's pictures in docs/: `python -m tests.tryout.make_pictures`.

The demo model generates the replies.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

from PIL import Image

from bot.app import create_bot
from bot.engine_factory import create_engine
from bot.library.library import Library
from bot.package_data import find_shipped_folder
from bot.settings import Settings, StoreSettings
from bot.tryout.loopback_port import listen
from bot.tryout.tryout_session import run_session
from tests.tryout.browser_visit import REPLY_PATIENCE, WINDOW, Newcomer
from tests.tryout.chromium import PROGRAM, Page, browser

DOCS = Path(__file__).parents[2] / "docs"
_COLOURS = 128  # size of the palette, which keeps the files small
_IDLE = "!document.querySelector('#status').innerText"


async def main(folder: Path) -> None:
    """Play the beginning of a scene and take pictures."""
    settings = Settings(store=StoreSettings(path=folder / "aside.db"))
    scenario = Library([find_shipped_folder("personas")]).scenario("pride-and-prejudice")
    engine = create_engine(settings)
    await engine.start()
    try:
        with listen(None) as server:
            playing = run_session(
                lambda mine: create_bot(settings, engine=mine), engine, server, scenario
            )
            async with playing as site, browser(folder / "browser", width=1200, height=720) as page:
                await _visit(Newcomer(page), site.address)
    finally:
        await engine.close()


async def _visit(newcomer: Newcomer, address: str) -> None:
    page = newcomer.page
    await newcomer.arrive(address)
    await newcomer.commands("scene start", choice="Mr Bennet")
    await newcomer.reads("Rain runs down the library window")
    await newcomer.become("ada")
    await newcomer.commands("cast join", choice="Elizabeth Bennet")
    await newcomer.reads("Ada plays Elizabeth Bennet")
    await newcomer.says("@Mr Bennet You sent for me, Papa?")
    await _answered(page, 1)
    await _take(page, "try-speech.png")
    await newcomer.become("grace")
    await newcomer.go_to("Aside")
    await newcomer.reads("💭")
    await _take(page, "try-thoughts.png")
    await newcomer.go_to("mr-bennets-study")
    await newcomer.commands("reveal thoughts")
    await newcomer.become("ada")
    await newcomer.says("@Mr Bennet I have refused him, Papa.")
    await _answered(page, 2)
    await _take(page, "try-spoiler.png")


async def _answered(page: Page, count: int) -> None:
    personas = "[...document.querySelectorAll('.message-author-name, .message-author')]"
    await page.until(
        f"{personas}.filter((one) => one.innerText === 'Mr Bennet').length >= {count}",
        within=WINDOW,
        patience=REPLY_PATIENCE,
    )
    await page.until(_IDLE)


async def _take(page: Page, name: str) -> None:
    await asyncio.sleep(1.0)  # avatars load one by one
    path = DOCS / name
    await page.picture(path)
    with Image.open(path) as picture:
        small = picture.convert("RGB").quantize(_COLOURS)
    small.save(path, optimize=True)
    sys.stdout.write(f"{path.relative_to(DOCS.parent)}: {path.stat().st_size // 1000} kB\n")


if __name__ == "__main__":
    if PROGRAM is None:
        sys.exit("Chromium is needed (Debian: apt install chromium).")
    DOCS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary:
        asyncio.run(main(Path(temporary)))
