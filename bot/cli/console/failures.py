"""Report a failed command in one sentence and with an exit status for scripts.

The status is 0 for success, 1 if the program failed, 2 if the user's input can't be used, and 130
if the program was interrupted.
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
    """The commands. A failure prints one sentence, and with `--debug` also the traceback."""

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override] # typer's own Context is what it passes
        """Run the command. Raises typer.Exit if it failed."""
        try:
            return super().invoke(ctx)
        except (typer.Exit, typer.Abort, typer.TyperException, BrokenPipeError):
            raise  # typer handles these
        except Exception as error:
            debug = bool(ctx.params.get("debug"))
            if debug:
                traceback.print_exception(error)
            raise typer.Exit(_report(error, debug=debug)) from error


def _report(error: Exception, *, debug: bool) -> int:
    """Print the error and return the exit status."""
    if isinstance(error, AsideError):
        typer.echo(f"aside: {describe_error(error)}", err=True)
        return USER_ERROR if isinstance(error, UserInputError) else PROGRAM_FAILED
    if isinstance(error, OSError) and error.errno in _DISK_FULL:
        typer.echo(
            "aside: The disk is full. Free some space, then try again.",
            err=True,
        )
        return PROGRAM_FAILED
    details = "The traceback is above." if debug else _record(error)
    typer.echo(f"aside: Internal error ({type(error).__name__}). {details}", err=True)
    return PROGRAM_FAILED


def _record(error: Exception) -> str:
    """Append the traceback to the log of failures, without secrets. Return where to find it."""
    try:
        path = _get_failure_log()
        with path.open("a", encoding="utf-8", errors="replace") as log:
            log.write(_format_traceback(error) + "\n")
    except OSError:
        return "Run the same command with `aside --debug` to see the details."
    return f"The details are in {path}."


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
