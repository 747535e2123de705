"""Whose turn is next."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from bot.engine.local.fair_queue import FairQueue


@dataclass(eq=False)
class Waiting:
    """As much of a reply as a line looks at."""

    id: int
    guild: str


def line_of(*guilds: str) -> FairQueue:
    line = FairQueue()
    for number, guild in enumerate(guilds):
        line.join(Waiting(number, guild))  # type: ignore[arg-type] # see Waiting
    return line


def served(line: FairQueue, busy: list[str] | None = None) -> str:
    order = ""
    while line:
        order += line.next(busy or []).guild
    return order


def test_one_after_the_other_within_a_guild_and_guilds_in_turn() -> None:
    assert served(line_of("a", "a", "a", "b", "c")) == "abcaa"
    assert served(line_of("a", "a", "b", "b")) == "abab"


def test_a_guild_with_replies_under_way_waits_for_one_that_has_none() -> None:
    assert served(line_of("a", "a", "b"), ["a"]) == "baa"


@given(st.lists(st.sampled_from("abc"), max_size=8), st.lists(st.sampled_from("abc"), max_size=3))
def test_nobody_is_forgotten(guilds: list[str], busy: list[str]) -> None:
    assert sorted(served(line_of(*guilds), busy)) == sorted(guilds)


@given(st.lists(st.sampled_from("abc"), max_size=8))
def test_the_places_that_are_told_are_those_that_come_true(guilds: list[str]) -> None:
    line = line_of(*guilds)
    told = {reply.id: place for reply, place in line.moved([])}
    assert [line.next([]).id for _ in guilds] == sorted(told, key=lambda number: told[number])


def test_a_place_is_told_only_when_it_changes() -> None:
    line = line_of("a", "a", "b")
    assert [(reply.id, place) for reply, place in line.moved([])] == [(0, 0), (2, 1), (1, 2)]
    assert not list(line.moved([]))
    line.next([])
    assert [(reply.id, place) for reply, place in line.moved([])] == [(2, 0), (1, 1)]
