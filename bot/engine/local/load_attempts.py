"""The ways to load a model, and what to change after one has failed.

Whatever the settings leave open is an automatic choice. If a choice fails, a more modest one is
tried, and the change is reported: flash attention off, an f16 cache, the CPU, a smaller context. If
memory runs out, the next smaller memory plan is tried.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bot.weights.memory_plan import PlanRequest, make_plans

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.engine.local.worker_messages import Load
    from bot.weights.gguf_reader import GgufFile
    from bot.weights.memory_plan import Plan


@dataclass(frozen=True, slots=True)
class LoadAttempt:
    """One way to load a model. `changes` are sentences on what failed before."""

    plans: tuple[Plan, ...]  # all plans for these choices, the best first
    flash_attention: str
    uses_gpu: bool
    request: PlanRequest
    index: int = 0
    changes: tuple[str, ...] = ()
    memory_ran_out: bool = False

    @property
    def plan(self) -> Plan:
        """The memory plan to use."""
        return self.plans[self.index]

    def describe_changes(self) -> str:
        """Return the sentences on what failed before, with the plan if memory ran out."""
        memory = f"Memory ran out, so a smaller plan was used: {self.plan}."
        return " ".join((*self.changes, *((memory,) if self.memory_ran_out else ())))


class LoadAttempts:
    """Chooses the first attempt for a Load command, and the next one after a failure.

    `gpus_free` and `main_free` are the free memory in bytes. None for `main_free` means unknown.
    """

    def __init__(
        self,
        command: Load,
        headers: Sequence[GgufFile],
        gpus_free: Sequence[int],
        main_free: int | None,
    ) -> None:
        self._command = command
        self._headers = headers
        self._gpus_free = [2**60 for _ in gpus_free] if not command.check_memory else gpus_free
        self._main_free = main_free if command.check_memory else None

    @property
    def request(self) -> PlanRequest:
        """The choices that the settings fix."""
        command = self._command
        return PlanRequest(
            context=command.context,
            minds=command.minds,
            cache_type=command.cache_type,
            gpu_layers=_parse_gpu_layers(command),
            flash_attention=command.flash_attention != "off",
        )

    def choose_first(self) -> LoadAttempt | None:
        """Return the first attempt, or None if the model does not fit into memory.

        It skips the plans and choices that made earlier workers crash.
        """
        found = self._find_plans(self.request, uses_gpu=True)
        if not found:
            return None
        attempt = LoadAttempt(found, self._command.flash_attention, True, self.request)
        for _ in range(self._command.skip_plans):
            attempt = self.choose_next(attempt, out_of_memory=True) or attempt
        for _ in range(self._command.skip_choices):
            attempt = self.choose_next(attempt) or attempt
        return attempt

    def choose_next(
        self, failed: LoadAttempt, *, out_of_memory: bool = False, model_loaded: bool = True
    ) -> LoadAttempt | None:
        """Return the attempt after `failed`, or None if no automatic choice is left.

        `model_loaded` tells whether the model itself could be loaded. If not, only offload is to
        blame.
        """
        if out_of_memory:
            index = failed.index + 1
            if index == len(failed.plans):
                return None
            return replace(failed, index=index, memory_ran_out=True)
        if model_loaded and (attempt := self._without_flash_attention(failed)):
            return attempt
        if model_loaded and (attempt := self._without_quantised_cache(failed)):
            return attempt
        if attempt := self._without_gpu(failed):
            return attempt
        return self._with_smaller_context(failed) if model_loaded else None

    def _without_flash_attention(self, failed: LoadAttempt) -> LoadAttempt | None:
        if self._command.flash_attention != "auto" or failed.flash_attention == "off":
            return None
        return self._change(
            replace(failed, flash_attention="off"),
            replace(failed.request, flash_attention=False),
            "Flash attention failed and was switched off.",
        )

    def _without_quantised_cache(self, failed: LoadAttempt) -> LoadAttempt | None:
        if self._command.cache_type is not None or failed.plan.cache_type == "f16":
            return None
        return self._change(
            failed,
            replace(failed.request, cache_type="f16"),
            f"The {failed.plan.cache_type} cache failed and was replaced by f16.",
        )

    def _without_gpu(self, failed: LoadAttempt) -> LoadAttempt | None:
        if self._command.gpu_layers != "auto" or not failed.plan.gpu_layers:
            return None
        return self._change(
            replace(failed, uses_gpu=False),
            failed.request,
            "The GPU failed, so the model runs on the CPU.",
        )

    def _with_smaller_context(self, failed: LoadAttempt) -> LoadAttempt | None:
        smaller = (
            index
            for index, plan in enumerate(failed.plans)
            if index > failed.index and plan.context < failed.plan.context
        )
        index = next(smaller, None)
        if self._command.context is not None or index is None:
            return None
        change = (
            f"A context of {failed.plan.context:,} tokens failed, so it has "
            f"{failed.plans[index].context:,}."
        )
        return replace(failed, index=index, changes=(*failed.changes, change))

    def _change(
        self, attempt: LoadAttempt, request: PlanRequest, change: str
    ) -> LoadAttempt | None:
        found = self._find_plans(request, uses_gpu=attempt.uses_gpu)
        if not found:
            return None
        changes = (*attempt.changes, change)
        return replace(attempt, plans=found, index=0, request=request, changes=changes)

    def _find_plans(self, request: PlanRequest, *, uses_gpu: bool) -> tuple[Plan, ...]:
        found = make_plans(
            self._headers, self._gpus_free if uses_gpu else (), self._main_free, request
        )
        return found if self._command.check_memory else found[:1]


def _parse_gpu_layers(command: Load) -> int | None:
    match command.gpu_layers:
        case int():
            return command.gpu_layers
        case "all":
            return -1
        case _:
            return None
