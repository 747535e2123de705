"""The benchmark of memory."""

from __future__ import annotations

from bot.bench.memory_bench import MemoryBenchOptions, MemoryReport, bench_memory
from tests.scenes.scene_harness import STUDY


async def test_a_reply_in_a_long_scene_reads_no_more_than_in_a_short_one() -> None:
    options = MemoryBenchOptions(lengths=(120, 480), replies=2, context=2600)
    report = await bench_memory(STUDY, options)
    short, long = report.figures
    assert (short.length, long.length) == (120, 480)
    assert 0 < long.turns_read <= short.turns_read * 1.5
    assert 0 < long.tokens_read < long.prompt_tokens < 2600
    assert all(min(one.opening, one.reply, one.memory) > 0 for one in report.figures)
    assert [target.wanted for target in report.targets] == [0.1, 0.05, 1.5, 1.5]
    assert MemoryReport.model_validate_json(report.model_dump_json()) == report
