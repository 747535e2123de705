"""`aside models add`, `remove` and `verify`: the weights on this machine."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer needs it at run time
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.console.progress import ProgressBars
from bot.cli.console.shared_options import Config, read_settings
from bot.cli.models.machine import format_size, get_weights_folder
from bot.errors import AsideError, ModelFileError, UserInputError, WeightsError

if TYPE_CHECKING:
    from bot.weights.installed import InstalledModel


class DamagedModelsFound(AsideError):
    """Files on this machine are not what they should be, which has been told."""


def add(
    path: Annotated[Path, typer.Argument(help="A GGUF file; of a split one the first part.")],
    name: Annotated[
        str | None, typer.Option(help="What to call it; left out, as its file.")
    ] = None,
    dialect: Annotated[
        str, typer.Option(help="`her`, or `stand-in` for one too small for HER's instructions.")
    ] = "her",
    licence: Annotated[str, typer.Option(help="Its licence, for `aside models list`.")] = "unknown",
    config: Config = None,
) -> None:
    """Add a GGUF file of yours to the catalogue. The file stays where it is."""
    import yaml

    from bot.documents import read_document
    from bot.errors import DocumentError
    from bot.weights import gguf_reader
    from bot.weights.catalogue import CatalogueEntry, catalogue
    from bot.weights.installed import added_folder

    place = added_folder(get_weights_folder(read_settings(config)))
    header = gguf_reader.check(path.expanduser())[0]
    called = name or path.stem.replace(" ", "-")
    if called.casefold() in {known.casefold() for known in catalogue(added=place)}:
        raise UserInputError(f"There is a model called {called} already: choose another --name.")
    entry = {"name": called, "title": header.name, "source": f"file:{path.expanduser().resolve()}"}
    entry |= {"licence": licence, "dialect": dialect}
    file = place / f"{called}.yaml"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(
            yaml.safe_dump(entry, allow_unicode=True, sort_keys=False), encoding="utf-8"
        )
        read_document(file, CatalogueEntry, DocumentError)
    except OSError as error:
        raise WeightsError(f"{file} couldn't be written ({error.strerror or error}).") from error
    except DocumentError as error:
        file.unlink(missing_ok=True)
        raise UserInputError(
            f"{called} can't be added: choose a --name of letters and digits, and a --dialect."
        ) from error
    typer.echo(
        f"{called} is in the catalogue: set `engine: {{model: {called}}}` in aside.yaml.", err=True
    )


def remove(
    model: Annotated[
        str,
        typer.Argument(
            help="A name of the catalogue, NAME:QUANTISATION, or hf:OWNER/REPO/FILE.gguf."
        ),
    ],
    yes: Annotated[bool, typer.Option("--yes", help="Don't ask.")] = False,
    config: Config = None,
) -> None:
    """Delete a model's files from this machine, or take a file of yours out of the catalogue without deleting it."""
    from bot.weights import gguf_reader, hashes
    from bot.weights.installed import added_folder

    folder = get_weights_folder(read_settings(config))
    meant = _find_installed(model, folder)
    own = [one for one in meant if one.entry and one.entry.origin[0] == "file"]
    if own or (entry := _find_added(model, folder)):
        file = added_folder(folder) / f"{own[0].name if own else entry}.yaml"
        file.unlink(missing_ok=True)
        typer.echo(f"{file.stem} is out of the catalogue; its file is where it was.", err=True)
        return
    deletable = [one for one in meant if one.entry is None or one.entry.origin[0] != "package"]
    if not deletable:
        raise UserInputError(
            f"Nothing of {model} is on this machine that could be deleted (`aside models list`)."
        )
    size = sum(one.size for one in deletable)
    if not yes and not typer.confirm(
        f"Delete {', '.join(one.path.name for one in deletable)} ({format_size(size)})?", err=True
    ):
        raise typer.Abort
    for one in deletable:
        for part in gguf_reader.parts(one.path):
            part.unlink(missing_ok=True)
            part.with_name(f".{part.name}.lock").unlink(missing_ok=True)
            hashes.forget(part)
    typer.echo(f"{format_size(size)} are free again.", err=True)


def verify(
    model: Annotated[
        str | None, typer.Argument(help="A name or hf:… address; left out, everything here.")
    ] = None,
    config: Config = None,
) -> None:
    """Check files on this machine: whole, a GGUF, and of the hash they had when they came. Status 1 where any isn't."""
    folder = get_weights_folder(read_settings(config))
    checked = _find_installed(model, folder) if model else _list_installed(folder)
    if model and not checked:
        raise UserInputError(f"Nothing of {model} is on this machine (`aside models list`).")
    with ProgressBars() as bars:
        told = [(one, _find_damage(one, bars)) for one in checked]
    for one, fault in told:
        typer.echo(f"{one.name} {one.quantisation}: {fault or 'whole'}")
    if bad := sum(fault is not None for _, fault in told):
        raise DamagedModelsFound(
            f"{bad} of {len(told)} models are spoilt: remove them and fetch them again."
        )


def _find_damage(one: InstalledModel, bars: ProgressBars) -> str | None:
    """What is wrong with a model's files, if anything."""
    from bot.weights import gguf_reader, hashes

    try:
        for header in gguf_reader.check(one.path):
            if noted := hashes.noted(header.path):
                bars.step(f"Checking {header.path.name}")
                if hashes.sha256(header.path, bars.progress) != noted:
                    return f"{header.path} is not what it was when it came (its hash is another)"
    except ModelFileError as error:
        return str(error)
    except OSError as error:
        return f"{one.path} can't be read ({error.strerror or error})"
    return None


def _list_installed(folder: Path) -> list[InstalledModel]:
    from bot.weights.catalogue import catalogue
    from bot.weights.installed import added_folder, stock

    return list(stock(catalogue(added=added_folder(folder)), folder))


def _find_installed(model: str, folder: Path) -> list[InstalledModel]:
    """The files that `model` names."""
    from bot.weights.find_model import entry_named

    if model.startswith("hf:"):
        return [one for one in _list_installed(folder) if _get_hub_name(one, folder) == model]
    entry, quantisation = entry_named(model, folder)
    here = [one for one in _list_installed(folder) if one.entry == entry]
    return [one for one in here if quantisation in (None, one.quantisation)]


def _get_hub_name(one: InstalledModel, folder: Path) -> str:
    """What a file is called by the repository it is kept for, whether or not the catalogue has a name for it."""
    if not one.path.is_relative_to(folder):
        return one.name
    place, *rest = one.path.relative_to(folder).parts
    return f"hf:{place.replace('--', '/', 1)}/{'/'.join(rest)}"


def _find_added(model: str, folder: Path) -> str | None:
    """The name of an entry that somebody added, whose file is gone."""
    from bot.weights.find_model import entry_named

    if model.startswith("hf:"):
        return None
    entry, _ = entry_named(model, folder)
    return entry.name if entry.origin[0] == "file" else None
