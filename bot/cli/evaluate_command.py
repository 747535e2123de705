"""`aside eval`: measure how well a model acts."""

from __future__ import annotations

import asyncio
import os
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from bot.cli.console.shared_options import AsJson, Config, open_library, read_settings, write_json

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bot.engine.protocol import Engine
    from bot.evaluation.chat_model import ChatModel
    from bot.evaluation.coser_run import CoserReport
    from bot.evaluation.form_run import FormResult
    from bot.settings import Settings

evaluate = typer.Typer(help="Measure how well a model acts.", no_args_is_help=True)

_JUDGE_KEY: Final = "JUDGE_API_KEY"  # a variable, so that the key is in no process list

Seed = Annotated[int, typer.Option(min=0, help="Random seed. The same seed gives the same scenes.")]
JournalFile = Annotated[
    Path | None,
    typer.Option(
        "--journal",
        metavar="FILE",
        help="File for finished steps. An interrupted run continues from it.",
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        min=1, max=64, help="Scenes at the same time (default: as many as the engine can)."
    ),
]
Models = Annotated[
    list[str] | None,
    typer.Option("--model", help="Name or path of a model. Repeat it to compare several."),
]


@evaluate.command()
def form(
    scenarios: Annotated[
        list[str] | None, typer.Argument(help="Scenarios to play (default: all in the library).")
    ] = None,
    models: Models = None,
    rounds: Annotated[int, typer.Option(min=1, max=200, help="Replies per scenario.")] = 10,
    seed: Seed = 0,
    jobs: Jobs = None,
    journal: JournalFile = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Measure the form of replies, without a judge.

    The characters of each scenario play among themselves. The report shows how many replies have
    speech, keep to HER's format and to the scene's language, and how much they repeat.
    """
    from bot.cli.lookup import find_scenario

    settings = read_settings(config)
    library = open_library(settings)
    names = scenarios or [summary.id for summary in library.summaries()]
    chosen = [find_scenario(name, library) for name in names]

    async def run(model: str | None) -> FormResult:
        from bot.evaluation.form_run import FormOptions, run_form
        from bot.evaluation.journal import Journal

        async with AsyncExitStack() as stack:
            engine = await _start(settings, model, stack)
            options = FormOptions(rounds, seed, jobs or engine.info.minds)
            return await run_form(engine, chosen, options, Journal(journal), _count("scenes"))

    named: list[str | None] = [*models] if models else [None]
    results = [asyncio.run(run(model)) for model in named]
    if as_json:
        write_json([result.to_json() for result in results])
    else:
        _print_form(results)


@evaluate.command()
def coser(
    file: Annotated[Path, typer.Argument(help="Scenes in CoSER's JSON format.")],
    judge_url: Annotated[
        str | None,
        typer.Option(
            "--judge-url",
            metavar="URL",
            help="OpenAI-compatible server of the judge (default: the model judges itself).",
        ),
    ] = None,
    judge_model: Annotated[
        str | None, typer.Option("--judge-model", help="The judge's model name on that server.")
    ] = None,
    model: Annotated[str | None, typer.Option(help="Name or path of the model to test.")] = None,
    scenes: Annotated[int | None, typer.Option(min=1, help="Use only the first N scenes.")] = None,
    rounds: Annotated[int, typer.Option(min=1, max=20, help="Most turns in a conversation.")] = 20,
    seed: Seed = 0,
    jobs: Jobs = None,
    journal: JournalFile = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Score the model by CoSER's given-circumstance acting.

    The model plays every character of each scene. Then a judge looks for flaws in four
    dimensions. The judge also directs the scenes and describes the environment. If its server
    needs a key, set the environment variable JUDGE_API_KEY.
    """
    from bot.evaluation.acting_scenes import read_acting_scenes
    from bot.evaluation.coser_run import CoserOptions, run_coser
    from bot.evaluation.journal import Journal
    from bot.evaluation.self_play import Company

    if bool(judge_url) != bool(judge_model):
        raise typer.BadParameter("Give --judge-url and --judge-model together.")
    settings = read_settings(config)
    chosen, errors = read_acting_scenes(file)
    for error in errors:
        typer.echo(f"Skipped: {error}", err=True)

    async def run() -> CoserReport:
        async with AsyncExitStack() as stack:
            engine = await _start(settings, model, stack)
            judge = await _judge(engine, judge_url, judge_model, stack)
            options = CoserOptions(rounds, seed, jobs or engine.info.minds)
            company = Company(engine, director=judge, narrator=judge)
            return await run_coser(
                chosen[:scenes], company, judge, options, Journal(journal), _count("steps")
            )

    report = asyncio.run(run())
    if as_json:
        write_json(report.to_json())
    else:
        _print_coser(report)


async def _start(settings: Settings, model: str | None, stack: AsyncExitStack) -> Engine:
    from bot.engine_factory import create_engine
    from bot.settings import LocalEngineSettings

    if model is not None:
        chosen = settings.engine
        engine_settings = (
            chosen.model_copy(update={"model": model})
            if isinstance(chosen, LocalEngineSettings)
            else LocalEngineSettings(model=model)
        )
        settings = settings.model_copy(update={"engine": engine_settings})
    engine = create_engine(settings)
    stack.push_async_callback(engine.close)
    typer.echo("Loading the model …", err=True)
    await engine.start()
    return engine


async def _judge(
    engine: Engine, url: str | None, model: str | None, stack: AsyncExitStack
) -> ChatModel:
    from bot.evaluation.chat_model import Endpoint, EndpointChat, EngineChat

    if url is None or model is None:
        typer.echo("The model judges itself. Use --judge-url for a stronger judge.", err=True)
        return EngineChat(engine)
    return await stack.enter_async_context(
        EndpointChat(Endpoint(url, model, os.environ.get(_JUDGE_KEY)))
    )


def _count(unit: str) -> Callable[[int, int], None]:
    """Return a callback that prints the progress and the time left, at most once per second."""
    began = printed = time.monotonic()

    def show(done: int, total: int) -> None:
        nonlocal printed
        now = time.monotonic()
        if done < total and now - printed < 1:
            return
        printed = now
        left = (now - began) / done * (total - done)
        typer.echo(f"{done} of {total} {unit}, {left:.0f} s left", err=True)

    return show


_FORM_ROWS = (
    ("replies", "replies", "{:.0f}"),
    ("with speech", "speech", "{:.0%}"),
    ("planning closed by the model", "planning_closed", "{:.0%}"),
    ("own name exactly once", "name_once", "{:.0%}"),
    ("no lines for others", "no_other_lines", "{:.0%}"),
    ("in the scene's language", "language_kept", "{:.0%}"),
    ("distinct words (distinct-1)", "distinct_1", "{:.2f}"),
    ("distinct pairs (distinct-2)", "distinct_2", "{:.2f}"),
    ("distinct triples (distinct-3)", "distinct_3", "{:.2f}"),
    ("longest repeated span, words", "longest_repeat", "{:.0f}"),
    ("words per reply (median)", "words", "{:.0f}"),
    ("thoughts per reply", "thoughts", "{:.1f}"),
    ("actions per reply", "actions", "{:.1f}"),
    ("seconds per reply (median)", "seconds", "{:.1f}"),
    ("tokens per second", "tokens_per_second", "{:.1f}"),
)


def _print_form(results: Sequence[FormResult]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("")
    for result in results:
        table.add_column(result.model, justify="right")
    for title, field, pattern in _FORM_ROWS:
        cells = (
            pattern.format(getattr(result.report, field)) if result.report else "–"
            for result in results
        )
        table.add_row(title, *cells)
    table.add_row("replies that stayed empty", *(str(one.empty_replies) for one in results))
    Console().print(table)


def _print_coser(report: CoserReport) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for column in ("", "score", "95 % interval", "scenes"):
        table.add_column(column, justify="right" if column else "left")
    rows = [*report.dimensions.items()]
    if report.average:
        rows.append(("Average", report.average))
    for name, one in rows:
        table.add_row(name, f"{one.mean:.1f}", f"{one.low:.1f} to {one.high:.1f}", str(one.count))
    console = Console()
    console.print(f"{report.model}, judged by {report.judge}")
    console.print(table)
    for reason, count in report.judge_failures.items():
        console.print(f"The judge failed {count} times: {reason}")
    if report.empty_replies:
        console.print(f"{report.empty_replies} replies stayed empty.")
    if report.invalid_predictions:
        console.print(f"{report.invalid_predictions} predictions of the next speaker were invalid.")
