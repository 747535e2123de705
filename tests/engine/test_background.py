"""Idle work runs between replies, gives way to each, and delays none."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from bot.engine.local.batch import Batch
from bot.engine.local.llama import Context, ContextPlan, Model
from bot.engine.local.slots import Slots
from bot.engine.local.worker_messages import Cancel, Failed, Finished, Generate, Generated, Prefetch
from bot.engine.protocol import Sampling
from bot.her.prompt import Text
from bot.weights.find_model import find_model

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bot.engine.local.worker_messages import Event

pytestmark = pytest.mark.model

HOST_MEMORY = 10**9
SEA = "Once upon a time there was a sea. " * 12
IDLE, REPLY = 1, 2


@pytest.fixture(scope="module")
def model() -> Iterator[Model]:
    loaded = Model(find_model("demo").path, 0)
    yield loaded
    loaded.free()


class BatchWorker:
    """A batch, and the events that it has emitted."""

    def __init__(self, model: Model, context: Context, slots: int, host_memory: int) -> None:
        self.events: list[Event] = []
        self.slots = Slots(context, slots, host_memory)
        self.batch = Batch(model, context, self.slots, lambda *new: self.events.extend(new))

    def submit(self, number: int, text: str = SEA, mind: str = "", length: int = 16) -> None:
        self.batch.submit(
            Generate(
                id=number,
                parts=(Text(text),),
                prefill="",
                mind=mind or f"mind {number}",
                guild="one",
                sampling=Sampling(temperature=0.0),
                seed=1,
                max_tokens=length,
                planning_tokens=None,
                planning_closer="</system_thinking>",
                stop=(),
                grammar=None,
                background=number == IDLE,
            )
        )

    def run(self) -> None:
        """Work until nothing is left to do."""
        while not self.batch.idle:
            self.batch.step()

    def read(self, number: int) -> str:
        return "".join(
            event.text
            for event in self.events
            if isinstance(event, Generated) and event.id == number
        )

    def list_ended(self) -> list[int]:
        return [event.id for event in self.events if isinstance(event, Finished | Failed)]


@contextmanager
def worker(model: Model, slots: int, host_memory: int = HOST_MEMORY) -> Iterator[BatchWorker]:
    plan = ContextPlan(
        tokens=256 * slots,
        sequences=slots,
        threads=1,
        batch=128,
        cache_type="f16",
        flash_attention="auto",
    )
    context = Context(model, plan)
    yield BatchWorker(model, context, slots, host_memory)
    context.free()


@pytest.mark.parametrize(("slots", "steps"), [(1, 1), (2, 9)])
def test_idle_work_stops_at_the_next_step_and_ends_as_without_the_reply(
    model: Model, slots: int, steps: int
) -> None:
    with worker(model, slots) as alone:
        alone.submit(IDLE)
        alone.run()
        expected = alone.read(IDLE)
    with worker(model, slots) as shared:
        shared.submit(IDLE)
        for _ in range(steps):
            shared.batch.step()
        before = shared.read(IDLE)
        shared.submit(REPLY, "Good morning! " * 9)
        while REPLY not in shared.list_ended():
            shared.batch.step()
        assert len(shared.read(IDLE)) - len(before) <= 12  # text of earlier steps may come late
        shared.run()
        assert shared.list_ended() == [REPLY, IDLE]
        assert shared.read(IDLE) == expected


def test_a_reply_reads_as_much_after_idle_work_as_without(model: Model) -> None:
    for idle in (False, True):
        with worker(model, 1) as one:
            one.submit(REPLY, SEA, "mine")
            one.run()
            if idle:
                one.submit(IDLE, "Something else entirely. " * 9)
                one.run()
            one.submit(3, SEA, "mine")
            one.run()
            last = one.events[-1]
            assert isinstance(last, Finished)
            assert last.finish.prompt_tokens_read == 1


def test_idle_work_that_would_cost_a_mind_its_cache_is_refused(model: Model) -> None:
    with worker(model, 1, host_memory=1000) as one:
        one.submit(REPLY)
        one.run()
        one.submit(IDLE)
        one.run()
        failed = one.events[-1]
        assert isinstance(failed, Failed)
        assert failed.fault == "busy"
        assert one.batch.idle


def test_prefetches_come_before_idle_work(model: Model) -> None:
    with worker(model, 2) as one:
        one.submit(IDLE)
        one.batch.prefetch(Prefetch(mind="mine", parts=(Text(SEA),)))
        one.batch.step()
        slot = one.slots.find("mine")
        assert slot is not None
        assert slot.tokens
        one.run()
        assert one.list_ended() == [IDLE]


def test_cancelled_idle_work_ends_wherever_it_is(model: Model) -> None:
    with worker(model, 1) as one:
        one.submit(IDLE)
        one.batch.cancel(Cancel(id=IDLE))
        assert one.batch.idle
        one.submit(IDLE)
        one.batch.step()
        one.batch.cancel(Cancel(id=IDLE))
        assert one.batch.idle
