"""`aside setup`: from nothing to a bot that can be started. Every question can be answered by an option."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.models.machine import VRam, format_size, get_weights_folder, measure_memory
from bot.errors import UserInputError

if TYPE_CHECKING:
    from bot.weights.catalogue import CatalogueEntry
    from bot.weights.fit import Fit

_ENV, _YAML = Path(".env"), Path("aside.yaml")
_PORTAL = "https://discord.com/developers/applications"


def setup(
    token: Annotated[
        str | None,
        typer.Option(
            "--token", metavar="TOKEN|-", help="The bot's token; -: read it from standard input."
        ),
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="A name, file or hf:… address; `none`: the demo for now.")
    ] = None,
    get: Annotated[
        bool | None, typer.Option("--get/--no-get", help="Fetch or build the model now.")
    ] = None,
    guild: Annotated[
        list[int] | None, typer.Option(help="Id of a server to play on; left out: all.")
    ] = None,
    proxy: Annotated[
        str | None, typer.Option(metavar="URL", help="Proxy for everything that goes to Discord.")
    ] = None,
    vram: VRam = None,
    yes: Annotated[
        bool,
        typer.Option(
            "--yes", help="Ask nothing: take what is proposed, and fetch only with --get."
        ),
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Write aside.yaml anew where there is one.")
    ] = False,
    offline: Annotated[
        bool, typer.Option("--offline", help="Don't ask Discord about the token.")
    ] = False,
) -> None:
    """Set Aside up here: the token into .env, a commented aside.yaml, and a model that fits this machine."""
    from bot.cli.setup.initial_files import write_settings

    _set_token(token, proxy, asking=not yes, offline=offline)
    chosen = _choose_model(model, vram, asking=not yes)
    if (
        not _YAML.exists()
        or force
        or (not yes and typer.confirm(f"Write {_YAML} anew?", default=False, err=True))
    ):
        write_settings(_YAML, model=chosen, proxy=proxy, guilds=guild or ())
        typer.echo(f"{_YAML} is written; every setting is explained in it.")
    else:
        typer.echo(
            f"{_YAML} is left as it is: set `engine: {{model: {chosen or 'demo'}}}` in it yourself."
        )
    if chosen is not None:
        _get_model(chosen, get, asking=not yes)
    typer.echo("Next: `aside doctor` looks everything over, `aside run` brings the bot online.")


def _set_token(given: str | None, proxy: str | None, *, asking: bool, offline: bool) -> None:
    """Check the token and store it; tell how to invite the bot and what to switch on."""
    from bot.cli.setup.account import fetch_account
    from bot.cli.setup.initial_files import write_token
    from bot.settings import TOKEN

    token = _read_token(given, asking=asking)
    account = None if offline else asyncio.run(fetch_account(token, proxy))
    write_token(_ENV, TOKEN, token)
    typer.echo(f"The token is in {_ENV}, which only you can read.")
    if account is None:
        typer.echo(
            "`aside doctor` prints the link that invites the bot, once Discord can be asked."
        )
        return
    typer.echo(
        f"It is {account.name}'s. This link invites it with the permissions it needs, and no more:"
    )
    typer.echo(f"    {account.invitation}")
    if account.message_content:
        typer.echo(
            "The Message Content intent is on, so it can read what players say. No other intent is needed."
        )
    else:
        typer.echo(
            f"Switch on “Message Content Intent” for it (under Bot, at {_PORTAL}): without that it can't read what "
            "players say. No other privileged intent is needed."
        )


def _read_token(given: str | None, *, asking: bool) -> str:
    """The token: as given, from the environment, or asked for without echo. Raises UserInputError."""
    from bot.settings import TOKEN
    from bot.settings.value_types import clean_secret

    text = (
        typer.get_text_stream("stdin").readline()
        if given == "-"
        else given or os.environ.get(TOKEN, "")
    )
    if not text and asking:
        typer.echo(
            f"Make an application at {_PORTAL}; under Bot, reset and copy its token.", err=True
        )
        text = typer.prompt("The bot's token (it is not shown)", hide_input=True, err=True)
    try:
        token = clean_secret(text)
    except ValueError as error:
        raise UserInputError(f"This is no token: {error}.") from None
    if not token:
        raise UserInputError(
            f"There is no token: give it with --token - on standard input, or as {TOKEN}."
        )
    return token


def _choose_model(given: str | None, vram: list[str] | None, *, asking: bool) -> str | None:
    """What the settings shall call the model; None: the demo. Raises UserInputError where there is no such model."""
    if given is not None:
        return _require_known_model(given)
    proposal = _propose_model(vram)
    if proposal is None:
        typer.echo(
            "No model but the demo fits this machine well: it is a stand-in that shows how Aside works."
        )
        return None
    entry, fit = proposal
    quantisation = "" if fit.quantisation == entry.quantisation else f":{fit.quantisation}"
    name = f"{entry.name}{quantisation}"
    typer.echo(f"For this machine: {name}, {format_size(fit.size)}, {fit.plan}. {entry.note}")
    return (
        _require_known_model(typer.prompt("The model", default=name, err=True)) if asking else name
    )


def _propose_model(vram: list[str] | None) -> tuple[CatalogueEntry, Fit] | None:
    from bot.settings import load_settings
    from bot.weights.catalogue import catalogue
    from bot.weights.fit import fits, layouts_of, proposed
    from bot.weights.installed import added_folder
    from bot.weights.memory_plan import PlanRequest

    entries = catalogue(added=added_folder(get_weights_folder(load_settings())))
    memory = measure_memory(vram)
    found = {
        name: fits(one, memory, PlanRequest())
        for name, one in layouts_of(list(entries.values())).items()
    }
    return proposed(found, entries)


def _require_known_model(model: str) -> str | None:
    from bot.settings import load_settings
    from bot.weights.find_model import entry_named
    from bot.weights.paths import HubFile

    model = model.strip()
    if model.casefold() in ("none", "demo", ""):
        return None
    if model.startswith("hf:"):
        HubFile.parse(model[3:])
    elif not Path(model).expanduser().is_file():
        entry_named(model, get_weights_folder(load_settings()))
    return model


def _get_model(model: str, get: bool | None, *, asking: bool) -> None:
    """Fetch or build the model, where it isn't here and somebody wants it now."""
    from bot.cli.models.fetch import build_model, download_model
    from bot.errors import ModelFileError
    from bot.settings import load_settings
    from bot.weights.find_model import entry_named, resolve

    folder = get_weights_folder(load_settings())
    try:
        resolve(model, folder=folder, fetching=False)
        return
    except ModelFileError:
        pass
    building = not model.startswith("hf:") and entry_named(model, folder)[0].source is None
    does = "build" if building else "pull"
    if get is None and asking:
        get = typer.confirm(f"{'Build' if building else 'Fetch'} it now?", default=True, err=True)
    if not get:
        typer.echo(f"`aside models {does} {model}` gets the model.")
    elif building:
        build_model(model, None, folder)
    else:
        download_model(model, None, folder)
