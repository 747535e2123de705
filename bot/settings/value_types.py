"""The kinds of values that settings have, and what may stand in each."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, StringConstraints

TOKEN = "DISCORD_TOKEN"  # noqa: S105 - the variable's name
API_KEY = "ASIDE_API_KEY"
_QUOTES = "\"'`“”‘’«»"


def clean_secret(text: str) -> str:
    """Return a token or key as it was meant: without the quotes, spaces, line breaks, `Bot ` or `Bearer ` that were
    pasted along with it. Empty where nothing else was there. Raises ValueError, which does not quote it."""
    bare = re.sub(
        r"\A(bot|bearer)\s+", "", text.strip(_QUOTES + " \t\r\n\ufeff"), flags=re.IGNORECASE
    )
    bare = "".join(bare.split()).strip(_QUOTES)
    if not (bare.isascii() and bare.isprintable()):
        raise ValueError("it holds characters that no token has: copy it again")
    return bare


def _secret(value: object) -> object:
    text = value.get_secret_value() if isinstance(value, SecretStr) else value
    return clean_secret(text) or None if isinstance(text, str) else value


def _web_address(address: str) -> str:
    if not re.fullmatch(r"https?://[^\s/?#]+[^\s]*", address):
        raise ValueError("an address must begin with http:// or https:// and name a host")
    return address


def _without_credentials(address: str) -> str:
    if "@" in address.split("/", 3)[2]:
        raise ValueError(
            f"a name or password must not stand in `base_url`: put the key into {API_KEY}"
        )
    return address.rstrip("/")


def _some(ids: tuple[int, ...]) -> tuple[int, ...]:
    if not ids:
        raise ValueError(
            "`guilds` names no server, so nobody could play: list ids, or take it out to allow every server"
        )
    return ids


def _on_or_off(value: object) -> object:
    return {True: "on", False: "off"}.get(value, value) if isinstance(value, bool) else value


def _upper(value: object) -> object:
    return value.upper() if isinstance(value, str) else value


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


Secret = Annotated[SecretStr | None, BeforeValidator(_secret)]
WebAddress = Annotated[str, StringConstraints(strip_whitespace=True), AfterValidator(_web_address)]
_EngineAddress = Annotated[WebAddress, AfterValidator(_without_credentials)]
Home = Annotated[Path, AfterValidator(Path.expanduser)]
_Id = Annotated[int, Field(gt=0, lt=2**63)]
Addresses = Annotated[tuple[_EngineAddress, ...], BeforeValidator(_listed)]
Folders = Annotated[tuple[Home, ...], BeforeValidator(_listed)]
Lines = Annotated[tuple[str, ...], BeforeValidator(_listed)]
Guilds = Annotated[tuple[_Id, ...], AfterValidator(_some)]
Switch = Annotated[Literal["auto", "on", "off"], BeforeValidator(_on_or_off)]
Level = Annotated[Literal["DEBUG", "INFO", "WARNING", "ERROR"], BeforeValidator(_upper)]
