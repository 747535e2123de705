"""Loads a model in the worker.

The settings fix the memory plan as far as they go. The rest is chosen to fit the machine.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from bot.engine.chat_template import FALLBACK_TEMPLATES
from bot.engine.local.devices import (
    Device,
    count_physical_cores,
    find_unused_gpus,
    list_devices,
    read_free_memory,
)
from bot.engine.local.llama import (
    Context,
    ContextError,
    ContextPlan,
    DecodeError,
    LoadError,
    Model,
)
from bot.engine.local.load_attempts import LoadAttempts
from bot.engine.local.model_traits import CHATML_CONTROL, ModelTraits
from bot.engine.local.rpc import add_rpc_servers
from bot.engine.local.worker_messages import Ready
from bot.errors import EngineStartError, ModelFileError
from bot.weights import gguf_reader
from bot.weights.memory_plan import BATCH, make_smallest_plan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.engine.local.llama_log import LlamaLog
    from bot.engine.local.load_attempts import LoadAttempt
    from bot.engine.local.worker_messages import Load
    from bot.weights.memory_plan import Plan

_BUILD_HINT = 'Build llama-cpp-python with CMAKE_ARGS="-DGGML_CUDA=on", or set gpu_layers to 0.'
_UNKNOWN_ARCHITECTURE = re.compile(r"unknown model architecture: '([^']+)'")
_LOADING_ERROR = re.compile(r"error loading model: (.+)")
_OUT_OF_MEMORY = re.compile(
    r"out of memory|failed to allocate|unable to allocate|cudaMalloc failed", re.IGNORECASE
)


class ModelLoader:
    """Loads the model of one Load command."""

    def __init__(self, command: Load, llama_log: LlamaLog) -> None:
        self._command = command
        self._llama_log = llama_log
        self._path = Path(command.path)

    def load(self) -> tuple[Model, Context, Ready]:
        """Load the model with the best memory plan that works.

        Raises ModelFileError, EngineStartError, UserInputError or LoadError.
        """
        add_rpc_servers(self._command.rpc)
        headers = gguf_reader.check_model(self._path)
        found = list_devices()
        gpus = [device for device in found if device.gpu]
        attempts = LoadAttempts(
            self._command, headers, [device.free for device in gpus], read_free_memory()
        )
        attempt = attempts.choose_first()
        if not attempt:
            raise ModelFileError(
                _describe_shortage(make_smallest_plan(headers, attempts.request), gpus)
            )
        while True:
            try:
                model, context = self._load_attempt(attempt, gpus)
            except LoadError as error:
                attempt = self._choose_next(attempts, attempt, error)
                self._llama_log.clear()
            else:
                return model, context, self._describe(headers[0], found, attempt, model, context)

    def _choose_next(
        self, attempts: LoadAttempts, failed: LoadAttempt, error: LoadError
    ) -> LoadAttempt:
        """Return the next attempt. Raise an error if none is left."""
        out_of_memory = bool(_OUT_OF_MEMORY.search(self._llama_log.text))
        following = attempts.choose_next(
            failed,
            out_of_memory=out_of_memory,
            model_loaded=isinstance(error, ContextError),
        )
        if following:
            return following
        if out_of_memory:
            raise EngineStartError(
                f"Memory ran out even for the smallest plan ({failed.plan}). Choose a smaller "
                "model, fewer minds or a smaller context, or close other programs."
            ) from error
        if isinstance(error, ContextError):
            raise error
        raise ModelFileError(
            f"llama.cpp can't load the model file {self._path} ({self._find_reason()}). Download it"
            " again, or choose another model."
        ) from error

    def _find_reason(self) -> str:
        """Return the reason that llama.cpp gave for not loading a file."""
        reasons = _LOADING_ERROR.findall(self._llama_log.text)
        return str(reasons[-1]) if reasons else "it gave no reason"

    def _load_attempt(self, attempt: LoadAttempt, gpus: Sequence[Device]) -> tuple[Model, Context]:
        plan = attempt.plan
        try:
            model = Model(self._path, plan.gpu_layers if gpus and attempt.uses_gpu else 0)
        except LoadError as error:
            if unknown := _UNKNOWN_ARCHITECTURE.search(self._llama_log.text):
                raise ModelFileError(
                    f"{self._path.name} is a model of the architecture {unknown[1]}, which the "
                    "installed llama.cpp does not support. Choose another model, or update Aside."
                ) from error
            raise
        if not model.is_generative:
            raise ModelFileError(
                f"The model in {self._path} cannot generate text. Choose another one."
            )
        context_plan = ContextPlan(
            tokens=plan.context,
            sequences=plan.minds,
            threads=self._command.threads or count_physical_cores(),
            batch=max(BATCH, 2 * plan.minds),
            cache_type=plan.cache_type,
            flash_attention=attempt.flash_attention,
        )
        try:
            context = Context(model, context_plan)
        except LoadError:
            model.free()
            raise
        try:
            context.warm_up()
        except DecodeError as error:
            context.free()
            model.free()
            raise ContextError(f"llama.cpp could not decode: {error}") from error
        return model, context

    def _describe(
        self,
        header: gguf_reader.GgufFile,
        found: list[Device],
        attempt: LoadAttempt,
        model: Model,
        context: Context,
    ) -> Ready:
        plan = attempt.plan
        offloaded = self._count_offloaded_layers() if plan.gpu_layers else 0
        gpus = [str(device) for device in found if device.gpu]
        return Ready(
            model=self._command.name or header.name,
            context=context.tokens_each,
            minds=plan.minds,
            memory=str(plan),
            device=" + ".join(gpus) if offloaded else "CPU",
            layers=model.layers,
            layers_offloaded=offloaded,
            warning=self._build_warning(found, attempt, offloaded, model),
            traits=_get_traits(model),
        )

    def _count_offloaded_layers(self) -> int:
        """Return how many layers llama.cpp placed on another device than the CPU.

        It is read from the log, since llama.cpp's own total counts the layers that were requested.
        """
        devices = dict(re.findall(r"layer +(\d+) assigned to device (\w+)", self._llama_log.text))
        return sum(device != "CPU" for device in devices.values())

    def _build_warning(
        self, found: list[Device], attempt: LoadAttempt, offloaded: int, model: Model
    ) -> str | None:
        requested = self._command.gpu_layers
        unused = find_unused_gpus(found)
        warnings = []
        if requested not in ("auto", 0) and not offloaded:
            gpu = f" (this machine has the {unused[0]})" if unused else ""
            warnings.append(
                f"gpu_layers asks for a GPU{gpu}, but the installed llama.cpp cannot use one. "
                f"{_BUILD_HINT}"
            )
        elif requested == "auto" and unused:
            warnings.append(f"The {unused[0]} is not used. {_BUILD_HINT}")
        elif offloaded and offloaded < model.layers and requested in ("auto", "all"):
            warnings.append(
                f"Only {offloaded} of {model.layers} layers fit on the GPU, so replies are slow."
            )
        if changes := attempt.describe_changes():
            warnings.append(changes)
        context = attempt.plan.context
        trained = model.trained_context
        if context > trained > 0:
            warnings.append(
                f"The context has {context:,} tokens, but the model was trained with {trained:,}. "
                "Beyond that its replies get worse."
            )
        return " ".join(warnings) or None


def _get_traits(model: Model) -> ModelTraits:
    return ModelTraits(
        parameters=model.parameters,
        has_chatml=model.has_control_token(CHATML_CONTROL),
        chat_template=model.chat_template,
        family_control=next(filter(model.has_control_token, FALLBACK_TEMPLATES), ""),
        bos=model.bos,
        eos=model.eos,
    )


def _describe_shortage(minimum: Plan, gpus: Sequence[Device]) -> str:
    free = f"{(read_free_memory() or 0) / 2**30:.1f} GiB of memory are free"
    if gpus:
        free += f", {sum(device.free for device in gpus) / 2**30:.1f} on the GPU"
    return (
        f"The model needs at least {minimum.main_bytes / 2**30:.1f} GiB, but {free}. "
        "Choose a smaller model, fewer minds, a smaller context or fewer gpu_layers."
    )
