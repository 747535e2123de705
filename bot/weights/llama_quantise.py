"""Quantise with llama.cpp. Its standard output is llama.cpp's log:

   python -m bot.weights.llama_quantise QUANTISATION IN OUT [IMPORTANCE MATRIX]

The process ends at once on Ctrl-C and when its output is closed.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import llama_cpp

from bot.weights.importance_file import read_importance
from bot.weights.log_receiver import capture_log, set_log_receiver

if TYPE_CHECKING:
    from bot.weights.importance_matrix import ImportanceMatrix

_BUFFER: Final = 2**30  # maximum bytes of tensors in memory
_INTEGER: Final = 0  # LLAMA_KV_OVERRIDE_TYPE_INT
_TEXT: Final = 3  # LLAMA_KV_OVERRIDE_TYPE_STR
_LONGEST_TEXT: Final = 127  # bytes


def report_sizes(source: Path, quantisation: str, *, importance: bool = False) -> str:
    """Return llama.cpp's log of the size of each tensor after quantisation.

    Doesn't read the tensors' data. `importance` says whether an importance matrix will be used,
    which changes the types of some tensors.
    """
    with capture_log() as said:
        _quantise(quantisation, str(source), "", _weigh_columns({}) if importance else None)
    return b"".join(said).decode("utf-8", "replace")


def main(arguments: list[str]) -> int:
    """Quantise one file. Return llama.cpp's status, 0 for success."""
    for ending in (signal.SIGINT, signal.SIGPIPE):
        signal.signal(ending, signal.SIG_DFL)
    set_log_receiver(lambda _level, text: os.write(1, text))
    llama_cpp.llama_backend_init()
    quantisation, source, target, *importance = arguments
    if not importance:
        return _quantise(quantisation, source, target)
    matrix = read_importance(Path(importance[0]))
    weights = _weigh_columns({name: one.mean_squares() for name, one in matrix.tensors.items()})
    return _quantise(quantisation, source, target, weights, _describe(Path(importance[0]), matrix))


def _weigh_columns(weights: dict[str, Any]) -> Any:
    """Return llama.cpp's array of an importance matrix. An entry without a name ends it."""
    pointer = ctypes.POINTER(ctypes.c_float)
    entries = [
        llama_cpp.llama_model_imatrix_data(name.encode(), row.ctypes.data_as(pointer), row.size)
        for name, row in weights.items()
    ]
    array = (llama_cpp.llama_model_imatrix_data * (len(entries) + 1))(*entries)
    vars(array)["rows"] = weights  # keeps the numbers alive
    return array


def _describe(path: Path, matrix: ImportanceMatrix) -> Any:
    """Return the keys of the result's header that say which matrix was used, as llama.cpp's own."""
    values: dict[str, int | str] = {
        "quantize.imatrix.file": path.name,
        "quantize.imatrix.dataset": " ".join(matrix.datasets),
        "quantize.imatrix.entries_count": len(matrix.tensors),
        "quantize.imatrix.chunks_count": matrix.chunks,
    }
    array = (llama_cpp.llama_model_kv_override * (len(values) + 1))()
    for entry, (key, value) in zip(array, values.items(), strict=False):
        entry.key = key.encode()
        if isinstance(value, int):
            entry.tag, entry.value.val_i64 = _INTEGER, value
        else:
            entry.tag, entry.value.val_str = _TEXT, value.encode()[:_LONGEST_TEXT]
    return array


def _quantise(
    quantisation: str, source: str, target: str, weights: Any = None, keys: Any = None
) -> int:
    """Quantise, or only report sizes if `target` is empty.

    `weights` is llama.cpp's array of an importance matrix, and `keys` its array of header keys.
    """
    params = llama_cpp.llama_model_quantize_default_params()
    params.ftype = getattr(llama_cpp, f"LLAMA_FTYPE_MOSTLY_{quantisation}")
    params.dry_run = not target
    params.nthread = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    params.max_buf_size = _BUFFER
    if weights is not None:
        params.imatrix = weights
    if keys is not None:
        params.kv_overrides = keys
    return int(
        llama_cpp.llama_model_quantize(
            os.fsencode(source), os.fsencode(target), ctypes.byref(params)
        )
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
