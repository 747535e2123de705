"""Loads a model in the worker, as asked or as it fits, and tells what became of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from bot.engine.local.devices import Device, cores, devices, free_memory, unused_cards
from bot.engine.local.frames import Ready
from bot.engine.local.llama import Context, ContextPlan, Model
from bot.errors import ModelFileError
from bot.weights import gguf_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.engine.local.chatter import Chatter
    from bot.engine.local.frames import Load

_USUAL_CONTEXT = 8192
_BATCH = 512
_CHATML = "<|im_start|>"
_BUILD_HINT = 'build llama-cpp-python for it (CMAKE_ARGS="-DGGML_CUDA=on"), or set gpu_layers to 0'
_BYTES = {"f16": 2.0, "q8_0": 34 / 32, "q4_0": 18 / 32}  # of one number in the cache


def load(order: Load, chatter: Chatter, progress: Callable[[float], None]) -> tuple[Model, Context, Ready]:
    """Load what `order` names. Raises ModelFileError, EngineStartError or llama.LoadError."""
    headers = gguf_file.check(Path(order.path))
    header = headers[0]
    found = devices()
    gpus = [device for device in found if device.gpu]
    context = order.context or min(header.context or _USUAL_CONTEXT, _USUAL_CONTEXT)
    if order.check_memory and not gpus:
        _check_memory(order, headers, context)
    model = Model(Path(order.path), _layers_asked(order, gpus), progress)
    if not model.writes_text:
        raise ModelFileError(f"The model in {order.path} can't write text: choose another one.")
    plan = ContextPlan(
        tokens=context,
        sequences=order.minds,
        threads=order.threads or cores(),
        batch=max(_BATCH, 2 * order.minds),
        cache_type=order.cache_type,
        flash_attention=order.flash_attention,
        unified=False,
    )
    made = Context(model, plan)
    offloaded = _offloaded(chatter) if gpus else 0
    ready = Ready(
        model=order.name or header.name,
        context=made.tokens_each,
        device=" + ".join(str(device) for device in gpus) if offloaded else "CPU",
        layers=model.layers,
        layers_offloaded=offloaded,
        warning=_warning(order, found, offloaded, model),
    )
    return model, made, ready


def kv_bytes(header: gguf_file.GgufFile, tokens: int, cache_type: str) -> int:
    """Return the bytes that keys and values of `tokens` tokens take."""
    return int(header.layers * header.kv_heads * sum(header.head_size) * tokens * _BYTES[cache_type])


def _check_memory(order: Load, headers: tuple[gguf_file.GgufFile, ...], context: int) -> None:
    weights = sum(header.bytes_needed for header in headers)
    cache = kv_bytes(headers[0], context * order.minds, order.cache_type)
    free = free_memory()
    if free is not None and weights + cache > free:
        raise ModelFileError(
            f"The model needs about {(weights + cache) / 2**30:.1f} GiB ({weights / 2**30:.1f} of weights and "
            f"{cache / 2**30:.1f} for {order.minds} minds), but {free / 2**30:.1f} GiB of memory are free: "
            "choose a smaller model, fewer minds or a smaller context."
        )


def _layers_asked(order: Load, gpus: list[Device]) -> int:
    if isinstance(order.gpu_layers, int):
        return order.gpu_layers
    return -1 if gpus else 0


def _offloaded(chatter: Chatter) -> int:
    """What llama.cpp itself says it has offloaded."""
    found = re.findall(r"offloaded (\d+)/\d+ layers to GPU", chatter.text)
    return int(found[-1]) if found else 0


def _warning(order: Load, found: list[Device], offloaded: int, model: Model) -> str | None:
    said = []
    cards = unused_cards(found)
    if order.gpu_layers not in ("auto", 0) and not offloaded:
        card = f" (there is an {cards[0]})" if cards else ""
        said.append(f"A GPU was asked for{card}, but the installed llama.cpp can use none: {_BUILD_HINT}.")
    elif cards and order.gpu_layers == "auto":
        said.append(f"The {cards[0]} is not used: {_BUILD_HINT}.")
    if not model.knows_control(_CHATML):
        said.append(f"{order.name or Path(order.path).name} doesn't know ChatML's control tokens: expect poor replies.")
    return " ".join(said) or None
