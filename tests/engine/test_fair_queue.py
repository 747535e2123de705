"""The order of the queue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from hypothesis import given
from hypothesis import strategies as st

from bot.engine.local.fair_queue import FairQueue

if TYPE_CHECKING:
    from bot.engine.local.sequence import ReplySequence


@dataclass(eq=False)
class Waiting:
    """The attributes of a reply that the queue reads."""

    id: int
    guild: str


def queue_of(*guilds: str) -> FairQueue:
    queue = FairQueue()
    for number, guild in enumerate(guilds):
        queue.add(cast("ReplySequence", Waiting(number, guild)))
    return queue


def pop_all(queue: FairQueue, active_guilds: list[str] | None = None) -> str:
    order = ""
    while queue:
        order += queue.pop_next(active_guilds or []).guild
    return order


def changed_positions(queue: FairQueue) -> list[tuple[int, int]]:
    return [(reply.id, position) for reply, position in queue.pop_changed_positions([])]


def test_guilds_take_turns_and_each_guild_is_served_in_order() -> None:
    assert pop_all(queue_of("a", "a", "a", "b", "c")) == "abcaa"
    assert pop_all(queue_of("a", "a", "b", "b")) == "abab"


def test_a_guild_with_active_replies_waits_for_one_without() -> None:
    assert pop_all(queue_of("a", "a", "b"), ["a"]) == "baa"


@given(st.lists(st.sampled_from("abc"), max_size=8), st.lists(st.sampled_from("abc"), max_size=3))
def test_every_reply_is_served(guilds: list[str], active_guilds: list[str]) -> None:
    assert sorted(pop_all(queue_of(*guilds), active_guilds)) == sorted(guilds)


@given(st.lists(st.sampled_from("abc"), max_size=8))
def test_reported_positions_are_the_order_of_service(guilds: list[str]) -> None:
    queue = queue_of(*guilds)
    positions = dict(changed_positions(queue))
    served = [queue.pop_next([]).id for _ in guilds]
    assert served == sorted(positions, key=lambda number: positions[number])


def test_a_position_is_reported_only_when_it_changes() -> None:
    queue = queue_of("a", "a", "b")
    assert changed_positions(queue) == [(0, 0), (2, 1), (1, 2)]
    assert not changed_positions(queue)
    queue.pop_next([])
    assert changed_positions(queue) == [(2, 0), (1, 1)]
