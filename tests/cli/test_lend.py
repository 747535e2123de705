"""`aside lend`, on loopback and beyond."""

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


async def test_it_says_what_it_lends_and_ends_on_ctrl_c() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot", "lend", "--address", address),
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert process.stdout
    said = (await process.stdout.readline()).decode()
    assert said.startswith("Lending ")
    assert said.endswith(f" at {address}, until Ctrl-C.\n")
    process.send_signal(signal.SIGINT)
    await process.communicate()
    assert process.returncode == -signal.SIGINT


def test_lending_to_a_network_must_be_asked_for(aside: Aside) -> None:
    assert "--to-network" in complaint(aside("lend", "--address", "0.0.0.0:50052"))


def test_what_is_no_address_is_told(aside: Aside) -> None:
    assert "host:port" in complaint(aside("lend", "--address", "nowhere:x"))
