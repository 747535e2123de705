"""Check the variables that decide how the hub is reached: HF_ENDPOINT and the proxy variables.

A mistake in them would otherwise appear as a lost connection or as an internal error.
"""

from __future__ import annotations

from importlib.util import find_spec
from urllib.parse import urlsplit
from urllib.request import getproxies

from bot.errors import UserInputError, WeightsError

_PROXY_SCHEMES = ("http", "https", "socks5", "socks5h")


class NetworkVariableError(WeightsError, UserInputError):
    """A variable has an address that can't be used. The message never quotes the address."""


def require_valid_endpoint(endpoint: str) -> str:
    """Return the address of the hub.

    Raises NetworkVariableError if it is not a web address, for example if `https://` is missing.
    """
    parts = urlsplit(endpoint)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise NetworkVariableError(
            "HF_ENDPOINT is not a web address. Start it with https:// or http://, or unset it."
        )
    if parts.path.strip("/").count("/") >= 1 and parts.hostname == "huggingface.co":
        raise NetworkVariableError(
            "HF_ENDPOINT is the address of a page. Set it to https://huggingface.co or unset it."
        )
    return endpoint.rstrip("/")


def require_valid_proxies() -> None:
    """Raise NetworkVariableError if a proxy variable can't be used by the hub's client."""
    for kind, address in getproxies().items():
        if kind not in ("http", "https", "all"):
            continue
        name = f"{kind.upper()}_PROXY"
        scheme = address.partition("://")[0].lower() if "://" in address else "http"
        if scheme not in _PROXY_SCHEMES:
            raise NetworkVariableError(
                f"{name} has an unknown scheme. Start it with http://, https:// or socks5://."
            )
        if scheme.startswith("socks") and find_spec("socksio") is None:
            raise NetworkVariableError(
                f"{name} is a SOCKS proxy, which needs a package. Run `pip install socksio`, or "
                f"set {name} to an HTTP proxy."
            )
