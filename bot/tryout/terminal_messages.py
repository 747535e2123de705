"""Print the messages of `aside try` and open the browser."""

from __future__ import annotations

import os
import sys
import threading
import webbrowser
from typing import TYPE_CHECKING

from rich.console import Console

from bot.engine_factory import describe_engine, engine_warning

if TYPE_CHECKING:
    from bot.engine.protocol import EngineInfo

_console = Console(highlight=False, soft_wrap=True)


def announce_loading() -> None:
    """Print that the model is loading."""
    _say("Loading the model …")


def announce_site(address: str, info: EngineInfo) -> None:
    """Print the link to the page and the model that plays there."""
    _say(f"{describe_engine(info)}.")
    if caution := engine_warning(info):
        _say(caution)
    if info.stand_in:
        _say("A reply takes 5 to 20 seconds on two cores.")
    _say(f"\nOpen  {address}\n")
    _say("Keep this link to yourself. Ctrl-C ends the session and deletes all its data.")


def open_browser(address: str) -> None:
    """Open the page in the visitor's browser, or ask them to open it."""
    if not _has_display():
        port = address.split(":")[2].partition("/")[0]
        _say(
            "This machine has no display. Open the link in a browser. From another machine, first "
            f"run `ssh -L {port}:127.0.0.1:{port} …`."
        )
        return
    # A browser may take long or never return, so don't wait for it.
    threading.Thread(target=_open, args=(address,), daemon=True).start()


def _open(address: str) -> None:
    try:
        found = webbrowser.open(address)
    except (webbrowser.Error, OSError):
        found = False
    if not found:
        _say("No browser was found. Open the link yourself.")


def _has_display() -> bool:
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or os.environ.get("BROWSER")
    )


def _say(text: str) -> None:
    _console.print(text, markup=False)
