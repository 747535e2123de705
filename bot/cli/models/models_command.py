"""`aside models`: list, measure, download, build and remove models."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.cli.console.shared_options import AsJson, Config, read_settings, write_json
from bot.cli.models.fetch import build, pull
from bot.cli.models.machine import (
    VRam,
    build_plan_request,
    format_size,
    get_weights_folder,
    measure_memory,
)
from bot.cli.models.manage import add, remove, verify
from bot.cli.models.text_measurements import imatrix, perplexity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from bot.settings import Settings
    from bot.weights.catalogue import CatalogueEntry
    from bot.weights.fit import Fit
    from bot.weights.installed import InstalledModel

models = typer.Typer(help="List, measure, download, build and remove models.", no_args_is_help=True)
for command in (pull, build, add, remove, verify, imatrix, perplexity):
    models.command()(command)

_ANY_OTHER = (
    "Any other GGUF file works too. Set engine.model to its path or to hf:OWNER/REPO/FILE.gguf, or "
    "name it with `aside models add PATH`."
)


@models.command("list")
def list_(vram: VRam = None, config: Config = None, as_json: AsJson = False) -> None:
    """List the models of the catalogue. Shows which are on this machine and which fit it."""
    from bot.weights.catalogue import load_catalogue
    from bot.weights.installed import find_added_folder, list_installed

    settings = read_settings(config)
    folder = get_weights_folder(settings)
    entries = load_catalogue(added=find_added_folder(folder))
    here = list_installed(entries, folder)
    found = _measure_fits(list(entries.values()), settings, vram)
    if as_json:
        write_json([_to_json(entry, here, found.get(entry.name, ())) for entry in entries.values()])
        return
    _print_list(entries.values(), here, found)
    for one in here:
        if one.entry is None:
            typer.echo(f"Also here: {one.name}, {format_size(one.size)}")
    typer.echo(_ANY_OTHER, err=True)


@models.command()
def show(
    model: Annotated[str, typer.Argument(help="A name from the catalogue.")],
    vram: VRam = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Show a model's source, licence, dialect, sampling and sizes."""
    from bot.weights.find_model import find_entry
    from bot.weights.installed import list_installed

    settings = read_settings(config)
    folder = get_weights_folder(settings)
    entry, _ = find_entry(model, folder)
    here = list_installed({entry.name: entry}, folder)
    found = _measure_fits([entry], settings, vram).get(entry.name, ())
    if as_json:
        write_json(_to_json(entry, here, found))
        return
    typer.echo("\n".join(_describe(entry, here)))
    if found:
        _print_fits(found)


@models.command()
def fit(
    model: Annotated[
        str | None,
        typer.Argument(
            help="A name, file or hf:… address (default: the configured model, or all)."
        ),
    ] = None,
    vram: VRam = None,
    context: Annotated[
        int | None, typer.Option(min=512, help="Require room for this many tokens for each mind.")
    ] = None,
    minds: Annotated[
        int | None, typer.Option(min=1, help="Require room for this many replies at once.")
    ] = None,
    offline: Annotated[
        bool, typer.Option("--offline", help="Don't ask Hugging Face for the model's dimensions.")
    ] = False,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Show the memory that each quantisation needs, and the best one. Loads no model."""
    from bot.weights.fit import plan_quantisations
    from bot.weights.model_headers import TIMEOUT, measure

    settings = read_settings(config)
    chosen = model or (
        settings.engine.model if settings.model_chosen and settings.engine.kind == "local" else None
    )
    if chosen is None:
        list_(vram, config, as_json)
        return
    measured = measure(chosen, get_weights_folder(settings), patience=0 if offline else TIMEOUT)
    found = plan_quantisations(
        measured.layouts, measure_memory(vram), build_plan_request(settings, context, minds)
    )
    if as_json:
        fitted = [_fit_to_json(one) for one in found]
        write_json(
            {"model": measured.name, "measured_by": measured.source, "quantisations": fitted}
        )
        return
    typer.echo(f"{measured.name}, measured by {measured.source}")
    _print_fits(found)


def _measure_fits(
    entries: Sequence[CatalogueEntry], settings: Settings, vram: Sequence[str] | None
) -> dict[str, tuple[Fit, ...]]:
    """Return the fits of all entries with known dimensions or a file on this machine."""
    from bot.weights import gguf_reader
    from bot.weights.fit import estimate_headers, plan_quantisations
    from bot.weights.installed import find_files

    folder = get_weights_folder(settings)
    memory = measure_memory(vram)
    request = build_plan_request(settings)
    layouts = estimate_headers(entries)
    for entry in entries:
        if entry.dimensions is None and (files := find_files(entry, folder)):
            layouts[entry.name] = {
                one: gguf_reader.check_model(path) for one, path in files.items()
            }
    return {name: plan_quantisations(one, memory, request) for name, one in layouts.items()}


def _to_json(
    entry: CatalogueEntry, here: Sequence[InstalledModel], found: Sequence[Fit]
) -> dict[str, Any]:
    files = [
        {"quantisation": one.quantisation, "path": str(one.path), "bytes": one.size}
        for one in here
        if one.entry == entry
    ]
    fields = entry.model_dump(mode="json", exclude={"dimensions"})
    return fields | {"here": files, "fits": [_fit_to_json(one) for one in found]}


def _fit_to_json(one: Fit) -> dict[str, Any]:
    return asdict(one) | {"on_gpu": one.whole, "plan_in_words": str(one.plan) if one.plan else None}


def _print_list(
    entries: Iterable[CatalogueEntry],
    here: Sequence[InstalledModel],
    found: dict[str, tuple[Fit, ...]],
) -> None:
    from rich.console import Console
    from rich.table import Column, Table
    from rich.text import Text

    table = Table(
        Column("Model", no_wrap=True),
        "Licence",
        Column("Plays as", no_wrap=True),
        "Here",
        "Best for this machine",
        box=None,
    )
    for entry in entries:
        files = [
            f"{one.quantisation or 'a file'} ({format_size(one.size)})"
            for one in here
            if one.entry == entry
        ]
        plays = ("a stand-in" if entry.stand_in else "HER") if entry.acts else "(a judge)"
        cells = (
            entry.name,
            entry.licence,
            plays,
            ", ".join(files) or "-",
            _describe_best(found.get(entry.name, ())),
        )
        table.add_row(*(Text(cell) for cell in cells))
    Console(highlight=False).print(table)


def _describe_best(found: Sequence[Fit]) -> str:
    if best := next((one for one in found if one.best), None):
        return f"{best.quantisation}, {_describe_run(best)}"
    least = min((one.lacking for one in found), default=0)
    return f"needs {format_size(least)} more memory" if found else "unknown until it is downloaded"


def _describe_run(one: Fit) -> str:
    """Describe in a few words how a model runs, or how much memory is missing."""
    if one.plan is None:
        return f"needs {format_size(one.lacking)} more"
    minds = f"{one.plan.minds} minds" if one.plan.minds > 1 else "1 mind"
    return f"{_describe_device(one)}, {minds} of {one.plan.context:,} tokens"


def _describe_device(one: Fit) -> str:
    if one.plan is None or not one.plan.gpu_layers:
        return "on the CPU"
    return "all on the GPU" if one.whole else f"{one.plan.gpu_layers} of {one.plan.layers} on GPU"


def _print_fits(found: Sequence[Fit]) -> None:
    from rich.console import Console
    from rich.table import Column, Table
    from rich.text import Text

    from bot.weights.quantisation import NEEDS_IMPORTANCE

    names = ("Weights", "Cache", "Work", "Left", "Minds", "Tokens")
    numbers = [Column(name, justify="right", no_wrap=True) for name in names]
    table = Table(
        Column("", min_width=1, no_wrap=True),  # a narrow terminal must not hide the arrow
        Column("GiB", no_wrap=True),
        *numbers,
        Column("How it runs", no_wrap=True),
        box=None,
        pad_edge=False,
    )
    for one in found:
        plan = one.plan
        taken = (
            (plan.weights_bytes, plan.cache_bytes, plan.work_bytes, one.left)
            if plan
            else (one.size,)
        )
        cells = [f"{size / 2**30:.1f}" for size in taken] + ["-"] * (4 - len(taken))
        cells += (
            [str(plan.minds), f"{plan.context:,}", f"{_describe_device(one)}, {plan.cache_type}"]
            if plan
            else ["-", "-", _describe_run(one)]
        )
        name = f"{one.quantisation}{'*' if one.quantisation in NEEDS_IMPORTANCE else ''}"
        table.add_row(*map(Text, ("→" if one.best else "", name, *cells)))
    Console(highlight=False).print(table)
    if any(one.quantisation in NEEDS_IMPORTANCE for one in found):
        typer.echo("* needs an importance matrix: `aside models build … --imatrix auto`")


def _describe(entry: CatalogueEntry, here: Sequence[InstalledModel]) -> Iterator[str]:
    yield f"{entry.title} ({entry.name}), {entry.licence}"
    if entry.source:
        yield f"GGUF: {entry.source}"
    if entry.checkpoint:
        yield f"Safetensors: hf:{entry.checkpoint}"
    prompted = {
        "her": "HER's own layout",
        "plain": "HER's structure in plain words, with examples",
        "stand-in": "a short prompt and a tight grammar",
    }[entry.dialect]
    yield f"Prompt: {prompted}" + (" (a stand-in for HER)" if entry.stand_in else "")
    sampling = entry.sampling.model_dump(exclude_defaults=False)
    yield "Sampling: " + ", ".join(f"{name} {value:g}" for name, value in sampling.items())
    for one in here:
        yield f"Here: {one.path} ({format_size(one.size)})"
    if entry.note:
        yield entry.note
