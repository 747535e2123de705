"""A process of its own for llama.cpp's quantiser: what it says goes to standard output, line by line.

    python -m bot.weights.quantiser QUANTISATION IN OUT           quantise a file
    python -m bot.weights.quantiser --sizes QUANTISATION,… IN…    tell what would become of each tensor of each file

It ends with Ctrl-C at once, and when nobody reads its output any more.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

import llama_cpp

_BUFFER = 2**30  # bytes of tensors in memory at once, at most


def main(arguments: list[str]) -> int:
    """Run one order; the exit status is 0 where llama.cpp was content."""
    for ending in (signal.SIGINT, signal.SIGPIPE):
        signal.signal(ending, signal.SIG_DFL)
    hear = llama_cpp.llama_log_callback(_say)
    llama_cpp.llama_log_set(hear, ctypes.c_void_p(0))
    llama_cpp.llama_backend_init()
    if arguments[0] != "--sizes":
        return _quantise(*arguments)
    _, quantisations, *sources = arguments
    for source in sources:
        for quantisation in quantisations.split(","):
            _say(0, f"sizes {quantisation} {source}\n".encode(), None)
            if failed := _quantise(quantisation, source, ""):
                return failed
    return 0


def _quantise(quantisation: str, source: str, target: str) -> int:
    """Quantise; without a target, only tell."""
    params = llama_cpp.llama_model_quantize_default_params()
    params.ftype = getattr(llama_cpp, f"LLAMA_FTYPE_MOSTLY_{quantisation}")
    params.dry_run = not target
    params.nthread = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    params.max_buf_size = _BUFFER
    return int(llama_cpp.llama_model_quantize(os.fsencode(source), os.fsencode(target), ctypes.byref(params)))


def _say(_level: int, text: bytes, _data: object) -> None:
    os.write(1, text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
