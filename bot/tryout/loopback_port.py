"""The port that the site is served at. Apart, since it is tried before what takes long to import is imported."""

from __future__ import annotations

import os
import socket
from typing import Final

from bot.errors import UserInputError

HOST: Final = "127.0.0.1"
"""Loopback: nobody from outside gets in."""


def listen(port: int | None) -> socket.socket:
    """Return a socket on loopback, at this port or a free one. Raises UserInputError where the port can't be had."""
    server = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name == "posix":  # elsewhere it would share the port with whoever has it
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        server.bind((HOST, port or 0))
    except OSError as error:
        server.close()
        raise UserInputError(
            f"Port {port} can't be used ({error.strerror}): choose another with `--port`, or leave it out."
        ) from error
    return server
