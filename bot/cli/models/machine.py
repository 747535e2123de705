"""Measure the memory of this machine and find its folder for weights."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from bot.errors import UserInputError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bot.settings import Settings
    from bot.weights.fit import Memory
    from bot.weights.memory_plan import PlanRequest

VRam: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--vram",
        metavar="SIZE",
        help="Assume a GPU with this much free memory, for example 24GiB (0: no GPU).",
    ),
]
_UNITS = {"": 2**30, "g": 2**30, "gib": 2**30, "gb": 10**9, "m": 2**20, "mib": 2**20, "mb": 10**6}


def get_weights_folder(settings: Settings) -> Path:
    """Return the folder for weights."""
    from bot.settings import LocalEngineSettings
    from bot.weights.installed import weights_folder

    engine = settings.engine
    chosen = engine.weights if isinstance(engine, LocalEngineSettings) else None
    return chosen or weights_folder()


def measure_memory(vram: Sequence[str] | None = None) -> Memory:
    """Return the free memory of this machine. `vram` replaces its GPUs if it is given."""
    from bot.engine.local.devices import list_devices, read_free_memory
    from bot.weights.fit import Memory

    assumed = tuple(size for size in map(parse_size, vram or ()) if size)
    gpus = assumed if vram else tuple(device.free for device in list_devices() if device.gpu)
    return Memory(gpus, read_free_memory())


def build_plan_request(
    settings: Settings, context: int | None = None, minds: int | None = None
) -> PlanRequest:
    """Return the settings' limits on the engine's memory, overridden by `context` and `minds`."""
    from bot.settings import LocalEngineSettings
    from bot.weights.memory_plan import PlanRequest

    engine = settings.engine
    if not isinstance(engine, LocalEngineSettings):
        return PlanRequest(context, minds)
    layers = (
        {"auto": None, "all": -1}.get(engine.gpu_layers)
        if isinstance(engine.gpu_layers, str)
        else engine.gpu_layers
    )
    flash = engine.flash_attention != "off"
    return PlanRequest(
        context or engine.context, minds or engine.minds, engine.cache_type, layers, flash
    )


def parse_size(text: str) -> int:
    """Return the bytes of `24GiB`, `24gb`, `24576 MiB` or `24` (GiB). Raises UserInputError."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", text)
    if not found or found[2].lower() not in _UNITS:
        raise UserInputError(f"{text!r} is not a size. Write it like 24GiB or 8000MB.")
    return int(float(found[1]) * _UNITS[found[2].lower()])


def format_size(size: int) -> str:
    """Return a size in GiB, or in MiB if it is under half a GiB."""
    return f"{size / 2**30:.1f} GiB" if size >= 2**30 // 2 else f"{size / 2**20:.0f} MiB"
