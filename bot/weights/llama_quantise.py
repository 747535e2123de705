"""Quantise with llama.cpp. Its standard output is llama.cpp's log:

   python -m bot.weights.llama_quantise QUANTISATION IN OUT

The process ends at once on Ctrl-C and when its output is closed.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from typing import TYPE_CHECKING, Final

import llama_cpp

if TYPE_CHECKING:
    from pathlib import Path

_BUFFER: Final = 2**30  # maximum bytes of tensors in memory


def report_sizes(source: Path, quantisation: str) -> str:
    """Return llama.cpp's log of the size of each tensor after quantisation.

    Doesn't read the tensors' data.
    """
    said: list[bytes] = []
    hear = llama_cpp.llama_log_callback(lambda _level, text, _data: said.append(text))
    llama_cpp.llama_log_set(hear, ctypes.c_void_p(0))
    try:
        _quantise(quantisation, str(source), "")
    finally:
        llama_cpp.llama_log_set(_IGNORE_LOG, ctypes.c_void_p(0))
    return b"".join(said).decode("utf-8", "replace")


def main(arguments: list[str]) -> int:
    """Quantise one file. Return llama.cpp's status, 0 for success."""
    for ending in (signal.SIGINT, signal.SIGPIPE):
        signal.signal(ending, signal.SIG_DFL)
    hear = llama_cpp.llama_log_callback(lambda _level, text, _data: os.write(1, text))
    llama_cpp.llama_log_set(hear, ctypes.c_void_p(0))
    llama_cpp.llama_backend_init()
    return _quantise(*arguments)


def _quantise(quantisation: str, source: str, target: str) -> int:
    """Quantise, or only report sizes if `target` is empty."""
    params = llama_cpp.llama_model_quantize_default_params()
    params.ftype = getattr(llama_cpp, f"LLAMA_FTYPE_MOSTLY_{quantisation}")
    params.dry_run = not target
    params.nthread = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    params.max_buf_size = _BUFFER
    return int(
        llama_cpp.llama_model_quantize(
            os.fsencode(source), os.fsencode(target), ctypes.byref(params)
        )
    )


_IGNORE_LOG: Final = llama_cpp.llama_log_callback(lambda _level, _text, _data: None)

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
