"""The benchmark of the engine."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bot.bench.engine_bench import bench_engine
from bot.bench.measure import BenchOptions, measure
from bot.bench.reference_programs import BenchConditions, measure_batched_bench
from bot.bench.report import ALONE, BARE, BATCHED, OURS, SERVER, EngineReport, Figures, Written
from bot.engine.remote_engine import RemoteEngine, RemoteOptions
from bot.errors import EngineStartError
from tests.engine.completions_server import CompletionsServer

SHORT = BenchOptions(streams=2, tokens=6, history=80, rounds=1)


@pytest.mark.model
async def test_the_local_engine_is_measured_with_its_baselines() -> None:
    report = await bench_engine("demo", SHORT, threads=1)
    ours, bare, alone = report.figures
    assert (ours.name, bare.name, alone.name) == (OURS, BARE, ALONE)
    assert ours.return_read == ours.return_new
    assert all(
        figure and figure > 0
        for figure in (ours.write_one, ours.write_many, ours.read, ours.rotation)
    )
    assert report.ratio("write_many", OURS, bare.name)
    assert report.ratio("rotation", alone.name, OURS)
    assert [target.wanted for target in report.targets] == [0.97, 0.93, 0.97, 5.0, 1.0, 0.1]
    assert EngineReport.model_validate_json(report.model_dump_json()) == report


async def test_a_completions_server_is_measured_through_the_remote_engine() -> None:
    async with CompletionsServer(["word " * 50]) as server:
        remote = RemoteEngine(RemoteOptions(base_url=(server.url,)))
        await remote.start()
        figures = await measure(remote, SHORT, "scripted")
        await remote.close()
    assert figures.write_one
    assert figures.streams == 2


async def test_a_program_that_cannot_be_run_is_an_error(tmp_path: Path) -> None:
    conditions = BenchConditions(tmp_path, 1, SHORT)
    with pytest.raises(EngineStartError, match="cannot be run"):
        await measure_batched_bench(tmp_path / "missing", conditions)
    with pytest.raises(EngineStartError, match="failed with status"):
        await measure_batched_bench(Path(sys.executable), conditions)


def test_only_measured_targets_are_reported() -> None:
    written = (Written(one=9.0, many=99.0, held=99.0), Written(many=50.0, held=49.0))
    figures = (
        Figures(
            name=OURS, streams=8, written=written, answer_many=40.0, return_new=8, return_read=9
        ),
        Figures(name=BARE, written=(Written(one=1.0, many=1.0),)),
        Figures(name=BATCHED, written=(Written(one=10.0, many=100.0),)),
        Figures(name=SERVER, answer_many=40.0),
    )
    report = EngineReport(model="m", device="CPU", history=1, rounds=1, figures=figures)
    throughput = f"Throughput for 8 simultaneous requests relative to {SERVER}"
    grammar = "Speed of 8 streams with HER's grammar relative to without"
    returning = "Tokens read for a returning character relative to its new tokens"
    assert [(str(target), target.met) for target in report.targets] == [
        (f"Single-stream speed relative to {BATCHED}: 0.9 (target: at least 0.97)", False),
        (f"Speed of 8 streams relative to {BATCHED}: 0.99 (target: at least 0.93)", True),
        (f"{throughput}: 1 (target: at least 1)", True),
        (f"{grammar}: 0.99 (target: at least 0.97)", True),
        (f"{returning}: 1.12 (target: at most 1)", False),
    ]


def test_a_ratio_without_a_measurement_is_none() -> None:
    report = EngineReport(
        model="m",
        device="CPU",
        history=1,
        rounds=1,
        figures=(Figures(name="a", read=2.0), Figures(name="b")),
    )
    assert report.ratio("read", "a", "b") is None
    assert report.ratio("read", "a", "unknown") is None
