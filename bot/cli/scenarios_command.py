"""`aside scenarios`: list, show and check scenarios."""

from __future__ import annotations

import textwrap
from dataclasses import asdict
from pathlib import Path  # noqa: TC003 - typer needs it at run time
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.console.shared_options import AsJson, Config, open_library, read_settings, write_json
from bot.errors import UserInputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bot.library.library import Summary
    from bot.library.scenario import Character, Scenario

scenarios = typer.Typer(
    help="List, show and check the scenarios of the library.", no_args_is_help=True
)


class ScenarioFaultsFound(UserInputError):
    """The checked scenarios have faults. They have been printed."""


@scenarios.command("list")
def list_(config: Config = None, as_json: AsJson = False) -> None:
    """List the playable scenarios."""
    library = open_library(read_settings(config))
    summaries = library.summaries()
    if as_json:
        write_json([asdict(summary) for summary in summaries])
    else:
        _print_table(summaries)
    if faults := library.faults:
        typer.echo(
            f"The library has {_count(len(faults), 'fault')}. Run `aside scenarios check` to see "
            "them.",
            err=True,
        )


@scenarios.command()
def show(
    scenario: Annotated[str, typer.Argument(help="The id, title or path of a scenario.")],
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Show a scenario with the secrets of its characters. This spoils it for players."""
    from bot.cli.lookup import find_scenario

    chosen = find_scenario(scenario, open_library(read_settings(config)))
    if as_json:
        write_json(chosen.model_dump(mode="json"))
    else:
        typer.echo("\n\n".join(_describe(chosen)))


@scenarios.command()
def check(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(help="Scenario files, or folders of them (default: the library)."),
    ] = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Check scenarios and print every fault. The exit status is 2 if there are faults."""
    from bot.library.scenario_faults import find_faults
    from bot.package_data import find_shipped_folder

    places = paths or [*read_settings(config).library.folders, find_shipped_folder("personas")]
    faults = [fault for place in places for fault in find_faults(place)]
    if as_json:
        write_json({"faults": faults})
    for fault in () if as_json else faults:
        typer.echo(fault)
    if faults:
        raise ScenarioFaultsFound(f"Found {_count(len(faults), 'fault')}.")
    typer.echo("No faults.", err=True)


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" + ("" if number == 1 else "s")


def _print_table(summaries: Sequence[Summary]) -> None:
    from rich.console import Console
    from rich.table import Column, Table
    from rich.text import Text

    table = Table(Column("Id", no_wrap=True), "Title", "Book", "Characters")
    for one in summaries:
        table.add_row(
            *(Text(cell) for cell in (one.id, one.title, one.book, ", ".join(one.characters)))
        )
    Console(highlight=False).print(table)


def _describe(scenario: Scenario) -> Iterator[str]:
    author = f", {scenario.author}" if scenario.author else ""
    yield f"{scenario.title} ({scenario.id})\n{scenario.book}{author}\n{scenario.summary}"
    for heading in ("background", "setting", "opening"):
        if text := getattr(scenario, heading):
            yield f"{heading.capitalize()}: {text}"
    for character in scenario.characters:
        yield "\n".join(_describe_character(character))


def _describe_character(character: Character) -> Iterator[str]:
    notes = [*character.aliases, *(() if character.playable else ("not playable",))]
    yield character.name + (f" ({', '.join(notes)})" if notes else "")
    for heading in ("description", "profile", "experience", "known_as", "motivation", "face"):
        if text := getattr(character, heading):
            yield textwrap.indent(f"{heading.replace('_', ' ').capitalize()}: {text}", "  ")
