"""`aside bench`: how fast the engine and the bot are, beside what they are held against."""

from __future__ import annotations

import asyncio
from pathlib import Path  # noqa: TC003 - typer needs it at run time
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.console.shared_options import AsJson, Config, open_library, read_settings, write_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.bench.report import EngineReport, Figures, Target

bench = typer.Typer(help="Measure the engine and the bot.", no_args_is_help=True)

_ROWS = (
    "one stream, tokens/s",
    "all streams, tokens/s",
    "held to HER's form, tokens/s",
    "all, asked at once, tokens/s",
    "reading, tokens/s",
    "first word, s",
    "known mind: new tokens",
    "known mind: tokens read",
    "from memory, of reading",
    "rotation, s",
)

Streams = Annotated[int, typer.Option(min=1, max=64, help="Replies, or scenes, at once.")]
Rounds = Annotated[int, typer.Option(min=1, help="Rounds; medians of all are shown.")]


@bench.command()
def engine(
    model: Annotated[
        str | None, typer.Option(help="Name or path; the one in the settings.")
    ] = None,
    streams: Streams = 8,
    rounds: Rounds = 5,
    history: Annotated[
        int, typer.Option(min=64, help="Tokens of each scene that comes in rotation.")
    ] = 2000,
    threads: Annotated[int | None, typer.Option(min=1, help="One for each processor.")] = None,
    llama_server: Annotated[
        Path | None, typer.Option(metavar="PATH", help="A llama-server to measure too.")
    ] = None,
    batched_bench: Annotated[
        Path | None, typer.Option(metavar="PATH", help="A llama-batched-bench to be held against.")
    ] = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Measure the local engine: one stream and many, reading, coming back to a known mind; and the same of
    llama.cpp's own programs and of llama-cpp-python used one request at a time."""
    from bot.bench.engine_bench import Programs, bench_engine
    from bot.bench.measure import BenchOptions

    course = BenchOptions(streams=streams, history=history, rounds=rounds)
    named = model or read_settings(config).engine.model or "demo"
    report = asyncio.run(
        bench_engine(
            named, course, Programs(llama_server, batched_bench), threads=threads, told=_tell
        )
    )
    if as_json:
        write_json(report.model_dump())
        return
    load = "" if report.load is None else f", load {report.load:.1f} at the start"
    typer.echo(f"{report.model} on {report.device}, {streams} streams, medians of {rounds}{load}")
    _print_figures(report)
    _print_targets(report.targets)


@bench.command()
def bot(
    streams: Streams = 8,
    rounds: Rounds = 5,
    scenes: Annotated[int, typer.Option(min=1, help="Scenes under way that are idle.")] = 1000,
    scenario: Annotated[str, typer.Argument(help="What is played.")] = "pride-and-prejudice",
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Measure the bot with an engine that recites: turns a second, the longest that its event loop stalls while
    replies are written, and its memory with many scenes."""
    from bot.bench.bot_bench import BotBenchOptions, bench_bot
    from bot.cli.lookup import find_scenario

    played = find_scenario(scenario, open_library(read_settings(config)))
    report = asyncio.run(bench_bot(played, BotBenchOptions(scenes, max(streams, 1), rounds)))
    if as_json:
        write_json(report.model_dump())
        return
    typer.echo(f"{report.turns:.1f} turns a second, {report.streams} scenes at once")
    typer.echo(
        f"{report.stall * 1000:.0f} ms the longest stall, {report.stall_work * 1000:.0f} ms of it own work"
    )
    if report.memory is not None:
        typer.echo(f"{report.memory / 1e6:.0f} MB with {report.scenes:,} idle scenes")
    _print_targets(report.targets)


def _tell(far: str) -> None:
    typer.echo(far, err=True)


def _print_figures(report: EngineReport) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("")
    for figures in report.figures:
        table.add_column(figures.name, justify="right")
    for row in zip(_ROWS, *map(_cells, report.figures), strict=True):
        table.add_row(*row)
    Console().print(table)


def _cells(figures: Figures) -> list[str]:
    numbers = [
        *(figures.write_one, figures.write_many, figures.write_held),
        *(figures.answer_many, figures.read, figures.first_word),
        *(figures.return_new, figures.return_read, figures.return_stored, figures.rotation),
    ]
    return ["" if number is None else f"{number:.3g}" for number in numbers]


def _print_targets(targets: Sequence[Target]) -> None:
    for target in targets:
        typer.echo(f"{'✓' if target.met else '✗ MISSED'} {target}")
