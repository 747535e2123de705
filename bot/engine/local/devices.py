"""The devices that llama.cpp can really use, asked of its backends.

`llama_supports_gpu_offload` would not do: it is true wherever the build has RPC.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from dataclasses import dataclass
from pathlib import Path

import llama_cpp
import pynvml  # type: ignore[import-untyped] # has no stubs

from bot.engine.local.ggml import function

_CPU_KIND = 0  # GGML_BACKEND_DEVICE_TYPE_CPU
_GPU_KINDS = (1, 2)  # GGML_BACKEND_DEVICE_TYPE_GPU and _IGPU


@dataclass(frozen=True, slots=True)
class Device:
    """One device of llama.cpp's; memory in bytes."""

    name: str  # CPU, CUDA0, RPC0 …
    description: str
    gpu: bool
    free: int
    total: int

    def __str__(self) -> str:
        return f"{self.name} ({self.description})" if self.gpu and self.description else self.name


def list_devices() -> list[Device]:
    """Return every device of the installed build on this machine."""
    return [_device(handle) for handle in _handles()]


def device_handles(*, gpus: bool) -> list[int]:
    """Return llama.cpp's own handles of the GPUs, or of the CPU."""
    return [
        handle for handle in _handles() if _kind(handle) in (_GPU_KINDS if gpus else (_CPU_KIND,))
    ]


def find_unused_gpus(found: list[Device]) -> list[str]:
    """Return the names of this machine's NVIDIA cards where llama.cpp uses none of them."""
    return [] if any(device.gpu for device in found) else _nvidia_cards()


def count_physical_cores() -> int:
    """Return the number of physical cores this process may run on: llama.cpp gains nothing from more threads."""
    if not hasattr(os, "sched_getaffinity"):
        return max(1, (os.cpu_count() or 2) // 2)
    mine = os.sched_getaffinity(0)
    return len({_siblings(cpu) for cpu in mine})


def read_free_memory() -> int | None:
    """Return the bytes of main memory that are free for use, or None where this system doesn't say."""
    with contextlib.suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(
            int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")
        )
    return None


def _handles() -> list[int]:
    llama_cpp.llama_backend_init()
    count = function("ggml_backend_dev_count", ctypes.c_size_t)
    get = function("ggml_backend_dev_get", ctypes.c_void_p, ctypes.c_size_t)
    return [get(index) for index in range(count())]


def _kind(handle: int) -> int:
    return int(function("ggml_backend_dev_type", ctypes.c_int, ctypes.c_void_p)(handle))


def _device(handle: int) -> Device:
    text = ctypes.c_char_p
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    pointer = ctypes.POINTER(ctypes.c_size_t)
    memory = function("ggml_backend_dev_memory", None, ctypes.c_void_p, pointer, pointer)
    memory(handle, ctypes.byref(free), ctypes.byref(total))
    name = function("ggml_backend_dev_name", text, ctypes.c_void_p)(handle) or b"?"
    description = function("ggml_backend_dev_description", text, ctypes.c_void_p)(handle) or b""
    return Device(
        name.decode(),
        description.decode().strip(),
        _kind(handle) in _GPU_KINDS,
        free.value,
        total.value,
    )


def _nvidia_cards() -> list[str]:
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


def _siblings(cpu: int) -> str:
    topology = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
    try:
        return topology.read_text(encoding="ascii").strip()
    except OSError:
        return str(cpu)
