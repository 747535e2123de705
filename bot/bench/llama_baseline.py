"""llama.cpp's bare decode, and `Llama` used alone: each measured in a process of its own, once.

`python -m bot.bench.llama_baseline bare FILE THREADS STREAMS TOKENS` prints tokens a second with one stream and with
all; `… alone FILE THREADS STREAMS HISTORY` prints the seconds of a rotation. JSON.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from pathlib import Path

import llama_cpp

from bot.engine.local.llama import Context, ContextPlan, Model
from bot.engine.local.llama_log import LlamaLog

_BATCH = 512
_REPLY = 8  # tokens of each reply in the rotation


def bare(path: Path, threads: int, streams: int, tokens: int) -> tuple[float, float]:
    """Tokens a second of `llama_decode` alone, with tokens by chance, as `llama-batched-bench` measures it."""
    model = Model(path, -1)
    plan = ContextPlan(
        tokens=max(512, tokens),
        sequences=streams,
        threads=threads,
        batch=max(_BATCH, streams),
        cache_type="f16",
        flash_attention="auto",
    )
    context = Context(model, plan)
    _decode(model, context, streams, 4)  # the first steps are slow
    return _decode(model, context, 1, tokens), _decode(model, context, streams, tokens)


def alone(path: Path, threads: int, streams: int, history: int) -> float:
    """Seconds for a round of `streams` scenes with llama-cpp-python's `Llama`, one request at a time."""
    llama = llama_cpp.Llama(
        str(path), n_ctx=history + 512, n_threads=threads, n_gpu_layers=-1, verbose=False
    )
    chance = random.Random(1)  # noqa: S311 - for a bench
    scenes = [[chance.randrange(1000, 20000) for _ in range(history)] for _ in range(streams)]
    began = time.perf_counter()
    for scene in scenes:
        llama.create_completion(scene, max_tokens=_REPLY)
    return time.perf_counter() - began


def _decode(model: Model, context: Context, streams: int, tokens: int) -> float:
    chance = random.Random(1)  # noqa: S311 - for a bench
    for stream in range(streams):
        context.keep(stream, 0)
    began = time.perf_counter()
    for step in range(tokens):
        context.clear_batch()
        for stream in range(streams):
            context.add(stream, step, [chance.randrange(model.size)], draw=True)
        context.decode()
        context.logits(streams - 1)
    return streams * tokens / (time.perf_counter() - began)


def main(arguments: list[str]) -> None:
    """Measure, and print what was found as JSON."""
    what, path, numbers = arguments[0], Path(arguments[1]), map(int, arguments[2:])
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        sys.stderr = nowhere
        chatter = LlamaLog()
        found = bare(path, *numbers) if what == "bare" else alone(path, *numbers)
        del chatter
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
