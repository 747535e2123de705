"""The child process of a measurement: `python -m bot.engine.calibration.child`.

Standard input has one `MeasurementOrder` as JSON. Standard output has one JSON object per line:
`{"done": …, "total": …}` for each chunk, and at the end `{"result": …}` or `{"error": …}`.
llama.cpp may abort this process.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bot.engine.calibration.activations import ActivationCollector
from bot.engine.calibration.chunk_decoder import ChunkDecoder, encode_text
from bot.engine.calibration.measurement_order import MeasurementOrder
from bot.engine.calibration.perplexity import summarise_losses, token_losses
from bot.engine.local.devices import count_physical_cores
from bot.engine.local.llama import DecodeError, LoadError, Model
from bot.errors import AsideError, UserInputError
from bot.weights.importance_file import write_importance
from bot.weights.importance_matrix import ImportanceMatrix
from bot.weights.log_receiver import set_log_receiver

if TYPE_CHECKING:
    from collections.abc import Callable

_FEWEST_CHUNKS: Final = 2  # as llama.cpp's tools require


def main() -> int:
    """Measure as standard input asks. Return the exit status."""
    for ending in (signal.SIGINT, signal.SIGPIPE):
        signal.signal(ending, signal.SIG_DFL)
    set_log_receiver(lambda level, text: level >= 3 and os.write(2, text))
    try:
        order = MeasurementOrder.from_json(sys.stdin.read())
        _say(result=_importance(order) if order.output else _perplexity(order))
    except UserInputError as error:
        _say(error=str(error), input=True)
        return 2
    except (AsideError, LoadError, DecodeError) as error:
        _say(error=str(error))
        return 1
    return 0


def _importance(order: MeasurementOrder) -> dict[str, Any]:
    collector = ActivationCollector()

    def read(decoder: ChunkDecoder, chunk: list[int]) -> None:
        decoder.decode(chunk)
        collector.sums()  # raises the fault of a callback

    chunks = _run(order, read, collector.collect)
    matrix = ImportanceMatrix(collector.sums(), chunks, order.chunk, order.names)
    write_importance(Path(order.output), matrix)
    return {"chunks": chunks, "partial": matrix.partial}


def _perplexity(order: MeasurementOrder) -> dict[str, Any]:
    losses = []
    first = order.chunk // 2

    def read(decoder: ChunkDecoder, chunk: list[int]) -> None:
        losses.append(token_losses(decoder.decode(chunk, first), chunk[first + 1 :]))

    _run(order, read)
    found = summarise_losses(losses)
    return {name: getattr(found, name) for name in found.__slots__}


def _run(
    order: MeasurementOrder,
    read: Callable[[ChunkDecoder, list[int]], None],
    hook: Callable[[int, bool, Any], bool] | None = None,
) -> int:
    """Call `read` with each chunk of the texts, and return their number."""
    model = Model(Path(order.model), order.gpu_layers)
    text = "\n".join(Path(name).read_text("utf-8", "replace") for name in order.texts)
    tokens = encode_text(model, text, control=order.control)
    if len(tokens) < _FEWEST_CHUNKS * order.chunk:
        raise UserInputError(
            f"The text has only {len(tokens):,} tokens, and at least "
            f"{_FEWEST_CHUNKS * order.chunk:,} are needed. Use a longer text."
        )
    decoder = ChunkDecoder(model, order.chunk, order.threads or count_physical_cores(), hook)
    total = len(tokens) // order.chunk
    for done, chunk in enumerate(decoder.chunks(tokens), 1):
        read(decoder, chunk)
        _say(done=done, total=total)
    decoder.free()
    return total


def _say(**fields: Any) -> None:
    print(json.dumps(fields), flush=True)  # noqa: T201 - the parent reads it


if __name__ == "__main__":
    sys.exit(main())
