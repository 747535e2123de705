"""What `aside try` says on the terminal, and the browser it opens."""

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
    """Say that the model is being loaded."""
    _say("Loading the model …")


def announce_site(address: str, info: EngineInfo) -> None:
    """Say where the page is and what speaks there."""
    _say(f"{describe_engine(info)}.")
    if caution := engine_warning(info):
        _say(caution)
    if info.stand_in:
        _say("On two cores a reply takes it 5 to 20 seconds.")
    _say(f"\nOpen  {address}\n")
    _say("The link is for you alone. Nothing is kept when you end it with Ctrl-C.")


def open_browser(address: str) -> None:
    """Open the page in the visitor's browser, or say that they must do it."""
    if not _has_display():
        port = address.split(":")[2].partition("/")[0]
        _say(
            f"No display here: open the link yourself (from afar, after `ssh -L {port}:127.0.0.1:{port} …`)."
        )
        return
    # A browser may take its time, or never return, and nobody waits for it.
    threading.Thread(target=_open, args=(address,), daemon=True).start()


def _open(address: str) -> None:
    try:
        found = webbrowser.open(address)
    except (webbrowser.Error, OSError):
        found = False
    if not found:
        _say("No browser was found: open the link yourself.")


def _has_display() -> bool:
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or os.environ.get("BROWSER")
    )


def _say(text: str) -> None:
    _console.print(text, markup=False)
