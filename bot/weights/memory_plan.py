"""Plan the memory of a model: layers on the GPU, context, minds and type of the cache.

Based on the model's header and the free memory of the devices, less a margin. `make_plans` returns
the best plan first, then smaller ones as fallbacks.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bot.weights.gguf_reader import GgufFile, Tensor

CacheType: TypeAlias = Literal["f16", "q8_0", "q4_0"]

BATCH: Final = 512  # maximum tokens computed at once
_BYTES: Final[dict[CacheType, float]] = {
    "f16": 2.0,
    "q8_0": 34 / 32,
    "q4_0": 18 / 32,
}  # bytes of one number in the cache
MARGIN: Final = 512 * 2**20  # bytes to leave free on each device
_LARGEST_CONTEXT = (
    16384  # default maximum tokens per mind: ample for a scene, and memory has better uses
)
_USUAL_CONTEXT = 8192
# Plans to try if the settings are free, best first: context, minds, cache.
_LADDER: Final[tuple[tuple[int, int, CacheType], ...]] = (
    (16384, 8, "f16"),
    (16384, 8, "q8_0"),
    (8192, 8, "f16"),
    (8192, 8, "q8_0"),
    (8192, 4, "f16"),
    (8192, 4, "q8_0"),
    (8192, 2, "q8_0"),
    (4096, 2, "q8_0"),
    (4096, 1, "q8_0"),
)
_LADDER_CPU: Final[tuple[tuple[int, int, CacheType], ...]] = (
    (8192, 4, "f16"),
    (8192, 2, "f16"),
    (4096, 2, "f16"),
    (4096, 1, "f16"),
)


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """Settings that fix parts of the plan. None: choose by the memory."""

    context: int | None = None
    minds: int | None = None
    cache_type: CacheType | None = None
    gpu_layers: int | None = None  # negative: all
    flash_attention: bool = True  # the value cache can't be quantised without it


@dataclass(frozen=True, slots=True)
class Plan:
    """One way to place a model in memory. Bytes are estimates, too high rather than too low."""

    context: int  # tokens per mind
    minds: int
    cache_type: CacheType
    gpu_layers: int  # the output layer counts as one
    layers: int
    gpu_bytes: int
    main_bytes: int
    weights_bytes: int  # part of the two above: the weights
    cache_bytes: int  # … keys and values of all minds
    work_bytes: int  # … intermediate results

    def __str__(self) -> str:
        where = (
            f"{self.gpu_layers} of {self.layers} layers on the GPU"
            if self.gpu_layers
            else "on the CPU"
        )
        minds = f"{self.minds} mind{'s' if self.minds > 1 else ''}"
        return f"{where}, {minds} of {self.context:,} tokens, {self.cache_type} cache"


def make_plans(
    headers: Sequence[GgufFile],
    gpus_free: Sequence[int],
    main_free: int | None,
    wishes: PlanRequest,
) -> tuple[Plan, ...]:
    """Return the plans that fit, best first. Return an empty tuple if none fits.

    `headers` are those of all parts of the model. `gpus_free` has the free bytes of each GPU.
    `main_free` has the free bytes of main memory (None: unknown, so anything fits). A plan with all
    layers on the GPU beats any other.
    """
    model = _Model(headers)
    gpu = sum(max(0, free - MARGIN) for free in gpus_free)
    rungs = [
        rung for rung in _rungs(model, wishes, gpu=bool(gpus_free)) if _is_allowed(rung, wishes)
    ]
    if not gpus_free or wishes.gpu_layers == 0:
        return tuple(
            plan for rung in rungs if _fits_main_memory(plan := model.plan(*rung, 0), main_free)
        )
    if wishes.gpu_layers is not None:
        count = model.layers if wishes.gpu_layers < 0 else min(wishes.gpu_layers, model.layers)
        asked = [model.plan(*rung, count) for rung in rungs]
        return tuple(
            plan for plan in asked if plan.gpu_bytes <= gpu and _fits_main_memory(plan, main_free)
        )
    whole = [plan for rung in rungs if (plan := model.plan(*rung, model.layers)).gpu_bytes <= gpu]
    part = [model.most(*rung, gpu) for rung in rungs if _is_modest(rung, wishes)]
    return (
        *whole,
        *(
            plan
            for plan in part
            if plan.gpu_layers < plan.layers and _fits_main_memory(plan, main_free)
        ),
    )


def make_smallest_plan(headers: Sequence[GgufFile], wishes: PlanRequest) -> Plan:
    """Return the plan with the least memory, to report how much is missing."""
    model = _Model(headers)
    return min(
        (model.plan(*rung, 0) for rung in _rungs(model, wishes, gpu=True)),
        key=lambda plan: plan.main_bytes,
    )


class _Model:
    """Sizes of a model's parts."""

    def __init__(self, headers: Sequence[GgufFile]) -> None:
        self._header = headers[0]
        tensors = [tensor for header in headers for tensor in header.tensors]
        self.trained = self._header.context or _USUAL_CONTEXT
        self.layers = self._header.layers + 1
        sizes = _by_layer(tensors)
        self._weights = [sizes[number] for number in range(self._header.layers)]
        self._embeddings = sum(
            tensor.size or 0 for tensor in tensors if tensor.name.startswith("token_embd")
        )
        self._rest = sizes[None] - self._embeddings
        # If the embeddings are the output too, a GPU that computes the output gets a copy.
        own = any(tensor.name == "output.weight" for tensor in tensors)
        self._output = self._rest if own else self._rest + self._embeddings

    def plan(self, context: int, minds: int, cache: CacheType, gpu_layers: int) -> Plan:
        repeating = min(max(0, gpu_layers - 1), self._header.layers)
        cut = self._header.layers - repeating
        of_layer = self._cache(context * minds, cache)
        gpu = sum(self._weights[cut:]) + (self._output if gpu_layers else 0)
        main = self._embeddings + sum(self._weights[:cut]) + (0 if gpu_layers else self._rest)
        work = self._work(context)
        return Plan(
            context=context,
            minds=minds,
            cache_type=cache,
            gpu_layers=gpu_layers,
            layers=self.layers,
            gpu_bytes=gpu + repeating * of_layer + work if gpu_layers else 0,
            main_bytes=main + cut * of_layer + (work if gpu_layers < self.layers else 0),
            weights_bytes=gpu + main,
            cache_bytes=self._header.layers * of_layer,
            work_bytes=work,
        )

    def most(self, context: int, minds: int, cache: CacheType, room: int) -> Plan:
        """Return the plan with as many layers on the GPU as fit in `room` bytes."""
        counts = range(self.layers, -1, -1)
        return next(
            plan
            for count in counts
            if (plan := self.plan(context, minds, cache, count)).gpu_bytes <= room
        )

    def _cache(self, tokens: int, cache: CacheType) -> int:
        """Return the bytes of one layer's cache."""
        return int(self._header.kv_heads * sum(self._header.head_size) * tokens * _BYTES[cache])

    def _work(self, context: int) -> int:
        """Return the bytes of one batch's intermediate results: logits, activations and the
        attention mask.
        """
        activations = 4 * (self._header.vocabulary + 24 * self._header.embedding)
        return BATCH * (activations + 2 * context)


def _rungs(
    model: _Model, wishes: PlanRequest, *, gpu: bool
) -> Iterator[tuple[int, int, CacheType]]:
    """Return the ladder with the fixed settings filled in."""
    seen = set()
    for context, minds, cache in _LADDER if gpu else _LADDER_CPU:
        rung = (
            wishes.context or min(context, model.trained, _LARGEST_CONTEXT),
            wishes.minds or minds,
            wishes.cache_type or cache,
        )
        if rung not in seen:
            seen.add(rung)
            yield rung


def _is_allowed(rung: tuple[int, int, CacheType], wishes: PlanRequest) -> bool:
    return wishes.flash_attention or rung[2] == "f16" or wishes.cache_type is not None


def _is_modest(rung: tuple[int, int, CacheType], wishes: PlanRequest) -> bool:
    """Return whether a plan is modest.

    On a full GPU, more layers are worth more than minds or context.
    """
    return (wishes.context is not None or rung[0] <= _USUAL_CONTEXT) and (
        wishes.minds is not None or rung[1] <= 4
    )


def _fits_main_memory(plan: Plan, free: int | None) -> bool:
    return free is None or plan.main_bytes <= free


def _by_layer(tensors: Sequence[Tensor]) -> Counter[int | None]:
    """Return the bytes of each layer, and under None those of no layer."""
    sizes: Counter[int | None] = Counter()
    for tensor in tensors:
        sizes[tensor.layer] += tensor.size or 0
    return sizes
