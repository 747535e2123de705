"""Use of other machines' devices over llama.cpp's RPC backend.

The protocol has neither passwords nor encryption. Use it on one machine, or on a network whose
users may all use the devices.
"""

from __future__ import annotations

import ctypes
import ipaddress
import signal
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bot.engine.local import ggml
from bot.engine.local.devices import count_physical_cores, list_device_handles, list_devices
from bot.errors import EngineStartError, UserInputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bot.engine.local.devices import Device

DEFAULT_PORT = 50052
_CONNECT_TIMEOUT = 5.0  # seconds
_NO_RPC = 'The installed llama.cpp was built without RPC. Build it with CMAKE_ARGS="-DGGML_RPC=on".'


@dataclass(frozen=True, slots=True)
class RpcAddress:
    """The address at which a machine lends its devices."""

    host: str
    port: int = DEFAULT_PORT

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"

    @classmethod
    def parse(cls, text: str) -> RpcAddress:
        """Parse `host:port` or `host`. Raises UserInputError."""
        host, colon, port = text.strip().rpartition(":")
        if not colon:
            host = port
            port = str(DEFAULT_PORT)
        if not host or not port.isdecimal() or not 0 < int(port) < 65536:
            raise UserInputError(
                f"{text!r} is not an address. Write host:port, such as 127.0.0.1:{DEFAULT_PORT}."
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


def add_rpc_servers(addresses: tuple[str, ...]) -> None:
    """Add the devices of other machines to those of this process.

    The connection is tested first, since llama.cpp aborts if a server does not answer.
    Raises EngineStartError or UserInputError.
    """
    for address in map(RpcAddress.parse, addresses):
        add = get_rpc_function("ggml_backend_rpc_add_server", ctypes.c_void_p, ctypes.c_char_p)
        try:
            socket.create_connection((address.host, address.port), timeout=_CONNECT_TIMEOUT).close()
        except OSError as error:
            raise EngineStartError(
                f"No machine lends its devices at {address} ({error.strerror or error}). "
                "Start `aside lend` there, or remove the address from engine.rpc."
            ) from error
        server = add(str(address).encode())
        if not server:
            raise EngineStartError(
                f"The program at {address} lends no devices. Start `aside lend` there."
            )
        get_rpc_function("ggml_backend_register", None, ctypes.c_void_p)(server)


def check_lending(address: RpcAddress, *, to_network: bool) -> str | None:
    """Return a warning if lending at `address` needs one.

    Raises UserInputError if other machines can reach the address and `to_network` is not set.
    """
    if address.is_loopback:
        return None
    if not to_network:
        raise UserInputError(
            f"Lending at {address.host} gives everyone who can reach it access to this machine's "
            "devices, without a password. Add --to-network to allow that, or lend at 127.0.0.1."
        )
    return (
        f"Everyone who can reach {address} can use this machine's devices and crash this program."
    )


def lend(
    address: RpcAddress,
    *,
    to_network: bool = False,
    threads: int | None = None,
    on_start: Callable[[Sequence[Device]], None] = lambda _: None,
) -> None:
    """Serve this machine's GPUs, else its CPU, until the process is ended.

    `on_start` is called with the devices. Afterwards llama.cpp blocks, and Ctrl-C ends the process.
    Raises UserInputError, or EngineStartError if the build has no RPC or the port is in use.
    """
    check_lending(address, to_network=to_network)
    start = get_rpc_function(
        "ggml_backend_rpc_start_server",
        None,
        ctypes.c_char_p,
        ctypes.c_char_p,
        ctypes.c_size_t,
        ctypes.c_size_t,
        ctypes.POINTER(ctypes.c_void_p),
    )
    handles = list_device_handles(gpus=True) or list_device_handles(gpus=False)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    on_start([device for device in list_devices() if device.gpu] or list_devices())
    start(
        str(address).encode(),
        None,
        threads or count_physical_cores(),
        len(handles),
        (ctypes.c_void_p * len(handles))(*handles),
    )
    raise EngineStartError(f"llama.cpp cannot serve at {address}. Check that the port is free.")


def get_rpc_function(name: str, result: Any, *arguments: Any) -> Any:
    """Return a function of the RPC backend. Raises EngineStartError if the build lacks it."""
    try:
        return ggml.get_function(name, result, *arguments)
    except AttributeError as error:
        raise EngineStartError(_NO_RPC) from error
