"""Show progress on standard error: bars on a terminal, plain lines otherwise."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final, Self

import typer

if TYPE_CHECKING:
    from types import TracebackType

    from rich.progress import Progress, TaskID

_SECONDS_BETWEEN_LINES: Final = 10


class ProgressBars:
    """Shows one bar at a time.

    Use `with ProgressBars() as bars:`, then `bars.step("Downloading")` and
    `bars.progress(done, total)`.
    """

    def __init__(self) -> None:
        from rich.console import Console

        self._console = Console(stderr=True, highlight=False)
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._what = ""
        self._unit = "bytes"
        self._began = self._printed = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._end()

    def step(self, what: str, unit: str = "bytes") -> None:
        """Start the next bar. `unit` names the things that it counts."""
        self._end()
        self._what = what
        self._unit = unit
        self._began = self._printed = time.monotonic()
        if not self._console.is_terminal:
            typer.echo(f"{what} …", err=True)
            return
        self._bar = self._create_bar(unit)
        self._bar.start()
        self._task = self._bar.add_task(what, total=None)

    def progress(self, done: int, total: int) -> None:
        """Update the bar. May be called from any thread."""
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=done, total=total)
        elif self._bar is None and self._unit != "bytes" and 0 < done < total:
            self._print_line(done, total)

    def _print_line(self, done: int, total: int) -> None:
        """Print the progress and the time left, at most every few seconds."""
        now = time.monotonic()
        if now - self._printed >= _SECONDS_BETWEEN_LINES:
            self._printed = now
            left = (now - self._began) / done * (total - done)
            typer.echo(f"{done} of {total} {self._unit}, {left:.0f} s left", err=True)

    def _create_bar(self, unit: str) -> Progress:
        from rich import progress

        columns: list[progress.ProgressColumn] = [
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
        ]
        if unit == "bytes":
            columns += [progress.DownloadColumn(binary_units=True), progress.TransferSpeedColumn()]
        else:
            columns += [progress.MofNCompleteColumn()]
        return progress.Progress(*columns, progress.TimeRemainingColumn(), console=self._console)

    def _end(self) -> None:
        if self._bar is not None:
            self._bar.stop()
        self._bar = self._task = None
