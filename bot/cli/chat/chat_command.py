"""`aside chat`: the options of the command."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer needs it at run time
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.console.shared_options import Config, read_settings
from bot.errors import UserInputError

if TYPE_CHECKING:
    from bot.settings import Settings

_LARGEST_SEED = 2**32 - 1


def chat(
    scenario: Annotated[
        str | None,
        typer.Option(metavar="N|NAME", help="The scenario to play, by number (from 0) or name."),
    ] = None,
    character: Annotated[
        str | None,
        typer.Option(
            metavar="N|NAME", help="The character who answers, by number (from 0) or name."
        ),
    ] = None,
    person: Annotated[
        str | None,
        typer.Option("--as", metavar="NAME", help="Your part: a character or your own name."),
    ] = None,
    show_think: Annotated[
        bool, typer.Option("--show-think", help="Show the model's planning.")
    ] = False,
    show_rolethink: Annotated[
        bool, typer.Option("--show-rolethink", help="Show the characters' thoughts.")
    ] = False,
    model: Annotated[
        str | None, typer.Option(help="Name, file or hf:… address of a model.")
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0, max=_LARGEST_SEED, help="Random seed. The same seed gives the same replies."
        ),
    ] = None,
    store: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Store the scene in this database (default: don't store it)."
        ),
    ] = None,
    scene: Annotated[
        int | None,
        typer.Option("--continue", metavar="SCENE", help="Continue this scene of the database."),
    ] = None,
    config: Config = None,
) -> None:
    """Play a scene at the terminal.

    The characters, their minds and the rules are the same as on Discord.
    """
    from bot.cli.chat.chat_session import ChatOptions, play
    from bot.her.beats import BeatKind

    if scene is not None and scenario is not None:
        raise UserInputError(
            "A continued scene already has a scenario. Leave out --scenario or --continue."
        )
    kinds = ((BeatKind.THOUGHT, show_rolethink), (BeatKind.PLANNING, show_think))
    showing = frozenset(kind for kind, wanted in kinds if wanted)
    play(
        _adapt_settings(read_settings(config), model),
        ChatOptions(scenario, character, person, showing, seed, store, scene),
    )


def _adapt_settings(settings: Settings, model: str | None) -> Settings:
    """Return settings with this model and a log that does not disturb the screen."""
    changes: dict[str, object] = {"logging": settings.logging.model_copy(update={"level": "ERROR"})}
    if model is not None:
        plain = (
            {"model": model, "dialect": None, "sampling": None}
            if settings.engine.kind == "local"
            else {"model": model}
        )
        changes["engine"] = settings.engine.model_copy(update=plain)
    return settings.model_copy(update=changes)
