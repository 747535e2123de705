"""Measure how long a newcomer waits: `python -m tests.tryout.measure_page_waits [CLONE]`.

It runs `aside try` and Chromium. It prints the seconds until the link, until the page accepts
input, and from a message until the first public word of the reply. In a new clone the first figure
includes the set-up.
"""

from __future__ import annotations

import asyncio
import re
import signal
import sys
import tempfile
import time
from pathlib import Path

from tests.tryout.browser_visit import REPLY_PATIENCE, WINDOW, Newcomer
from tests.tryout.chromium import PROGRAM, browser

_ROOT = Path(__file__).parents[2]
_SAID = r"/WEBHOOK\s+\d[^\n]*\n+(?!💭)\S/.test(document.body.innerText)"


async def main(folder: Path, clone: Path) -> None:
    """Run `aside try` of a clone, speak to a character, and print the waiting times."""
    began = time.perf_counter()
    trying = await asyncio.create_subprocess_exec(
        sys.executable,
        "dev.py",
        "aside",
        "try",
        "--no-browser",
        cwd=clone,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        link = await _link(trying)
        _tell("link", began)
        async with browser(folder, width=1200, height=720) as page:
            newcomer = Newcomer(page)
            opened = time.perf_counter()
            await newcomer.arrive(link)
            _tell("page, from its opening", opened)
            await newcomer.commands("scene start", choice="Mr Bennet")
            await newcomer.reads("Rain runs down the library window")
            await newcomer.become("ada")
            await newcomer.says("@Mr Bennet You sent for me, Papa?")
            spoken = time.perf_counter()
            await page.until(_SAID, within=WINDOW, patience=REPLY_PATIENCE)
            _tell("first public word, from the line", spoken)
    finally:
        trying.send_signal(signal.SIGINT)
        await trying.wait()


async def _link(trying: asyncio.subprocess.Process) -> str:
    assert trying.stdout is not None
    async for line in trying.stdout:
        if found := re.search(r"http://\S+", line.decode()):
            return found[0]
    raise AssertionError("`aside try` ended without a link.")


def _tell(what: str, since: float) -> None:
    sys.stdout.write(f"{what}: {time.perf_counter() - since:.1f} s\n")
    sys.stdout.flush()


if __name__ == "__main__":
    if PROGRAM is None:
        sys.exit("Chromium is needed (Debian: apt install chromium).")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary:
        asyncio.run(
            main(Path(temporary), Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else _ROOT)
        )
