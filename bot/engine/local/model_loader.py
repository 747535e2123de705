"""Loads a model in the worker, as asked or as it fits, and tells what became of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from bot.engine.local.devices import (
    Device,
    count_physical_cores,
    find_unused_gpus,
    list_devices,
    read_free_memory,
)
from bot.engine.local.llama import Context, ContextPlan, LoadError, Model
from bot.engine.local.rpc import borrow
from bot.engine.local.worker_messages import Ready
from bot.errors import EngineStartError, ModelFileError
from bot.weights import gguf_reader
from bot.weights.memory_plan import BATCH, Plan, PlanRequest, plans, smallest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.engine.local.llama_log import LlamaLog
    from bot.engine.local.worker_messages import Load

_CHATML = "<|im_start|>"
_BUILD_HINT = 'build llama-cpp-python for it (CMAKE_ARGS="-DGGML_CUDA=on"), or set gpu_layers to 0'
_STRANGE = re.compile(r"unknown model architecture: '([^']+)'")
_NO_MEMORY = re.compile(
    r"out of memory|failed to allocate|unable to allocate|cudaMalloc failed", re.IGNORECASE
)


class ModelLoader:
    """Loads what one order names."""

    def __init__(self, order: Load, chatter: LlamaLog) -> None:
        self._order = order
        self._chatter = chatter
        self._path = Path(order.path)

    def load(self) -> tuple[Model, Context, Ready]:
        """Load by the best plan that works. Raises ModelFileError, EngineStartError, UserInputError or LoadError."""
        borrow(self._order.rpc)
        headers = gguf_reader.check(self._path)
        found = list_devices()
        gpus = [device for device in found if device.gpu]
        fitting = self._plans(headers, gpus)
        for attempt, plan in enumerate(fitting):
            try:
                model, context = self._try(plan, gpus)
            except LoadError as error:
                if not _NO_MEMORY.search(self._chatter.text):
                    raise
                if attempt == len(fitting) - 1:
                    raise EngineStartError(
                        f"Memory ran out even for the smallest plan ({plan}): choose a smaller model, fewer minds or a "
                        "smaller context, or end what else takes memory."
                    ) from error
                self._chatter.forget()
                continue
            first = attempt + self._order.smaller == 0
            return (
                model,
                context,
                self._describe(headers[0], found, plan, model, context, as_planned=first),
            )
        raise AssertionError("there is a plan at least")

    def _plans(
        self, headers: Sequence[gguf_reader.GgufFile], gpus: Sequence[Device]
    ) -> Sequence[Plan]:
        """The plans to try. Without a check of memory only the first counts, as if everything fitted."""
        order = self._order
        wishes = PlanRequest(
            context=order.context,
            minds=order.minds,
            cache_type=order.cache_type,
            gpu_layers=_layers_asked(order),
            flash_attention=order.flash_attention != "off",
        )
        boundless = [2**60 for _ in gpus]
        if not order.check_memory:
            return plans(headers, boundless, None, wishes)[:1]
        fitting = plans(headers, [device.free for device in gpus], read_free_memory(), wishes)
        if not fitting:
            raise ModelFileError(_does_not_fit(smallest(headers, wishes), gpus))
        return fitting[min(order.smaller, len(fitting) - 1) :]

    def _try(self, plan: Plan, gpus: Sequence[Device]) -> tuple[Model, Context]:
        try:
            model = Model(self._path, plan.gpu_layers if gpus else 0)
        except LoadError as error:
            if strange := _STRANGE.search(self._chatter.text):
                raise ModelFileError(
                    f"{self._path.name} is a model of the architecture {strange[1]}, which the installed llama.cpp "
                    "doesn't know: choose another model, or a newer Aside."
                ) from error
            raise
        if not model.writes_text:
            raise ModelFileError(f"The model in {self._path} can't write text: choose another one.")
        measures = ContextPlan(
            tokens=plan.context,
            sequences=plan.minds,
            threads=self._order.threads or count_physical_cores(),
            batch=max(BATCH, 2 * plan.minds),
            cache_type=plan.cache_type,
            flash_attention=self._order.flash_attention,
        )
        try:
            return model, Context(model, measures)
        except LoadError:
            model.free()
            raise

    def _describe(
        self,
        header: gguf_reader.GgufFile,
        found: list[Device],
        plan: Plan,
        model: Model,
        context: Context,
        *,
        as_planned: bool,
    ) -> Ready:
        offloaded = self._offloaded() if plan.gpu_layers else 0
        gpus = [str(device) for device in found if device.gpu]
        return Ready(
            model=self._order.name or header.name,
            context=context.tokens_each,
            minds=plan.minds,
            memory=str(plan),
            device=" + ".join(gpus) if offloaded else "CPU",
            layers=model.layers,
            layers_offloaded=offloaded,
            warning=self._warning(found, plan, offloaded, model, as_planned=as_planned),
        )

    def _offloaded(self) -> int:
        """Layers that llama.cpp has put elsewhere than on the CPU; its own sum counts what was asked for."""
        said = dict(re.findall(r"layer +(\d+) assigned to device (\w+)", self._chatter.text))
        return sum(device != "CPU" for device in said.values())

    def _warning(
        self, found: list[Device], plan: Plan, offloaded: int, model: Model, *, as_planned: bool
    ) -> str | None:
        asked, cards = self._order.gpu_layers, find_unused_gpus(found)
        said = []
        if asked not in ("auto", 0) and not offloaded:
            card = f" (there is the {cards[0]})" if cards else ""
            said.append(
                f"A GPU was asked for{card}, but the installed llama.cpp can use none: {_BUILD_HINT}."
            )
        elif asked == "auto" and cards:
            said.append(f"The {cards[0]} is not used: {_BUILD_HINT}.")
        elif offloaded and offloaded < model.layers and asked in ("auto", "all"):
            said.append(
                f"Only {offloaded} of {model.layers} layers fit on the GPU, so replies are slow."
            )
        if not as_planned:
            said.append(f"Memory ran out, so a smaller plan was taken: {plan}.")
        if not model.knows_control(_CHATML):
            name = self._order.name or self._path.name
            said.append(f"{name} doesn't know ChatML's control tokens: expect poor replies.")
        return " ".join(said) or None


def _layers_asked(order: Load) -> int | None:
    match order.gpu_layers:
        case int():
            return order.gpu_layers
        case "all":
            return -1
        case _:
            return None


def _does_not_fit(least: Plan, gpus: Sequence[Device]) -> str:
    free = read_free_memory() or 0
    on_gpus = sum(device.free for device in gpus)
    there = f"{free / 2**30:.1f} GiB of memory are free" + (
        f", {on_gpus / 2**30:.1f} on the GPU" if gpus else ""
    )
    return (
        f"The model needs {least.main_bytes / 2**30:.1f} GiB at least, but {there}: "
        "choose a smaller model, fewer minds, a smaller context or fewer gpu_layers."
    )
