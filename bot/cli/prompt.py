"""`aside prompt`: what the engine gets."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer needs it at run time
from typing import Annotated

import typer

from bot.cli.console.shared_options import Config, open_library, read_settings, write
from bot.engine.protocol import Dialect  # noqa: TC001 - typer needs it at run time


def prompt(
    scenario: Annotated[
        str, typer.Argument(help="Id or title, or the path of a scenario's file or folder.")
    ],
    character: Annotated[str, typer.Argument(help="Whose turn it is.")],
    turns: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The story so far: a YAML list of {speaker, text} or {speaker, raw}.",
        ),
    ] = None,
    dialect: Annotated[
        Dialect | None,
        typer.Option(
            help="How the model is spoken to; HER's own way, unless the settings name another kind of model."
        ),
    ] = None,
    config: Config = None,
) -> None:
    """Show the exact text the engine gets for a character's next turn."""
    from bot.cli.lookup import choose_dialect, find_character, find_scenario
    from bot.cli.turns_file import read_turns
    from bot.scenes import prompt_builder

    settings = read_settings(config)
    played = find_scenario(scenario, open_library(settings))
    name = find_character(played, character)
    told = read_turns(turns, played) if turns else ()
    chosen = dialect or choose_dialect(settings)
    write(
        prompt_builder.build_prompt(
            played, name, told, chosen, empty_think=settings.play.empty_think
        ).text
    )
