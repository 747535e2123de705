"""A journal of finished steps, so that an interrupted evaluation continues and repeats nothing."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from bot.errors import UserInputError

if TYPE_CHECKING:
    from pathlib import Path


def step_key(**inputs: object) -> str:
    """Return the key of a step: a hash of everything its result depends on."""
    text = json.dumps(inputs, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


class Journal:
    """One JSON object per line and finished step. A line that was cut by a crash is ignored."""

    def __init__(self, path: Path | None) -> None:
        """Read the journal at `path`; None keeps it in memory. Raises UserInputError."""
        self._path = path
        self._results: dict[str, Any] = {}
        if path is not None and path.exists():
            self._read(path)

    def __contains__(self, key: str) -> bool:
        return key in self._results

    def __getitem__(self, key: str) -> Any:
        return self._results[key]

    def add(self, key: str, result: Any) -> None:
        """Store a step's result and append it to the file. Raises UserInputError."""
        self._results[key] = result
        if self._path is None:
            return
        line = json.dumps({"key": key, "result": result}, ensure_ascii=False) + "\n"
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(line)
        except OSError as error:
            raise UserInputError(
                f"{self._path} cannot be written ({error.strerror}). Choose another file."
            ) from error

    def _read(self, path: Path) -> None:
        try:
            lines = path.read_bytes().splitlines(keepends=True)
        except OSError as error:
            raise UserInputError(
                f"{path} cannot be read ({error.strerror}). Choose another file."
            ) from error
        for number, line in enumerate(lines, 1):
            try:
                entry = json.loads(line)
                self._results[entry["key"]] = entry["result"]
            except (ValueError, TypeError, KeyError) as error:
                if number < len(lines):
                    raise UserInputError(
                        f"{path}, line {number}: this is not a journal of `aside eval`. "
                        "Choose another file."
                    ) from error
                with path.open("r+b") as file:  # a crash cut the last line: remove it
                    file.truncate(sum(map(len, lines[:-1])))
