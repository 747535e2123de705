"""`aside lend`, on loopback and on a network address."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from typing import TYPE_CHECKING

from tests.cli.conftest import complaint

if TYPE_CHECKING:
    from tests.cli.conftest import Aside


async def test_it_names_the_devices_and_ends_on_ctrl_c() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "bot",
        "lend",
        "--address",
        address,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert process.stdout
    output = (await process.stdout.readline()).decode()
    assert output.startswith("Lending ")
    assert output.endswith(f" at {address}. Press Ctrl-C to stop.\n")
    process.send_signal(signal.SIGINT)
    await process.communicate()
    assert process.returncode == -signal.SIGINT


def test_a_network_address_needs_an_option(aside: Aside) -> None:
    assert "--to-network" in complaint(aside("lend", "--address", "0.0.0.0:50052"))


def test_an_invalid_address_is_an_error(aside: Aside) -> None:
    assert "host:port" in complaint(aside("lend", "--address", "nowhere:x"))
