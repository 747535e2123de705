"""A fault in a document and its position."""

from __future__ import annotations

from dataclasses import dataclass


def show_control_characters(text: str) -> str:
    r"""Return `text` with escapes such as `\n` in place of control characters."""
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in text
    )


@dataclass(frozen=True, slots=True)
class SourcePosition:
    """A file with an optional line and column (both counted from 1), or a variable."""

    source: str
    line: int | None = None
    column: int | None = None
    written: str | None = None  # the value as the person spelled it, if it is on one line
    json: bool = False  # whether the file is JSON
    folded: bool = False  # whether it is text without quotes on several lines

    def __str__(self) -> str:
        line = f", line {self.line}" if self.line else ""
        return f"{show_control_characters(self.source)}{line}" + (
            f", column {self.column}" if self.line and self.column else ""
        )


class NestedFault(ValueError):
    """Raised by a model's validator if the fault is inside its value, at `path`.

    `str(fault)` names the problem and the fix, as for any other ValueError of a validator.
    """

    def __init__(self, path: tuple[str | int, ...], problem: str) -> None:
        super().__init__(problem)
        self.path = path


class Fault(Exception):
    """One fault in a document. `str(fault)` names the position, the problem and the fix."""

    def __init__(self, position: SourcePosition, problem: str) -> None:
        super().__init__(f"{position}: {problem}" + ("" if problem.endswith("?") else "."))
        self.position = position
        self.problem = problem
