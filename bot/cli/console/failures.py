"""What a person sees when a command fails: one sentence, and an exit status that scripts can rely on.

0 done, 1 the program's own failure, 2 what the person wrote can't be used, 130 interrupted.
"""

from __future__ import annotations

import errno
import logging
import sys
import traceback
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup

from bot.errors import AsideError, UserInputError
from bot.terminal.remedy_texts import describe_error

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM_FAILED, USER_ERROR = 1, 2
_DISK_FULL = (errno.ENOSPC, errno.EDQUOT)


class SentencesGroup(TyperGroup):
    """The commands, with every failure told as one sentence. `--debug` before a command shows the traceback too."""

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override] # typer's own Context is what it passes
        """Run the command. Raises typer.Exit where it failed."""
        try:
            return super().invoke(ctx)
        except (typer.Exit, typer.Abort, typer.TyperException, BrokenPipeError):
            raise  # typer's own ways to end
        except Exception as error:
            debug = bool(ctx.params.get("debug"))
            if debug:
                traceback.print_exception(error)
            raise typer.Exit(_report(error, debug=debug)) from error


def _report(error: Exception, *, debug: bool) -> int:
    """Say what happened and return the exit status."""
    if isinstance(error, AsideError):
        typer.echo(f"aside: {describe_error(error)}", err=True)
        return USER_ERROR if isinstance(error, UserInputError) else PROGRAM_FAILED
    if isinstance(error, OSError) and error.errno in _DISK_FULL:
        typer.echo(
            "aside: there is no room left where this is written to: free some, then try again.",
            err=True,
        )
        return PROGRAM_FAILED
    where = "the traceback stands above" if debug else _record(error)
    typer.echo(
        f"aside: something went wrong inside Aside ({type(error).__name__}): {where}.", err=True
    )
    return PROGRAM_FAILED


def _record(error: Exception) -> str:
    """Write the traceback, secrets hidden, to the log of failures; return where it is to be found."""
    try:
        path = _get_failure_log()
        with path.open("a", encoding="utf-8", errors="replace") as log:
            log.write(_format_traceback(error) + "\n")
    except OSError:
        return "`aside --debug` and the same command again shows the details"
    return f"the details are in {path}"


def _get_failure_log() -> Path:
    from platformdirs import user_log_path

    return user_log_path("aside", appauthor=False, ensure_exists=True) / "failures.log"


def _format_traceback(error: Exception) -> str:
    from bot.logs import RedactingFormatter

    trace = (type(error), error, error.__traceback__)
    record = logging.LogRecord(
        "aside", logging.ERROR, __file__, 0, " ".join(sys.argv[:2]), None, trace
    )
    return RedactingFormatter("%(asctime)s %(message)s").format(record)
