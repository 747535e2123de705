"""Plan how each quantisation of a model runs on this machine, and choose the best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bot.errors import WeightsError
from bot.weights.memory_plan import MARGIN, make_plans, make_smallest_plan
from bot.weights.quantisation import (
    COARSE,
    NEEDS_IMPORTANCE,
    QUANTISATIONS,
    estimate_layouts,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bot.weights.catalogue import CatalogueEntry
    from bot.weights.gguf_reader import GgufFile
    from bot.weights.memory_plan import Plan, PlanRequest

# Finer quantisations than this sound no different. Their memory is better spent on minds.
_GOOD_ENOUGH: Final = "Q8_0"
_USUAL_ON_CPU: Final = "Q4_K_M"
_BEARABLE_ON_CPU: Final = 3 * 10**9  # bytes of weights that a few cores read often enough a second
_LAST_RESORTS: Final = frozenset({"Q2_K", "IQ2_XS", "IQ2_XXS"})
_ENOUGH_CONTEXT: Final = 8192  # tokens per mind that must remain with a finer quantisation


@dataclass(frozen=True, slots=True)
class Memory:
    """Free memory in bytes: of each GPU, and main memory (None if unknown)."""

    gpus: tuple[int, ...]
    main: int | None


@dataclass(frozen=True, slots=True)
class Fit:
    """One quantisation and its plan.

    If it doesn't fit, `plan` is None and `lacking` says how many bytes are missing.
    """

    quantisation: str
    size: int  # size of the file in bytes
    plan: Plan | None
    left: int  # bytes that stay free on the GPUs, or in main memory if no GPU is used
    lacking: int = 0
    best: bool = False

    @property
    def whole(self) -> bool:
        """Whether the whole model is on GPUs."""
        return self.plan is not None and self.plan.gpu_layers == self.plan.layers


def plan_quantisations(
    layouts: Mapping[str, Sequence[GgufFile]], memory: Memory, wishes: PlanRequest
) -> tuple[Fit, ...]:
    """Return a plan for each layout, in the given order, with the best one marked."""
    found = [
        _fit(quantisation, headers, memory, wishes) for quantisation, headers in layouts.items()
    ]
    best = _best(found)
    return tuple(_mark_best(one) if one is best else one for one in found)


def estimate_headers(
    entries: Sequence[CatalogueEntry],
) -> dict[str, dict[str, tuple[GgufFile, ...]]]:
    """Return the headers of an entry's files by quantisation, computed from its dimensions.

    Entries without dimensions are skipped. Raise WeightsError.
    """
    layouts: dict[str, dict[str, tuple[GgufFile, ...]]] = {}
    for entry in entries:
        if entry.dimensions is not None:
            told = estimate_layouts(entry.name, entry.dimensions, entry.choices)
            layouts[entry.name] = {quantisation: (header,) for quantisation, header in told.items()}
    return layouts


def _fit(
    quantisation: str, headers: Sequence[GgufFile], memory: Memory, wishes: PlanRequest
) -> Fit:
    size = sum(tensor.size or 0 for header in headers for tensor in header.tensors)
    if not headers or not headers[0].layers:
        raise WeightsError("The file doesn't say how many layers it has, so it can't be measured.")
    possible = make_plans(headers, memory.gpus, memory.main, wishes)
    if not possible:
        least = make_smallest_plan(headers, wishes)
        there = (memory.main or 0) + sum(max(0, gpu - MARGIN) for gpu in memory.gpus)
        return Fit(quantisation, size, None, 0, max(1, least.main_bytes - there))
    plan = possible[0]
    on_gpus = sum(max(0, free - MARGIN) for free in memory.gpus) - plan.gpu_bytes
    left = on_gpus if plan.gpu_layers else (memory.main or 0) - plan.main_bytes
    return Fit(quantisation, size, plan, max(0, left))


def _best(found: Sequence[Fit]) -> Fit | None:
    """Prefer all layers on the GPU with four minds, then with two, then any number, then with two
    bits per weight, then a size that suits a CPU.

    A CPU needs longer for the quantisations with an importance matrix than for others of their
    size.
    """
    running = [one for one in found if one.plan is not None]
    whole = [one for one in running if one.whole and one.quantisation not in _LAST_RESORTS]
    fine = [one for one in whole if one.quantisation not in COARSE]
    for minds in (4, 2, 0):
        if roomy := [one for one in fine if one.plan and _roomy(one.plan, minds)]:
            return _largest(roomy, _GOOD_ENOUGH)
    if coarse := [one for one in whole if one.plan and one.plan.minds > 1] or whole:
        return _largest(coarse, _GOOD_ENOUGH)
    quick = [one for one in running if one.quantisation not in NEEDS_IMPORTANCE]
    return _largest(quick or running, _USUAL_ON_CPU)


def _roomy(plan: Plan, minds: int) -> bool:
    return plan.minds >= minds and (plan.context >= _ENOUGH_CONTEXT or not minds)


def _largest(among: Sequence[Fit], limit: str) -> Fit | None:
    """Return the largest that is no finer than `limit`, or the smallest if all are finer."""
    modest = [one for one in among if _coarseness(one) >= QUANTISATIONS.index(limit)]
    if modest:
        return max(modest, key=lambda one: one.size)
    return min(among, key=lambda one: one.size, default=None)


def _coarseness(one: Fit) -> int:
    """Return its place in the list of quantisations. Unknown types count as coarse."""
    known = one.quantisation in QUANTISATIONS
    return QUANTISATIONS.index(one.quantisation) if known else len(QUANTISATIONS)


def _mark_best(one: Fit) -> Fit:
    return Fit(one.quantisation, one.size, one.plan, one.left, one.lacking, best=True)


def propose_model(
    found: Mapping[str, Sequence[Fit]], entries: Mapping[str, CatalogueEntry]
) -> tuple[CatalogueEntry, Fit] | None:
    """Return the best model for a new user of this machine, with its plan, or None if no download
    is worthwhile.

    That is HER if it fits on the GPU with three bits per weight or more, else the largest stand-in
    that fits there. On a CPU it is the largest stand-in that answers fast enough.
    """
    acting = [
        (entries[name], _choose(fitted))
        for name, fitted in found.items()
        if name in entries and entries[name].acts
    ]
    there = [
        (entry, fit) for entry, fit in acting if fit is not None and entry.origin[0] != "package"
    ]
    whole = [(entry, fit) for entry, fit in there if fit.whole and fit.quantisation not in COARSE]
    for candidates in ([one for one in whole if not one[0].stand_in], whole):
        if candidates:
            return max(candidates, key=lambda one: one[1].size)
    bearable = [(entry, fit) for entry, fit in there if fit.size <= _BEARABLE_ON_CPU]
    return max(bearable, key=lambda one: one[1].size, default=None)


def _choose(fitted: Sequence[Fit]) -> Fit | None:
    return next((fit for fit in fitted if fit.best), None)
