"""`aside models add`, `remove` and `verify`: manage the weights on this machine."""

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
    """Some files are damaged. They have been printed."""


def add(
    path: Annotated[Path, typer.Argument(help="A GGUF file, or the first part of a split one.")],
    name: Annotated[
        str | None, typer.Option(help="Its name (default: the name of the file).")
    ] = None,
    dialect: Annotated[
        str,
        typer.Option(
            help="`her`, `plain` for a model that was not trained on HER's format, or `stand-in` "
            "for a very small one."
        ),
    ] = "her",
    licence: Annotated[
        str, typer.Option(help="Its licence, shown by `aside models list`.")
    ] = "unknown",
    requirements: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Text of the prompt's Requirements section, with {character}."
        ),
    ] = None,
    config: Config = None,
) -> None:
    """Add your own GGUF file to the catalogue. The file is not moved."""
    from bot.documents import Fault, combine_faults, read_text
    from bot.errors import DocumentError
    from bot.weights import gguf_reader
    from bot.weights.catalogue import load_catalogue
    from bot.weights.installed import find_added_folder

    place = find_added_folder(get_weights_folder(read_settings(config)))
    header = gguf_reader.check_model(path.expanduser())[0]
    called = name or path.stem.replace(" ", "-")
    if called.casefold() in {known.casefold() for known in load_catalogue(added=place)}:
        raise UserInputError(f"The catalogue already has a model {called}. Choose another --name.")
    entry = {"name": called, "title": header.name, "source": f"file:{path.expanduser().resolve()}"}
    entry |= {"licence": licence, "dialect": dialect}
    if requirements:
        try:
            entry["requirements"] = read_text(requirements)
        except Fault as fault:
            raise combine_faults([fault], DocumentError) from None
    _write_entry(place / f"{called}.yaml", entry)
    typer.echo(
        f"Added {called} to the catalogue. Set `engine: {{model: {called}}}` in aside.yaml.",
        err=True,
    )


def _write_entry(file: Path, entry: dict[str, str]) -> None:
    """Write an entry of the catalogue and check it.

    Raise WeightsError if it can't be written, and UserInputError if it is invalid.
    """
    import yaml

    from bot.documents import read_document
    from bot.errors import DocumentError
    from bot.weights.catalogue import CatalogueEntry

    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(
            yaml.safe_dump(entry, allow_unicode=True, sort_keys=False), encoding="utf-8"
        )
        read_document(file, CatalogueEntry, DocumentError)
    except OSError as error:
        raise WeightsError(
            f"{file} can't be written ({error.strerror or error}). Check the folder's permissions."
        ) from error
    except DocumentError as error:
        file.unlink(missing_ok=True)
        raise UserInputError(
            f"{entry['name']} is not a valid entry. Choose a --name of letters and digits, and a "
            "--dialect."
        ) from error


def remove(
    model: Annotated[
        str,
        typer.Argument(
            help="A name from the catalogue, NAME:QUANTISATION or hf:OWNER/REPO/FILE.gguf."
        ),
    ],
    yes: Annotated[bool, typer.Option("--yes", help="Delete without asking.")] = False,
    config: Config = None,
) -> None:
    """Delete a model's files. Your own file is only removed from the catalogue."""
    from bot.weights import gguf_reader, hashes
    from bot.weights.installed import find_added_folder

    folder = get_weights_folder(read_settings(config))
    installed = _find_installed(model, folder)
    own = [one for one in installed if one.entry and one.entry.origin[0] == "file"]
    if own or (entry := _find_added(model, folder)):
        file = find_added_folder(folder) / f"{own[0].name if own else entry}.yaml"
        file.unlink(missing_ok=True)
        typer.echo(f"Removed {file.stem} from the catalogue. Its file is unchanged.", err=True)
        return
    deletable = [one for one in installed if one.entry is None or one.entry.origin[0] != "package"]
    if not deletable:
        raise UserInputError(
            f"{model} has no files to delete here. Run `aside models list` to see the models here."
        )
    size = sum(one.size for one in deletable)
    if not yes and not typer.confirm(
        f"Delete {', '.join(one.path.name for one in deletable)} ({format_size(size)})?", err=True
    ):
        raise typer.Abort
    for one in deletable:
        for part in gguf_reader.list_parts(one.path):
            part.unlink(missing_ok=True)
            part.with_name(f".{part.name}.lock").unlink(missing_ok=True)
            hashes.delete_sha256(part)
    typer.echo(f"Freed {format_size(size)}.", err=True)


def verify(
    model: Annotated[
        str | None, typer.Argument(help="A name or hf:… address (default: all models here).")
    ] = None,
    config: Config = None,
) -> None:
    """Check that the models here are complete and unchanged.

    The exit status is 1 if a model is damaged.
    """
    folder = get_weights_folder(read_settings(config))
    checked = _find_installed(model, folder) if model else _list_installed(folder)
    if model and not checked:
        raise UserInputError(
            f"{model} has no files here. Run `aside models list` to see the models here."
        )
    with ProgressBars() as bars:
        results = [(one, _find_damage(one, bars)) for one in checked]
    for one, fault in results:
        typer.echo(f"{one.name} {one.quantisation}: {fault or 'intact'}")
    if bad := sum(fault is not None for _, fault in results):
        raise DamagedModelsFound(
            f"{bad} of {len(results)} models are damaged. Remove them and download them again."
        )


def _find_damage(one: InstalledModel, bars: ProgressBars) -> str | None:
    """Return a sentence about the damage to a model's files, or None."""
    from bot.weights import gguf_reader, hashes

    try:
        for header in gguf_reader.check_model(one.path):
            if noted := hashes.load_sha256(header.path):
                bars.step(f"Checking {header.path.name}")
                if hashes.sha256(header.path, bars.progress) != noted:
                    return f"{header.path} has changed since its download (the hash differs)"
    except ModelFileError as error:
        return str(error)
    except OSError as error:
        return f"{one.path} can't be read ({error.strerror or error})"
    return None


def _list_installed(folder: Path) -> list[InstalledModel]:
    from bot.weights.catalogue import load_catalogue
    from bot.weights.installed import find_added_folder, list_installed

    return list(list_installed(load_catalogue(added=find_added_folder(folder)), folder))


def _find_installed(model: str, folder: Path) -> list[InstalledModel]:
    """Return the installed files of `model`."""
    from bot.weights.find_model import find_entry
    from bot.weights.paths import read_model_name

    model = read_model_name(model)
    if model.startswith("hf:"):
        return [one for one in _list_installed(folder) if _get_hub_name(one, folder) == model]
    entry, quantisation = find_entry(model, folder)
    here = [one for one in _list_installed(folder) if one.entry == entry]
    return [one for one in here if quantisation in (None, one.quantisation)]


def _get_hub_name(one: InstalledModel, folder: Path) -> str:
    """Return the hf:… address of a file, even if the catalogue has a name for it."""
    if not one.path.is_relative_to(folder):
        return one.name
    place, *rest = one.path.relative_to(folder).parts
    return f"hf:{place.replace('--', '/', 1)}/{'/'.join(rest)}"


def _find_added(model: str, folder: Path) -> str | None:
    """Return the name of an added entry whose file is gone."""
    from bot.weights.find_model import find_entry
    from bot.weights.paths import read_model_name

    if read_model_name(model).startswith("hf:"):
        return None
    entry, _ = find_entry(model, folder)
    return entry.name if entry.origin[0] == "file" else None
