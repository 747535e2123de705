"""Compute an importance matrix or measure perplexity, in a child process that may crash."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from bot import subprocess_env
from bot.engine.calibration.measurement_order import MeasurementOrder
from bot.engine.calibration.perplexity import Perplexity
from bot.errors import EngineError, UserInputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

CHUNK: Final = 512  # tokens, as in llama.cpp's tools
_LAST_WORDS: Final = 20  # lines of llama.cpp's log

Progress: TypeAlias = "Callable[[int, int], None]"


@dataclass(frozen=True, slots=True)
class ModelRun:
    """How the model is loaded for a measurement."""

    model: Path
    gpu_layers: int = 0
    chunk: int = CHUNK
    threads: int | None = None  # None: one per physical core


@dataclass(frozen=True, slots=True)
class ImportanceReport:
    """The size of the text in chunks, and the tensors with experts that it never used."""

    chunks: int
    partial: tuple[str, ...]


def compute_importance(
    run: ModelRun,
    texts: Sequence[Path],
    output: Path,
    *,
    control: bool = False,
    progress: Progress | None = None,
) -> ImportanceReport:
    """Compute the importance matrix of `texts` and write it to `output`, once it is complete.

    `control` reads control tokens that are spelt in the texts as such. `progress` receives the
    number of chunks. Raises EngineError, or UserInputError if the texts are too short.
    """
    found = _measure(run, texts, progress, control=control, output=str(output))
    return ImportanceReport(found["chunks"], tuple(found["partial"]))


def measure_perplexity(
    run: ModelRun, texts: Sequence[Path], *, progress: Progress | None = None
) -> Perplexity:
    """Measure the perplexity of `texts`. `progress` receives the number of chunks.

    Raises EngineError, or UserInputError if the texts are too short.
    """
    return Perplexity(**_measure(run, texts, progress))


def _measure(
    run: ModelRun,
    texts: Sequence[Path],
    progress: Progress | None,
    *,
    control: bool = False,
    output: str = "",
) -> dict[str, Any]:
    order = MeasurementOrder(
        str(run.model),
        tuple(str(text) for text in texts),
        tuple(text.name for text in texts),
        run.chunk,
        run.gpu_layers,
        run.threads,
        control,
        output,
    )
    for said in _child(order):
        if "result" in said:
            return dict(said["result"])
        if "error" in said:
            raise (UserInputError if said.get("input") else EngineError)(str(said["error"]))
        if progress:
            progress(said["done"], said["total"])
    raise EngineError("The measurement ended without a result. Try again with fewer GPU layers.")


def _child(order: MeasurementOrder) -> Iterator[dict[str, Any]]:
    """Yield the child's messages. Raises EngineError if it dies without a last one."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bot.engine.calibration.child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=subprocess_env.child_environment(),
        text=True,
        encoding="utf-8",
        errors="replace",
    )
    words: deque[str] = deque(maxlen=_LAST_WORDS)
    assert process.stdin is not None  # noqa: S101 - the pipe was requested
    assert process.stdout is not None  # noqa: S101 - the same
    try:
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(order.to_json())
            process.stdin.close()
        for line in process.stdout:
            if line.startswith("{"):
                yield json.loads(line)
            elif line.strip():
                words.append(line.strip())
        if process.wait():
            said = f": {words[-1]}" if words else ""
            raise EngineError(
                f"llama.cpp ended with status {process.returncode}{said}. Try again with "
                "`engine: {gpu_layers: 0}` in aside.yaml."
            )
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        process.wait()
        process.stdout.close()
