"""The command line: `aside COMMAND`. Each family of commands has its own module."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.cli.bench import bench
from bot.cli.chat.command import chat
from bot.cli.console import standard_streams
from bot.cli.console.failures import SentencesGroup
from bot.cli.doctor.command import doctor
from bot.cli.evaluate import evaluate
from bot.cli.forget import forget
from bot.cli.lend import lend
from bot.cli.models.command import models
from bot.cli.prompt import prompt
from bot.cli.render import render
from bot.cli.run.command import run
from bot.cli.scenarios import scenarios
from bot.cli.setup.command import setup
from bot.cli.try_command import try_
from bot.cli.version import version

app = typer.Typer(
    cls=SentencesGroup, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False
)


@app.callback()
def aside(
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback if a command fails.")
    ] = False,
) -> None:
    """Play HER characters on Discord. The game master decides who reads their thoughts."""


for command in (setup, run, chat, doctor, render, prompt, lend, forget, version):
    app.command()(command)
app.command("try")(try_)
app.add_typer(scenarios, name="scenarios")
app.add_typer(models, name="models")
app.add_typer(bench, name="bench")
app.add_typer(evaluate, name="eval")


def main() -> None:
    """Run the command line and exit with its status: 0, 1, 2 or 130."""
    standard_streams.prepare_streams()
    app(prog_name="aside")
