"""Decode steps in a batch that is too small for all replies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.engine.local.batch import Batch
from bot.engine.local.llama import Context, ContextPlan, DecodeError, Model
from bot.engine.local.slots import Slots
from bot.engine.local.worker_messages import Finished, Generate
from bot.engine.protocol import Sampling
from bot.her.prompt import Text
from bot.weights.find_model import find_model

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bot.engine.local.worker_messages import Event

MINDS = 4
CLOSER = "</system_thinking>"


@pytest.fixture
def small_context() -> Iterator[tuple[Model, Context]]:
    model = Model(find_model("demo").path, 0)
    plan = ContextPlan(
        tokens=256,
        sequences=MINDS,
        threads=1,
        batch=2 * MINDS,
        cache_type="f16",
        flash_attention="auto",
    )
    context = Context(model, plan)
    yield model, context
    context.free()
    model.free()


@pytest.mark.model
def test_closing_tags_that_do_not_fit_into_one_batch_are_decoded_in_several(
    small_context: tuple[Model, Context],
) -> None:
    model, context = small_context
    assert MINDS * len(model.encode(CLOSER)) > context.capacity
    events: list[Event] = []
    batch = Batch(model, context, Slots(context, MINDS, 0), lambda *new: events.extend(new))
    for number in range(MINDS):
        batch.submit(
            Generate(
                id=number,
                parts=(Text("Well,"),),
                prefill="<system_thinking>",
                mind=f"mind {number}",
                guild="one",
                sampling=Sampling(),
                seed=number,
                max_tokens=24,
                planning_tokens=1,
                planning_closer=CLOSER,
                stop=(),
                grammar=None,
            )
        )
    while not batch.idle:
        batch.step()
    ends = [event.finish for event in events if isinstance(event, Finished)]
    assert len(ends) == MINDS
    assert all(end.planning_closed_by_force for end in ends)


@pytest.mark.model
def test_tokens_that_do_not_fit_into_the_batch_are_refused(
    small_context: tuple[Model, Context],
) -> None:
    _, context = small_context
    context.clear_batch()
    with pytest.raises(DecodeError, match="room for 8"):
        context.add(0, 0, list(range(9)), want_logits=True)
    with pytest.raises(DecodeError, match="0 tokens"):
        context.add(0, 0, [], want_logits=True)
