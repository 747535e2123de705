"""Bind the port of the site. This module is separate because it runs before slow imports."""

from __future__ import annotations

import os
import socket
from typing import Final

from bot.errors import UserInputError

HOST: Final = "127.0.0.1"
"""Loopback, so that other machines have no access."""


def listen(port: int | None) -> socket.socket:
    """Return a socket on loopback at this port, or at a free one.

    Raises UserInputError if the port can't be used.
    """
    server = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name == "posix":  # on Windows this would share a port that is in use
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        server.bind((HOST, port or 0))
    except OSError as error:
        server.close()
        raise UserInputError(
            f"Port {port} can't be used ({error.strerror}). Choose another with `--port`, or "
            "leave it out to use any free port."
        ) from error
    return server
