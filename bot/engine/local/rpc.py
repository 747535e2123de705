"""Devices of other machines, through llama.cpp's RPC backend.

Its protocol knows no passwords and no encryption: for this machine or a network that everyone on it may use.
"""

from __future__ import annotations

import ctypes
import ipaddress
import signal
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bot.engine.local import ggml
from bot.engine.local.devices import count_physical_cores, device_handles, list_devices
from bot.errors import EngineStartError, UserInputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bot.engine.local.devices import Device

USUAL_PORT = 50052
_PATIENCE = 5.0  # seconds
_NO_RPC = 'The installed llama.cpp was built without RPC: build it with CMAKE_ARGS="-DGGML_RPC=on".'


@dataclass(frozen=True, slots=True)
class RpcAddress:
    """Where a machine lends its devices."""

    host: str
    port: int = USUAL_PORT

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"

    @classmethod
    def parse(cls, text: str) -> RpcAddress:
        """Read `host:port` or `host`. Raises UserInputError."""
        host, colon, port = text.strip().rpartition(":")
        if not colon:
            host, port = port, str(USUAL_PORT)
        if not host or not port.isdecimal() or not 0 < int(port) < 65536:
            raise UserInputError(
                f"{text!r} is no address: write host:port, such as 127.0.0.1:{USUAL_PORT}."
            )
        return cls(host, int(port))

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def borrow(addresses: tuple[str, ...]) -> None:
    """Add other machines' devices to this process's own. Raises EngineStartError or UserInputError.

    A machine that does not answer is found out before llama.cpp is told of it, which would abort.
    """
    for address in map(RpcAddress.parse, addresses):
        add = rpc_function("ggml_backend_rpc_add_server", ctypes.c_void_p, ctypes.c_char_p)
        try:
            socket.create_connection((address.host, address.port), timeout=_PATIENCE).close()
        except OSError as error:
            raise EngineStartError(
                f"No machine lends its devices at {address} ({error.strerror or error}): "
                "start `aside lend` there, or take it out of engine.rpc."
            ) from error
        added = add(str(address).encode())
        if not added:
            raise EngineStartError(
                f"What answers at {address} lends no devices: start `aside lend` there."
            )
        rpc_function("ggml_backend_register", None, ctypes.c_void_p)(added)


def check_lending(address: RpcAddress, *, to_network: bool) -> str | None:
    """Return the warning that lending at `address` needs, if any. Raises UserInputError where it was not asked for."""
    if address.is_loopback:
        return None
    if not to_network:
        raise UserInputError(
            f"Lending at {address.host} opens this machine's devices, without any password, to everyone who can reach "
            "it: say so with --to-network, or lend at 127.0.0.1."
        )
    return (
        f"Everyone who can reach {address} can use this machine's devices and crash this program."
    )


def lend(
    address: RpcAddress,
    *,
    to_network: bool = False,
    threads: int | None = None,
    told: Callable[[Sequence[Device]], None] = lambda _: None,
) -> None:
    """Serve this machine's devices, its GPUs or else its CPU, until the process is ended; `told` hears which.

    Blocks in llama.cpp, which Ctrl-C ends with the process. Raises UserInputError, or EngineStartError where the
    build has no RPC or the address can't be served.
    """
    check_lending(address, to_network=to_network)
    start = rpc_function(
        "ggml_backend_rpc_start_server",
        None,
        *(
            ctypes.c_char_p,
            ctypes.c_char_p,
            ctypes.c_size_t,
            ctypes.c_size_t,
            ctypes.POINTER(ctypes.c_void_p),
        ),
    )
    handles = device_handles(gpus=True) or device_handles(gpus=False)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    told([device for device in list_devices() if device.gpu] or list_devices())
    start(
        str(address).encode(),
        None,
        threads or count_physical_cores(),
        len(handles),
        (ctypes.c_void_p * len(handles))(*handles),
    )
    raise EngineStartError(f"Nothing can be lent at {address}: is the port taken?")


def rpc_function(name: str, result: Any, *arguments: Any) -> Any:
    """Return a function of the RPC backend's. Raises EngineStartError where the build has none of that name."""
    try:
        return ggml.function(name, result, *arguments)
    except AttributeError as error:
        raise EngineStartError(_NO_RPC) from error
