"""`aside bench` with small sizes: its output and its targets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.bench.bot_bench import BotReport
from tests.cli.conftest import complaint, data

if TYPE_CHECKING:
    from tests.cli.conftest import Aside

SHORT = ("--streams", "2", "--rounds", "1")


def test_the_bot_is_measured_without_a_model(aside: Aside) -> None:
    report = data(aside("bench", "bot", "morning-call", *SHORT, "--scenes", "3", "--json"))
    assert report["turns"] > 0
    assert report["stall_work"] <= report["stall"] + 0.01
    assert [target["wanted"] for target in report["targets"]] == [0.05, 150.0]
    assert {target["met"] for target in report["targets"]} <= {True, False}


def test_the_results_and_the_missed_targets_are_printed(aside: Aside) -> None:
    result = aside("bench", "bot", "morning-call", *SHORT, "--scenes", "2")
    assert result.exit_code == 0, result.output
    assert "turns per second" in result.stdout
    assert "MB with 2 idle scenes" in result.stdout
    missed = BotReport(turns=1.0, stall=0.2, stall_work=0.1, streams=2, memory=10**9, scenes=2)
    assert [target.met for target in missed.targets] == [False, False]


@pytest.mark.model
def test_the_engine_is_measured(aside: Aside) -> None:
    sizes = ("--history", "64", "--tokens", "6", "--threads", "1")
    result = aside("bench", "engine", "--model", "demo", *SHORT, *sizes)
    assert result.exit_code == 0, result.output
    assert "One reply in each scene (s)" in result.stdout
    assert "Single-stream speed relative to bare llama_decode" in result.stdout


@pytest.mark.parametrize("option", ["--llama-server", "--batched-bench"])
def test_a_missing_program_is_an_error_before_anything_is_measured(
    aside: Aside, option: str
) -> None:
    result = aside("bench", "engine", "--model", "demo", option, "missing")
    assert result.exit_code == 1
    assert "missing cannot be run" in result.stderr
    assert "Round" not in result.stderr


def test_an_unknown_scenario_is_an_error(aside: Aside) -> None:
    assert "morning-cal" in complaint(aside("bench", "bot", "morning-cal"))
