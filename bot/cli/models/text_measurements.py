"""`aside models imatrix` and `perplexity`: run a text through a model."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer needs it at run time
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.console.progress import ProgressBars
from bot.cli.console.shared_options import AsJson, Config, read_settings, write_json
from bot.cli.models.calibration import (
    REPLIES,
    REPLY_TOKENS,
    CalibrationText,
    compute_matrix,
    prepare_run,
    require_texts,
)
from bot.cli.models.importance_source import warn_of_partial_data
from bot.cli.models.machine import format_size, get_weights_folder

if TYPE_CHECKING:
    from bot.weights.find_model import ModelSource

Model = Annotated[
    str, typer.Argument(help="A name from the catalogue, NAME:QUANTISATION or a file.")
]
Chunk = Annotated[int, typer.Option(min=32, max=8192, help="Tokens that are read at a time.")]


def imatrix(
    model: Model,
    text: Annotated[
        list[Path] | None,
        typer.Option(
            "--text",
            metavar="FILE",
            help="UTF-8 text to read (default: scenes that the model plays). Can be repeated.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", metavar="FILE", help="The matrix (default: for `build`)."),
    ] = None,
    replies: Annotated[
        int, typer.Option(min=1, max=1000, help="Replies to play for each shipped scenario.")
    ] = REPLIES,
    reply_tokens: Annotated[
        int, typer.Option(min=32, max=8192, help="Longest reply to play, in tokens.")
    ] = REPLY_TOKENS,
    chunk: Chunk = 512,
    config: Config = None,
) -> None:
    """Compute the importance matrix of a model.

    Small quantisations made with it are better. The algorithm and the file format are llama.cpp's.
    """
    from bot.weights.installed import importance_path

    settings = read_settings(config)
    calibration = CalibrationText(require_texts(text or ()), replies, reply_tokens)
    folder = get_weights_folder(settings)
    found = _find(model, folder)
    target = output or importance_path(_title(found.path), folder)
    with ProgressBars() as bars:
        run = prepare_run(found.path, settings, chunk)
        report = compute_matrix(run, calibration, target, bars, settings, _dialect(found))
    warn_of_partial_data(report.partial)
    typer.echo(str(target))
    typer.echo(f"Computed from {report.chunks} chunks of {chunk} tokens.", err=True)


def perplexity(
    model: Model,
    text: Annotated[
        list[Path],
        typer.Option("--text", metavar="FILE", help="UTF-8 text to read. Can be repeated."),
    ],
    chunk: Chunk = 512,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Measure how well a model predicts a text. Lower is better.

    Compare quantisations of one model with it, on a text that its importance matrix was not
    computed from. The procedure is llama.cpp's.
    """
    from bot.engine.calibration.measurements import measure_perplexity

    settings = read_settings(config)
    texts = require_texts(text)
    found = _find(model, get_weights_folder(settings))
    with ProgressBars() as bars:
        run = prepare_run(found.path, settings, chunk)
        bars.step("Measuring the perplexity", "chunks")
        measured = measure_perplexity(run, texts, progress=bars.progress)
    size = found.path.stat().st_size
    if as_json:
        write_json(
            {
                "model": str(found.path),
                "bytes": size,
                "perplexity": measured.value,
                "standard_error": measured.error,
                "tokens": measured.tokens,
                "chunks": measured.chunks,
            }
        )
        return
    typer.echo(
        f"{found.path.name} ({format_size(size)}): perplexity {measured.value:.3f} "
        f"± {measured.error:.3f} over {measured.tokens:,} tokens"
    )


def _find(model: str, folder: Path) -> ModelSource:
    from bot.weights.find_model import find_model

    return find_model(model, folder=folder, fetching=False)


def _title(path: Path) -> str:
    """Return a model's name: that of its file, without the quantisation."""
    from bot.weights.quantisation import parse_quantisation

    found = parse_quantisation(path.name)
    return path.stem[: -len(found)].rstrip("-.") if found else path.stem


def _dialect(found: ModelSource) -> str | None:
    """Return the dialect that the catalogue gives the model, or None if it is not in it."""
    return found.dialect if found.title else None
