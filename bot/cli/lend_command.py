"""`aside lend`: serve this machine's devices to an engine on another machine."""

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
        str, typer.Option(metavar="HOST:PORT", help="Address to serve at.")
    ] = "127.0.0.1:50052",
    to_network: Annotated[
        bool,
        typer.Option(
            "--to-network", help="Allow an address that other machines can reach. Not encrypted."
        ),
    ] = False,
) -> None:
    """Lend this machine's devices to an engine on another machine.

    These are the GPUs, or the CPU if the machine has no GPU.

    Add the address to `engine.rpc` of the other machine's settings. Passwords and encryption
    are not supported. Use it on this machine, or on a network that you trust.
    """
    from bot.engine.local.openmp import limit_spinning

    limit_spinning(os.environ)  # llama.cpp reads it when it is loaded
    from bot.engine.local import rpc

    rpc_address = rpc.RpcAddress.parse(address)
    if warning := rpc.check_lending(rpc_address, to_network=to_network):
        typer.echo(f"Warning: {warning}", err=True)

    def report(devices: Sequence[Device]) -> None:
        names = ", ".join(map(str, devices))
        write(f"Lending {names} at {rpc_address}. Press Ctrl-C to stop.\n")

    rpc.lend(rpc_address, to_network=to_network, on_start=report)
