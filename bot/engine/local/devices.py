"""The devices that the installed llama.cpp can use, as its backends report them.

`llama_supports_gpu_offload` does not answer that. It is true for every build with RPC.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from dataclasses import dataclass
from pathlib import Path

import llama_cpp
import pynvml  # type: ignore[import-untyped] # has no stubs

from bot.engine.local.ggml import get_function

_CPU_TYPE = 0  # GGML_BACKEND_DEVICE_TYPE_CPU
_GPU_TYPES = (1, 2)  # GGML_BACKEND_DEVICE_TYPE_GPU and _IGPU


@dataclass(frozen=True, slots=True)
class Device:
    """One device of llama.cpp. `free` and `total` memory are in bytes."""

    name: str  # CPU, CUDA0, RPC0 …
    description: str
    gpu: bool
    free: int
    total: int

    def __str__(self) -> str:
        return f"{self.name} ({self.description})" if self.gpu and self.description else self.name


def list_devices() -> list[Device]:
    """Return every device that the installed build can use on this machine."""
    return [_describe_device(handle) for handle in _list_handles()]


def list_device_handles(*, gpus: bool) -> list[int]:
    """Return llama.cpp's handles of all GPUs, or of the CPU."""
    wanted = _GPU_TYPES if gpus else (_CPU_TYPE,)
    return [handle for handle in _list_handles() if _get_type(handle) in wanted]


def find_unused_gpus(found: list[Device]) -> list[str]:
    """Return the names of the NVIDIA GPUs of this machine if llama.cpp cannot use any GPU."""
    return [] if any(device.gpu for device in found) else _list_nvidia_gpus()


def count_physical_cores() -> int:
    """Return the number of physical cores that this process may use.

    llama.cpp does not get faster with more threads than that.
    """
    if not hasattr(os, "sched_getaffinity"):
        return max(1, (os.cpu_count() or 2) // 2)
    return len({_read_siblings(cpu) for cpu in os.sched_getaffinity(0)})


def read_free_memory() -> int | None:
    """Return the available main memory in bytes, or None if this system does not report it."""
    with contextlib.suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(
            int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")
        )
    return None


def _list_handles() -> list[int]:
    llama_cpp.llama_backend_init()
    count = get_function("ggml_backend_dev_count", ctypes.c_size_t)
    get = get_function("ggml_backend_dev_get", ctypes.c_void_p, ctypes.c_size_t)
    return [get(index) for index in range(count())]


def _get_type(handle: int) -> int:
    return int(get_function("ggml_backend_dev_type", ctypes.c_int, ctypes.c_void_p)(handle))


def _describe_device(handle: int) -> Device:
    text = ctypes.c_char_p
    free = ctypes.c_size_t()
    total = ctypes.c_size_t()
    pointer = ctypes.POINTER(ctypes.c_size_t)
    memory = get_function("ggml_backend_dev_memory", None, ctypes.c_void_p, pointer, pointer)
    memory(handle, ctypes.byref(free), ctypes.byref(total))
    name = get_function("ggml_backend_dev_name", text, ctypes.c_void_p)(handle) or b"?"
    describe = get_function("ggml_backend_dev_description", text, ctypes.c_void_p)
    description = describe(handle) or b""
    return Device(
        name.decode(),
        description.decode().strip(),
        _get_type(handle) in _GPU_TYPES,
        free.value,
        total.value,
    )


def _list_nvidia_gpus() -> list[str]:
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return []
    try:
        handles = [
            pynvml.nvmlDeviceGetHandleByIndex(index) for index in range(pynvml.nvmlDeviceGetCount())
        ]
        return [str(pynvml.nvmlDeviceGetName(handle)) for handle in handles]
    except pynvml.NVMLError:
        return []
    finally:
        pynvml.nvmlShutdown()


def _read_siblings(cpu: int) -> str:
    topology = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
    try:
        return topology.read_text(encoding="ascii").strip()
    except OSError:
        return str(cpu)
