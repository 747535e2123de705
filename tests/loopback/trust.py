"""A certificate authority of the loopback's own, made for one run and believed by nobody who isn't told to."""

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
    """For the side that is Discord."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    names = [name for host in HOSTS for name in (host, f"*.{host}")]
    _authority().issue_cert(*names).configure_cert(context)
    return context


@cache
def client_context() -> ssl.SSLContext:
    """For a bot in this process: it trusts the loopback and nobody else."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    _authority().configure_trust(context)
    return context


def write_authority(path: Path) -> None:
    """For a bot in another process, which finds it through SSL_CERT_FILE."""
    _authority().cert_pem.write_to_path(str(path))
