"""`aside lend`: this machine's devices, for the engine of another one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.console.shared_options import write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.engine.local.devices import Device


def lend(
    address: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="Where they are lent.")
    ] = "127.0.0.1:50052",
    to_network: Annotated[
        bool,
        typer.Option(
            "--to-network", help="Lend beyond this machine, to everyone who can reach the address."
        ),
    ] = False,
) -> None:
    """Lend this machine's GPUs, or else its CPU, to an engine elsewhere that names the address in `engine.rpc`.

    There is no password and no encryption: use it on this machine, or on a network that you trust.
    """
    from bot.engine.local.openmp import spin_briefly

    spin_briefly(os.environ)  # before llama.cpp is loaded
    from bot.engine.local import rpc

    place = rpc.RpcAddress.parse(address)
    if warning := rpc.check_lending(place, to_network=to_network):
        typer.echo(f"Careful: {warning}", err=True)

    def told(devices: Sequence[Device]) -> None:
        write(f"Lending {', '.join(map(str, devices))} at {place}, until Ctrl-C.\n")

    rpc.lend(place, to_network=to_network, told=told)
