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

from bot.cli.console.help_texts import simplify_help
from bot.errors import AsideError, UserInputError
from bot.terminal.typed_remedies import describe_error

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM_FAILED, USER_ERROR = 1, 2
_DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_OWN_PACKAGES = ("bot", "cogs")


class SentencesGroup(TyperGroup):
    """The commands. A failure prints one sentence, and with `--debug` also the traceback."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        simplify_help(self)

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
    if sentence := _describe_outside_fault(error):
        typer.echo(f"aside: {sentence}", err=True)
        return PROGRAM_FAILED
    details = "The traceback is above." if debug else _record(error)
    typer.echo(f"aside: Internal error ({type(error).__name__}). {details}", err=True)
    return PROGRAM_FAILED


def _describe_outside_fault(error: Exception) -> str | None:
    """Return a sentence for a fault of the system or the installation, or None for a bug."""
    if isinstance(error, MemoryError):
        return "The machine is out of memory. Close other programs, then try again."
    if isinstance(error, ImportError) and error.name and not error.name.startswith(_OWN_PACKAGES):
        package = error.name.partition(".")[0]
        return f"The package {package} is missing or broken. Install Aside again."
    if not isinstance(error, OSError):
        return None
    from bot.documents import show_control_characters

    place = show_control_characters(str(error.filename)) if error.filename else "a file"
    if error.errno in _DISK_FULL:
        return "The disk is full. Free some space, then try again."
    if error.errno in (errno.EACCES, errno.EPERM) and error.filename:
        return f"Permission denied for {place}. Give this user access to it."
    if error.errno == errno.EROFS:
        return f"The disk of {place} is read-only. Choose a folder on another disk."
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return "Too many files are open. Raise the limit with `ulimit -n 4096`, then try again."
    if error.errno == errno.EIO:
        return f"The disk failed at {place}. Check the disk, then try again."
    if error.errno == errno.ENAMETOOLONG:
        return "A file name is too long. Choose a shorter one."
    return None


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
