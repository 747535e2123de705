"""`aside bench`, short: what it tells, and what it says of what was promised."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.bench.bot_bench import BotReport
from tests.cli.conftest import complaint, data

if TYPE_CHECKING:
    from tests.cli.conftest import Aside

SHORT = ("--streams", "2", "--rounds", "1")


def test_the_bot_is_measured_with_an_engine_that_recites(aside: Aside) -> None:
    report = data(aside("bench", "bot", "morning-call", *SHORT, "--scenes", "3", "--json"))
    assert report["turns"] > 0
    assert report["stall_work"] <= report["stall"] + 0.01
    assert [target["wanted"] for target in report["targets"]] == [0.05, 150.0]
    assert {target["met"] for target in report["targets"]} <= {True, False}


def test_a_person_reads_what_was_measured_and_what_was_missed(aside: Aside) -> None:
    result = aside("bench", "bot", "morning-call", *SHORT, "--scenes", "2")
    assert result.exit_code == 0, result.output
    assert "turns a second" in result.stdout
    assert "MB with 2 idle scenes" in result.stdout
    missed = BotReport(turns=1.0, stall=0.2, stall_work=0.1, streams=2, memory=10**9, scenes=2)
    assert [target.met for target in missed.targets] == [False, False]


@pytest.mark.model
def test_the_engine_is_measured_and_programs_that_are_none_are_told(aside: Aside) -> None:
    short = ("--history", "64", "--threads", "1", "--model", "demo")
    result = aside("bench", "engine", *SHORT, *short)
    assert result.exit_code == 0, result.output
    assert "rotation" in result.stdout
    assert "one stream, of bare decode" in result.stdout
    result = aside("bench", "engine", *SHORT, *short, "--llama-server", "nothing")
    assert result.exit_code == 1
    assert "nothing can't be run" in result.stderr


def test_a_scenario_that_is_none_is_told(aside: Aside) -> None:
    assert "morning-cal" in complaint(aside("bench", "bot", "morning-cal"))
