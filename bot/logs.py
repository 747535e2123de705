"""The program's log: in colour on a terminal, plain elsewhere, into a file where one is set; never a secret in it."""

from __future__ import annotations

import logging
import re
import sys
from logging.handlers import RotatingFileHandler
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from rich.console import Console
from rich.logging import RichHandler

from bot.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from bot.settings import Settings

_LAYOUT = "%(asctime)s %(levelname)-7s %(name)s: %(message)s"
_FILE_BYTES, _OLDER_FILES = 5_000_000, 3
_CHATTY = (
    "discord",
    "aiohttp",
    "aiosqlite",
    "asyncio",
    "filelock",
    "httpcore",
    "httpx",
    "huggingface_hub",
    "PIL",
)

_HIDDEN = "[secret]"
_SHAPES = (  # of Discord's tokens, the hub's, and those that stand in the addresses of webhooks and interactions
    r"[\w-]{23,28}\.[\w-]{6,7}\.[\w-]{27,}",
    r"hf_[A-Za-z0-9]{20,}",
    r"\b(?=[\w-]*[A-Z])(?=[\w-]*[a-z])(?=[\w-]*\d)[\w-]{60,}",
    r"(?<=webhooks/)\d+/[\w.-]{20,}",
    r"(?<=interactions/)\d+/[\w.-]{20,}",
)
_LOOKS_SECRET = re.compile("|".join(_SHAPES))


def set_up(settings: Settings) -> Callable[[], None]:
    """Log as the settings say from now on; return a function that undoes it.

    Other people's libraries are heard from WARNING on. Raises SettingsError where the log file can't be opened.
    """
    handlers = _handlers(settings)
    levels = {name: logging.getLogger(name).level for name in ("", *_CHATTY)}
    for name in _CHATTY:
        logging.getLogger(name).setLevel(logging.WARNING)
    root = logging.getLogger()
    root.setLevel(settings.logging.level)
    for handler in handlers:
        root.addHandler(handler)

    def undo() -> None:
        for handler in handlers:
            root.removeHandler(handler)
            handler.close()
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)

    return undo


class RedactingFormatter(logging.Formatter):
    """Writes records with these secrets, and whatever looks like one, hidden in messages and tracebacks."""

    def __init__(self, layout: str, secrets: tuple[str, ...] = ()) -> None:
        super().__init__(layout)
        self._secrets = sorted(secrets, key=len, reverse=True)

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as it is written."""
        text = super().format(record)
        for secret in self._secrets:
            text = text.replace(secret, _HIDDEN)
        return _LOOKS_SECRET.sub(_HIDDEN, text)


def _handlers(settings: Settings) -> list[logging.Handler]:
    secrets = _secrets(settings)
    handlers = [_screen(secrets)]
    if settings.logging.file:
        handlers.append(_file(settings.logging.file))
        handlers[-1].setFormatter(RedactingFormatter(_LAYOUT, secrets))
    return handlers


def _screen(secrets: tuple[str, ...]) -> logging.Handler:
    if not sys.stderr.isatty():
        plain = logging.StreamHandler(sys.stderr)
        plain.setFormatter(RedactingFormatter(_LAYOUT, secrets))
        return plain
    coloured = RichHandler(console=Console(stderr=True), show_path=False, markup=False)
    coloured.setFormatter(RedactingFormatter("%(message)s", secrets))
    return coloured


def _file(path: Path) -> logging.Handler:
    try:
        return RotatingFileHandler(
            path, maxBytes=_FILE_BYTES, backupCount=_OLDER_FILES, encoding="utf-8"
        )
    except OSError as error:
        raise SettingsError(
            f"The log file {path} can't be opened ({error.strerror}): set another `logging.file`."
        ) from error


def _secrets(settings: Settings) -> tuple[str, ...]:
    held = (settings.discord.token, getattr(settings.engine, "api_key", None))
    proxy = urlsplit(settings.discord.proxy or "").password
    return tuple(
        secret for secret in (*(one.get_secret_value() for one in held if one), proxy) if secret
    )
