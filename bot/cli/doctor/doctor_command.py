"""`aside doctor`: run all checks and print them."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.console.shared_options import AsJson, Config, read_settings, write_json
from bot.errors import AsideError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.cli.doctor.machine_checks import Check


class ProblemsFound(AsideError):
    """Some checks failed. They have been printed."""


def doctor(
    config: Config = None,
    offline: Annotated[
        bool, typer.Option("--offline", help="Don't connect to Discord or the hub.")
    ] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Don't load the model.")] = False,
    as_json: AsJson = False,
) -> None:
    """Check the installation and suggest fixes.

    The checks cover the settings, the database, the model, the devices and Discord.
    """
    from bot.cli.doctor.discord_checks import check_discord
    from bot.cli.doctor.machine_checks import State, check_machine

    warnings: list[str] = []
    settings = read_settings(config, warn=warnings.append)
    checks = list(check_machine(settings, config, warnings, load_model=not quick, offline=offline))
    if not offline:
        checks += asyncio.run(check_discord(settings))
    if as_json:
        write_json([asdict(check) for check in checks])
    else:
        _print(checks)
    if bad := sum(check.state is State.BAD for check in checks):
        raise ProblemsFound(f"{bad} of {len(checks)} checks failed. See the fix beside each.")


def _print(checks: Sequence[Check]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    marks = {"good": "✓", "note": "·", "bad": "✗"}
    table = Table(box=None, show_header=False, pad_edge=False)
    for check in checks:
        remedy = f"\n→ {check.remedy}" if check.remedy else ""
        table.add_row(marks[check.state], Text(check.about), Text(check.found + remedy))
    Console(soft_wrap=False).print(table)
