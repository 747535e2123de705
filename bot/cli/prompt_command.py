"""`aside prompt`: print the prompt for a character's next turn."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer needs it at run time
from typing import Annotated

import typer

from bot.cli.console.shared_options import Config, open_library, read_settings, write
from bot.engine.protocol import Dialect  # noqa: TC001 - typer needs it at run time


def prompt(
    scenario: Annotated[str, typer.Argument(help="The id, title or path of a scenario.")],
    character: Annotated[str, typer.Argument(help="The character whose turn it is.")],
    turns: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The story so far: a YAML list of {speaker, text} or {speaker, raw}.",
        ),
    ] = None,
    dialect: Annotated[
        Dialect | None,
        typer.Option(help="The prompt format (default: that of the model in the settings)."),
    ] = None,
    config: Config = None,
) -> None:
    """Print the exact prompt for a character's next turn."""
    from bot.cli.lookup import (
        choose_dialect,
        choose_prompt_format,
        choose_requirements,
        find_character,
        find_scenario,
    )
    from bot.cli.turns_file import read_turns
    from bot.scenes import prompt_builder

    settings = read_settings(config)
    played = find_scenario(scenario, open_library(settings))
    name = find_character(played, character)
    story = read_turns(turns, played) if turns else ()
    chosen = dialect or choose_dialect(settings)
    write(
        prompt_builder.build_prompt(
            played,
            name,
            story,
            chosen,
            requirements=choose_requirements(settings),
            empty_think=settings.play.empty_think,
            prompt_format=choose_prompt_format(settings),
        ).text
    )
