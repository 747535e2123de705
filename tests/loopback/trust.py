"""A certificate authority for one run, trusted only by processes that are given it."""

from __future__ import annotations

import ssl
from functools import cache
from typing import TYPE_CHECKING

import trustme

from .proxy import HOSTS

if TYPE_CHECKING:
    from pathlib import Path


@cache
def _authority() -> trustme.CA:
    return trustme.CA()


@cache
def server_context() -> ssl.SSLContext:
    """Return the TLS context of the server."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    names = [name for host in HOSTS for name in (host, f"*.{host}")]
    _authority().issue_cert(*names).configure_cert(context)
    return context


@cache
def client_context() -> ssl.SSLContext:
    """Return the TLS context of a bot in this process, which trusts only the loopback."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    _authority().configure_trust(context)
    return context


def write_authority(path: Path) -> None:
    """Write the authority's certificate for a bot in another process (SSL_CERT_FILE)."""
    _authority().cert_pem.write_to_path(str(path))
