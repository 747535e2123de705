"""Logging: in colour on a terminal, plain elsewhere, and to a file if one is configured.

Secrets are redacted.
"""

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

_FORMAT = "%(asctime)s %(levelname)-7s %(name)s: %(message)s"
_MAX_FILE_BYTES = 5_000_000
_BACKUP_FILES = 3
_VERBOSE_LIBRARIES = (
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

_REDACTED = "[secret]"
# Discord's tokens, the hub's tokens, and the tokens in the URLs of webhooks and interactions.
_SECRET_PATTERNS = (
    r"[\w-]{23,28}\.[\w-]{6,7}\.[\w-]{27,}",
    r"hf_[A-Za-z0-9]{20,}",
    r"\b(?=[\w-]*[A-Z])(?=[\w-]*[a-z])(?=[\w-]*\d)[\w-]{60,}",
    r"(?<=webhooks/)\d+/[\w.-]{20,}",
    r"(?<=interactions/)\d+/[\w.-]{20,}",
)
_SECRET = re.compile("|".join(_SECRET_PATTERNS))


def set_up(settings: Settings) -> Callable[[], None]:
    """Configure logging and return a function that restores the previous state.

    Libraries log at WARNING and above. Raises SettingsError if the log file cannot be opened.
    """
    handlers = _create_handlers(settings)
    levels = {name: logging.getLogger(name).level for name in ("", *_VERBOSE_LIBRARIES)}
    for name in _VERBOSE_LIBRARIES:
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
    """Redacts these secrets, and everything that looks like one, in messages and tracebacks."""

    def __init__(self, format_: str, secrets: tuple[str, ...] = ()) -> None:
        super().__init__(format_)
        self._secrets = sorted(secrets, key=len, reverse=True)

    def format(self, record: logging.LogRecord) -> str:
        """Return the redacted text of a record."""
        text = super().format(record)
        for secret in self._secrets:
            text = text.replace(secret, _REDACTED)
        return _SECRET.sub(_REDACTED, text)


def _create_handlers(settings: Settings) -> list[logging.Handler]:
    secrets = _list_secrets(settings)
    handlers = [_create_console_handler(secrets)]
    if settings.logging.file:
        handlers.append(_create_file_handler(settings.logging.file))
        handlers[-1].setFormatter(RedactingFormatter(_FORMAT, secrets))
    return handlers


def _create_console_handler(secrets: tuple[str, ...]) -> logging.Handler:
    if not sys.stderr.isatty():
        plain = logging.StreamHandler(sys.stderr)
        plain.setFormatter(RedactingFormatter(_FORMAT, secrets))
        return plain
    coloured = RichHandler(console=Console(stderr=True), show_path=False, markup=False)
    coloured.setFormatter(RedactingFormatter("%(message)s", secrets))
    return coloured


def _create_file_handler(path: Path) -> logging.Handler:
    try:
        return RotatingFileHandler(
            path, maxBytes=_MAX_FILE_BYTES, backupCount=_BACKUP_FILES, encoding="utf-8"
        )
    except OSError as error:
        raise SettingsError(
            f"The log file {path} cannot be opened ({error.strerror}). Set another `logging.file`."
        ) from error


def _list_secrets(settings: Settings) -> tuple[str, ...]:
    configured = (settings.discord.token, getattr(settings.engine, "api_key", None))
    values = [secret.get_secret_value() for secret in configured if secret]
    proxy_password = urlsplit(settings.discord.proxy or "").password
    return tuple(filter(None, (*values, proxy_password)))
