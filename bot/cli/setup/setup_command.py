"""`aside setup`: configure a bot step by step. An option can answer every question."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.models.machine import VRam, format_size, get_weights_folder, measure_memory
from bot.errors import UserInputError

if TYPE_CHECKING:
    from bot.settings import Settings
    from bot.weights.catalogue import CatalogueEntry
    from bot.weights.fit import Fit

_ENV = Path(".env")
_YAML = Path("aside.yaml")
_PORTAL = "https://discord.com/developers/applications"


def setup(
    token: Annotated[
        str | None,
        typer.Option(
            "--token", metavar="TOKEN|-", help="The bot's token (-: read it from standard input)."
        ),
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="Name, file or hf:… address of a model, or `demo`.")
    ] = None,
    get: Annotated[
        bool | None, typer.Option("--get/--no-get", help="Download or build the model now.")
    ] = None,
    guild: Annotated[
        list[int] | None, typer.Option(help="Id of a server to play on (default: all).")
    ] = None,
    proxy: Annotated[
        str | None, typer.Option(metavar="URL", help="Proxy for all traffic to Discord.")
    ] = None,
    vram: VRam = None,
    yes: Annotated[
        bool,
        typer.Option(
            "--yes", help="Accept all suggestions without asking. Download only with --get."
        ),
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite an existing aside.yaml.")
    ] = False,
    offline: Annotated[
        bool, typer.Option("--offline", help="Don't check the token with Discord.")
    ] = False,
) -> None:
    """Set up Aside in this folder.

    It asks for the token, writes a commented aside.yaml, and suggests a model that fits.
    """
    from bot.cli.setup.initial_files import write_settings

    _set_token(token, proxy, asking=not yes, offline=offline)
    chosen = _choose_model(model, vram, asking=not yes)
    if (
        not _YAML.exists()
        or force
        or (not yes and typer.confirm(f"Overwrite {_YAML}?", default=False, err=True))
    ):
        write_settings(_YAML, model=chosen, proxy=proxy, guilds=guild or ())
        typer.echo(f"Wrote {_YAML}. Its comments explain the settings.")
    else:
        typer.echo(
            f"{_YAML} is unchanged. Set `engine: {{model: {chosen or 'demo'}}}` in it yourself."
        )
    if chosen is not None:
        _get_model(chosen, get, asking=not yes)
    typer.echo("Next: run `aside doctor` to check everything, then `aside run` to start the bot.")


def _set_token(given: str | None, proxy: str | None, *, asking: bool, offline: bool) -> None:
    """Check the token and store it. Print the invite link and the intents to switch on."""
    from bot.cli.setup.account import fetch_account
    from bot.cli.setup.initial_files import write_token
    from bot.settings import TOKEN

    token = _read_token(given, asking=asking)
    account = None if offline else asyncio.run(fetch_account(token, proxy))
    write_token(_ENV, TOKEN, token)
    typer.echo(f"Stored the token in {_ENV}, which only you can read.")
    if account is None:
        typer.echo("Run `aside doctor` when you are online to get the bot's invite link.")
        return
    typer.echo(
        f"The bot is {account.name}. This link invites it with only the permissions that it needs:"
    )
    typer.echo(f"    {account.invitation}")
    if account.message_content:
        typer.echo(
            "The Message Content intent is on, so the bot can read the players' messages. It "
            "needs no other intent."
        )
    else:
        typer.echo(
            f"Switch on “Message Content Intent” under Bot at {_PORTAL}. Without it the bot can't "
            "read the players' messages. It needs no other privileged intent."
        )


def _read_token(given: str | None, *, asking: bool) -> str:
    """Return the token from the option, the environment or a hidden prompt.

    Raises UserInputError if the token is missing or malformed.
    """
    from bot.settings import TOKEN
    from bot.settings.bot_token import require_bot_token
    from bot.settings.value_types import clean_secret

    text = (
        typer.get_text_stream("stdin").readline()
        if given == "-"
        else given or os.environ.get(TOKEN, "")
    )
    if not text and asking:
        typer.echo(
            f"Create an application at {_PORTAL}. Under Bot, reset and copy its token.", err=True
        )
        text = typer.prompt("The bot's token (it is not shown)", hide_input=True, err=True)
    try:
        if token := clean_secret(text):
            return require_bot_token(token)
    except ValueError as error:
        raise UserInputError(f"The token can't be used: {error}.") from None
    raise UserInputError(
        f"The token is missing. Pass it with --token - on standard input, or set {TOKEN}."
    )


def _choose_model(given: str | None, vram: list[str] | None, *, asking: bool) -> str | None:
    """Return the model's name for the settings, or None for the demo.

    Raises UserInputError if the model does not exist.
    """
    if given is not None:
        return _require_known_model(given)
    proposal = _propose_model(vram)
    if proposal is None:
        typer.echo(
            "Only the demo model fits this machine well. It is a small stand-in that shows how "
            "Aside works."
        )
        return None
    entry, fit = proposal
    quantisation = "" if fit.quantisation == entry.quantisation else f":{fit.quantisation}"
    name = f"{entry.name}{quantisation}"
    typer.echo(f"Best for this machine: {name}, {format_size(fit.size)}, {fit.plan}. {entry.note}")
    return (
        _require_known_model(typer.prompt("The model", default=name, err=True)) if asking else name
    )


def _needs_importance(model: str) -> bool:
    from bot.weights.find_model import find_entry
    from bot.weights.quantisation import NEEDS_IMPORTANCE

    entry, quantisation = find_entry(model, _find_weights_folder())
    return (quantisation or entry.quantisation) in NEEDS_IMPORTANCE


def _find_weights_folder() -> Path:
    return get_weights_folder(_load_settings())


def _load_settings() -> Settings:
    from bot.settings import load_settings

    return load_settings(warn=lambda _: None)  # `aside doctor` shows warnings


def _propose_model(vram: list[str] | None) -> tuple[CatalogueEntry, Fit] | None:
    from bot.weights.catalogue import load_catalogue
    from bot.weights.fit import estimate_headers, plan_quantisations, propose_model
    from bot.weights.installed import find_added_folder
    from bot.weights.memory_plan import PlanRequest

    entries = load_catalogue(added=find_added_folder(_find_weights_folder()))
    memory = measure_memory(vram)
    found = {
        name: plan_quantisations(one, memory, PlanRequest())
        for name, one in estimate_headers(list(entries.values())).items()
    }
    return propose_model(found, entries)


def _require_known_model(model: str) -> str | None:
    from bot.weights.find_model import find_entry
    from bot.weights.paths import HubFile, read_model_name

    model = read_model_name(model)
    if model.casefold() in ("none", "demo", ""):
        return None
    if model.startswith("hf:"):
        HubFile.parse(model[3:])
    elif not Path(model).expanduser().is_file():
        find_entry(model, _find_weights_folder())
    return model


def _get_model(model: str, get: bool | None, *, asking: bool) -> None:
    """Download or build the model if it is missing and the person wants it now."""
    from bot.cli.models.fetch import build_model, download_model
    from bot.errors import ModelFileError
    from bot.weights.find_model import find_entry, find_model

    folder = _find_weights_folder()
    try:
        find_model(model, folder=folder, fetching=False)
        return
    except ModelFileError:
        pass
    building = not model.startswith("hf:") and find_entry(model, folder)[0].source is None
    does = "build" if building else "pull"
    if get is None and asking:
        get = typer.confirm(
            f"{'Build' if building else 'Download'} it now?", default=True, err=True
        )
    imatrix = "auto" if building and _needs_importance(model) else None
    if not get:
        option = f" --imatrix {imatrix}" if imatrix else ""
        typer.echo(f"Run `aside models {does} {model}{option}` to get the model.")
    elif building:
        build_model(model, None, _load_settings(), imatrix=imatrix)
    else:
        download_model(model, None, folder)
