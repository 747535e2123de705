"""The command line: `aside COMMAND`. Each family of commands has its own module."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.cli.backup_commands import backup, restore, vacuum
from bot.cli.bench_command import bench
from bot.cli.chat.chat_command import chat
from bot.cli.console import standard_streams
from bot.cli.console.failures import SentencesGroup
from bot.cli.doctor.doctor_command import doctor
from bot.cli.evaluate_command import evaluate
from bot.cli.forget_command import forget
from bot.cli.lend_command import lend
from bot.cli.models.models_command import models
from bot.cli.prompt_command import prompt
from bot.cli.render_command import render
from bot.cli.run.run_command import run
from bot.cli.scenarios_command import scenarios
from bot.cli.setup.setup_command import setup
from bot.cli.transcript_command import transcript
from bot.cli.try_command import try_
from bot.cli.version_command import version

app = typer.Typer(
    cls=SentencesGroup,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback()
def aside(
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback if a command fails.")
    ] = False,
) -> None:
    """Play HER characters on Discord. The game master decides who reads their thoughts."""


for command in (
    *(setup, run, chat, doctor, render, prompt, transcript),
    *(backup, restore, vacuum, lend, forget, version),
):
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
