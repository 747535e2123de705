"""A fault in a document and its position."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SourcePosition:
    """A file with an optional line and column (both counted from 1), or a variable."""

    source: str
    line: int | None = None
    column: int | None = None
    written: str | None = None  # the scalar as the person spelled it

    def __str__(self) -> str:
        line = f", line {self.line}" if self.line else ""
        return f"{self.source}{line}" + (
            f", column {self.column}" if self.line and self.column else ""
        )


class Fault(Exception):
    """One fault in a document. `str(fault)` names the position, the problem and the fix."""

    def __init__(self, position: SourcePosition, problem: str) -> None:
        super().__init__(f"{position}: {problem}" + ("" if problem.endswith("?") else "."))
        self.position = position
        self.problem = problem
