"""`aside bench`: measure the engine and the bot."""

from __future__ import annotations

import asyncio
from pathlib import Path  # noqa: TC003 - typer needs it at run time
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.console.shared_options import AsJson, Config, open_library, read_settings, write_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.bench.memory_bench import LengthFigures
    from bot.bench.report import EngineReport, Figures, Target

bench = typer.Typer(help="Measure the engine and the bot.", no_args_is_help=True)

_ROW_LABELS = (
    "Single-stream speed (tokens/s)",
    "All streams together (tokens/s)",
    "All streams with HER's grammar (tokens/s)",
    "Simultaneous requests, throughput (tokens/s)",
    "Prompt processing (tokens/s)",
    "Time to first text (s)",
    "Returning character: new tokens",
    "Returning character: tokens read",
    "Restore from main memory / read again",
    "One reply in each scene (s)",
)

Streams = Annotated[
    int, typer.Option(min=1, max=64, help="Number of simultaneous replies or scenes.")
]
Rounds = Annotated[int, typer.Option(min=1, help="Number of rounds. The table shows medians.")]


@bench.command()
def engine(
    model: Annotated[
        str | None, typer.Option(help="Model name or path. Default: the model in the settings.")
    ] = None,
    streams: Streams = 8,
    rounds: Rounds = 5,
    history: Annotated[
        int, typer.Option(min=64, help="Tokens of each scene's history in the rotation.")
    ] = 2000,
    tokens: Annotated[
        int, typer.Option(min=2, help="Tokens of each reply. Few tokens give noisy results.")
    ] = 128,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Number of threads. Default: one per processor.")
    ] = None,
    llama_server: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Also measure this llama-server.")
    ] = None,
    batched_bench: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Compare with this llama-batched-bench.")
    ] = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Measure the speed of the local engine.

    The figures cover generation, prompt processing, and returning characters.

    For comparison it also measures llama-cpp-python with sequential requests and, if you name them,
    llama.cpp's own programs.
    """
    from bot.bench.engine_bench import Programs, bench_engine
    from bot.bench.measure import BenchOptions

    options = BenchOptions(streams=streams, tokens=tokens, history=history, rounds=rounds)
    model_name = model or read_settings(config).engine.model or "demo"
    programs = Programs(llama_server, batched_bench)
    report = asyncio.run(
        bench_engine(model_name, options, programs, threads=threads, on_progress=_print_progress)
    )
    if as_json:
        write_json(report.model_dump())
        return
    load = "" if report.load is None else f", load average {report.load:.1f} at the start"
    typer.echo(
        f"{report.model} on {report.device}, {streams} streams, medians of {rounds} rounds{load}"
    )
    _print_figures(report)
    _print_targets(report.targets)


@bench.command()
def bot(
    streams: Streams = 8,
    rounds: Rounds = 5,
    scenes: Annotated[int, typer.Option(min=1, help="Number of idle scenes.")] = 1000,
    scenario: Annotated[str, typer.Argument(help="Scenario to play.")] = "pride-and-prejudice",
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Measure the speed of the bot without a model.

    The figures are turns per second, stalls of the event loop, and memory.

    An engine with a fixed reply replaces the model.
    """
    from bot.bench.bot_bench import BotBenchOptions, bench_bot
    from bot.cli.lookup import find_scenario

    chosen = find_scenario(scenario, open_library(read_settings(config)))
    report = asyncio.run(bench_bot(chosen, BotBenchOptions(scenes, max(streams, 1), rounds)))
    if as_json:
        write_json(report.model_dump())
        return
    typer.echo(f"{report.turns:.1f} turns per second in {report.streams} scenes at once")
    typer.echo(
        f"{report.stall * 1000:.0f} ms longest stall of the event loop, "
        f"including {report.stall_work * 1000:.0f} ms of CPU time"
    )
    if report.memory is not None:
        typer.echo(f"{report.memory / 1e6:.0f} MB with {report.scenes:,} idle scenes")
    _print_targets(report.targets)


@bench.command()
def memory(
    replies: Annotated[int, typer.Option(min=1, help="Replies to measure in each scene.")] = 20,
    length: Annotated[
        list[int] | None,
        typer.Option(min=10, help="Turns of a scene. Can be repeated. Default: 100, 1000, 10000."),
    ] = None,
    scenario: Annotated[str, typer.Argument(help="Scenario to play.")] = "pride-and-prejudice",
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Measure replies in long scenes without a model.

    The figures are turns read, time, stalls of the event loop, and tokens read.

    An engine with a fixed reply replaces the model. It counts the prompt tokens that a prefix cache
    would not contain.
    """
    from bot.bench.memory_bench import MemoryBenchOptions, bench_memory
    from bot.cli.lookup import find_scenario

    chosen = find_scenario(scenario, open_library(read_settings(config)))
    lengths = tuple(sorted(length)) if length else MemoryBenchOptions().lengths
    report = asyncio.run(bench_memory(chosen, MemoryBenchOptions(lengths, replies)))
    if as_json:
        write_json(report.model_dump())
        return
    _print_lengths(report.figures)
    _print_targets(report.targets)


def _print_lengths(figures: Sequence[LengthFigures]) -> None:
    """Print a column for each scene. Ratios are relative to the first one."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("Turns in the scene")
    for one in figures:
        table.add_column(f"{one.length:,}", justify="right")
    first = figures[0]
    rows = (
        ("Time to open (ms)", [f"{one.opening * 1000:.0f}" for one in figures]),
        ("Time of a reply (ms)", [f"{one.reply * 1000:.0f}" for one in figures]),
        ("Time of a reply, ratio", [f"{one.reply / first.reply:.2f}" for one in figures]),
        ("Longest event loop stall (ms)", [f"{one.stall * 1000:.0f}" for one in figures]),
        ("Memory of a reply, ratio", [f"{one.memory / first.memory:.2f}" for one in figures]),
        ("Turns read per reply", [f"{one.turns_read:.0f}" for one in figures]),
        ("Tokens in a prompt", [f"{one.prompt_tokens:.0f}" for one in figures]),
        ("Tokens read per reply", [f"{one.tokens_read:.0f}" for one in figures]),
    )
    for label, cells in rows:
        table.add_row(label, *cells)
    Console().print(table)


def _print_progress(step: str) -> None:
    typer.echo(step, err=True)


def _print_figures(report: EngineReport) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("")
    for figures in report.figures:
        table.add_column(figures.name, justify="right")
    for row in zip(_ROW_LABELS, *map(_format_cells, report.figures), strict=True):
        table.add_row(*row)
    Console().print(table)


def _format_cells(figures: Figures) -> list[str]:
    numbers = (
        figures.write_one,
        figures.write_many,
        figures.write_held,
        figures.answer_many,
        figures.read,
        figures.first_word,
        figures.return_new,
        figures.return_read,
        figures.return_stored,
        figures.rotation,
    )
    return ["" if number is None else f"{number:.3g}" for number in numbers]


def _print_targets(targets: Sequence[Target]) -> None:
    for target in targets:
        typer.echo(f"{'✓' if target.met else '✗ MISSED'} {target}")
