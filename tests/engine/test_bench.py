"""The bench measures what it says, on any engine."""

from __future__ import annotations

import pytest

from bot.engine.bench.engine import OURS, bench_engine
from bot.engine.bench.measuring import Course, measure
from bot.engine.bench.report import EngineReport, Figures
from bot.engine.remote import RemoteEngine, RemoteOptions
from tests.engine.completions import CompletionsServer

SHORT = Course(streams=2, tokens=6, history=80, rounds=1)


@pytest.mark.model
async def test_the_local_engine_is_measured_beside_its_baselines() -> None:
    report = await bench_engine("demo", SHORT, threads=1)
    ours, bare, alone = report.figures
    assert (ours.name, bare.name, alone.name) == (OURS, "bare decode", "Llama, one at a time")
    assert ours.return_read == ours.return_new
    assert all(figure and figure > 0 for figure in (ours.write_one, ours.write_many, ours.read, ours.rotation))
    assert report.ratio("write_many", OURS, bare.name)
    assert report.ratio("rotation", alone.name, OURS)
    assert EngineReport.model_validate_json(report.model_dump_json()) == report


async def test_a_completions_server_is_measured_through_the_remote_engine() -> None:
    async with CompletionsServer(["word " * 50]) as server:
        remote = RemoteEngine(RemoteOptions(base_url=(server.url,)))
        await remote.start()
        figures = await measure(remote, SHORT, "scripted")
        await remote.close()
    assert figures.write_one
    assert figures.streams == 2


def test_a_ratio_with_something_that_was_not_measured_is_none() -> None:
    report = EngineReport(
        model="m", device="CPU", history=1, rounds=1, figures=(Figures(name="a", read=2.0), Figures(name="b"))
    )
    assert report.ratio("read", "a", "b") is None
    assert report.ratio("read", "a", "nobody") is None
