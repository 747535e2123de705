"""The types of the settings' values and their checks."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, get_args, get_origin
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, StringConstraints
from pydantic_core import PydanticKnownError

from bot.documents import show_control_characters

if TYPE_CHECKING:
    from collections.abc import Iterator

TOKEN = "DISCORD_TOKEN"  # noqa: S105 - the variable's name
API_KEY = "ASIDE_API_KEY"
_QUOTES = "\"'`“”‘’«»"
_CHANNEL_ADDRESS = re.compile(r"discord(?:app)?\.com/channels/(\d+)")
_ENDPOINTS = ("/chat/completions", "/completions", "/models", "/embeddings", "/responses")
_USE_MODEL = "Set `engine.model` to hf:OWNER/REPO/FILE.gguf to run its model here"
_PAGES = {
    "huggingface.co": _USE_MODEL,
    "hf.co": _USE_MODEL,
    "modelscope.cn": "Give the address of a server that runs the model",
    "github.com": "Give the address of a server that runs the model",
    "ollama.com": "Give the address of your Ollama server, such as `http://127.0.0.1:11434/v1`",
    "lmstudio.ai": "Give the address of your LM Studio server, such as `http://127.0.0.1:1234/v1`",
    "platform.openai.com": "Write `https://api.openai.com/v1`",
    "discord.com": "Give the address of a server that runs the model",
}


def clean_secret(text: str) -> str:
    """Return a token or key without quotes, spaces, line breaks, `Bot ` or `Bearer ` around it.

    Return an empty string if nothing else was there. Raises ValueError, which does not quote it.
    """
    bare = re.sub(
        r"\A(bot|bearer)\s+", "", text.strip(_QUOTES + " \t\r\n\ufeff"), flags=re.IGNORECASE
    )
    bare = "".join(bare.split()).strip(_QUOTES)
    if not (bare.isascii() and bare.isprintable()):
        if "#" in bare:
            raise ValueError("there is a comment behind it. Delete everything from the `#` on")
        raise ValueError("this has characters that can't be in a token or key. Copy it again")
    return bare


def _parse_secret(value: object) -> object:
    text = value.get_secret_value() if isinstance(value, SecretStr) else value
    return clean_secret(text) or None if isinstance(text, str) else value


def _require_plain_path(value: object) -> object:
    """Reject control characters, which come from escapes in double quotes such as `C:\\new`."""
    text = str(value) if isinstance(value, str | Path) else ""
    if text != (visible := show_control_characters(text)):
        raise ValueError(
            f"the path `{visible[:80]}` has a control character, because a `\\` in double quotes "
            "starts an escape. Write `\\\\` for each `\\`, or use single quotes"
        )
    return value


def _require_web_address(address: str) -> str:
    """Return a web address. A message never quotes an address that may contain a password."""
    if re.fullmatch(r"https?://[^\s/?#]+[^\s]*", address, re.IGNORECASE):
        return address
    scheme, found, _ = address.partition("://")
    if found and scheme.lower().startswith("socks"):
        raise ValueError(
            "this is a SOCKS proxy, which Aside can't use. Give the address of an HTTP proxy"
        )
    if not found and re.fullmatch(r"[\w.-]+(:\d+)?(/[^\s@]*)?", address):
        raise ValueError(
            "an address must begin with http:// or https://. "
            f"Write `http://{address}` or `https://{address}`"
        )
    raise ValueError("an address must begin with http:// or https:// and name a host")


def _require_host_and_port(address: str) -> str:
    """Return `HOST:PORT`, the form of an address of llama.cpp's RPC."""
    address = address.strip()
    bare = re.sub(r"\A\w+://", "", address).rstrip("/")
    if bare != address:
        raise ValueError(f"an RPC address has no scheme and no path. Write `{bare[:60]}`")
    if not re.fullmatch(r".+:\d{1,5}", address):
        raise ValueError(f"an RPC address needs a port. Write `{address[:60]}:50052`")
    return address


def _require_no_credentials(address: str) -> str:
    if "@" in address.split("/", 3)[2]:
        raise ValueError(
            f"`base_url` must not contain a user name or password. Put the key in {API_KEY}"
        )
    return address.rstrip("/")


def _require_api_root(address: str) -> str:
    """Return the root of a completions server's API. Reject pages and single endpoints."""
    host = (urlsplit(address).hostname or "").removeprefix("www.")
    if host in _PAGES:
        raise ValueError(
            f"this is the address of a page on {host}, not of a completions server. {_PAGES[host]}"
        )
    for endpoint in _ENDPOINTS:
        if address.lower().endswith(endpoint):
            root = address[: -len(endpoint)]
            raise ValueError(f"this is the address of one endpoint. Write `{root}`")
    return address


def _explain_guild_address(value: object) -> object:
    if isinstance(value, bool):
        raise PydanticKnownError("int_type")
    if isinstance(value, str) and (found := _CHANNEL_ADDRESS.search(value)):
        raise ValueError(f"this is an address, not an id. Write `{found[1]}`")
    return value


def _require_guilds(ids: tuple[int, ...]) -> tuple[int, ...]:
    if not ids:
        raise ValueError(
            "`guilds` is an empty list. List the ids of servers, or delete it to allow every server"
        )
    return ids


def _spell_switch(value: object) -> object:
    return {True: "on", False: "off"}.get(value, value) if isinstance(value, bool) else value


def accepts_numbers_only(annotation: object) -> bool:
    """Return whether a field of this type takes numbers and no true or false."""
    kinds = {annotation, *_list_types(annotation)}
    return bool(kinds & {int, float}) and bool not in kinds


def _list_types(annotation: object) -> Iterator[object]:
    """Yield the types inside a type. The values of a `Literal` are none."""
    if get_origin(annotation) is not Literal:
        for inner in get_args(annotation):
            yield inner
            yield from _list_types(inner)


def _upper(value: object) -> object:
    return value.upper() if isinstance(value, str) else value


def _wrap_in_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


Secret = Annotated[SecretStr | None, BeforeValidator(_parse_secret)]
WebAddress = Annotated[
    str, StringConstraints(strip_whitespace=True), AfterValidator(_require_web_address)
]
_EngineAddress = Annotated[
    WebAddress, AfterValidator(_require_no_credentials), AfterValidator(_require_api_root)
]
UserPath = Annotated[Path, BeforeValidator(_require_plain_path), AfterValidator(Path.expanduser)]
ModelName = Annotated[str, BeforeValidator(_require_plain_path)]
_Id = Annotated[int, Field(gt=0, lt=2**63), BeforeValidator(_explain_guild_address)]
Addresses = Annotated[tuple[_EngineAddress, ...], BeforeValidator(_wrap_in_list)]
Folders = Annotated[tuple[UserPath, ...], BeforeValidator(_wrap_in_list)]
_RpcAddress = Annotated[str, AfterValidator(_require_host_and_port)]
RpcAddresses = Annotated[tuple[_RpcAddress, ...], BeforeValidator(_wrap_in_list)]
Guilds = Annotated[tuple[_Id, ...], AfterValidator(_require_guilds)]
Switch = Annotated[Literal["auto", "on", "off"], BeforeValidator(_spell_switch)]
Level = Annotated[Literal["DEBUG", "INFO", "WARNING", "ERROR"], BeforeValidator(_upper)]
