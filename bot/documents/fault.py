"""One thing wrong in a document, and the place where it stands."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SourcePosition:
    """Where something was written: a file, perhaps a line and column in it (both from 1), or a variable."""

    source: str
    line: int | None = None
    column: int | None = None
    written: str | None = None  # a scalar's own spelling

    def __str__(self) -> str:
        line = f", line {self.line}" if self.line else ""
        return f"{self.source}{line}" + (
            f", column {self.column}" if self.line and self.column else ""
        )


class Fault(Exception):
    """One thing wrong in a document. `str(fault)` names the place, what is wrong, and what to write."""

    def __init__(self, position: SourcePosition, problem: str) -> None:
        super().__init__(f"{position}: {problem}.")
        self.position = position
        self.problem = problem
