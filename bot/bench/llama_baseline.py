"""Baselines in a process of their own: bare `llama_decode`, and llama-cpp-python's `Llama`.

`python -m bot.bench.llama_baseline bare FILE THREADS STREAMS TOKENS` prints the tokens per second
with one stream and with all streams. `… alone FILE THREADS STREAMS HISTORY` prints the seconds of
a rotation. The output is JSON.
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
_REPLY_TOKENS = 8  # in the rotation


def measure_bare_decode(path: Path, threads: int, streams: int, tokens: int) -> tuple[float, float]:
    """Return the tokens per second of `llama_decode` alone, with one stream and with all.

    The tokens are random, as in `llama-batched-bench`.
    """
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
    _decode(model, context, streams, 4)  # warm-up, since the first steps are slow
    return _decode(model, context, 1, tokens), _decode(model, context, streams, tokens)


def measure_alone(path: Path, threads: int, streams: int, history: int) -> float:
    """Return the seconds for one reply in each of `streams` scenes with sequential requests."""
    llama = llama_cpp.Llama(
        str(path), n_ctx=history + 512, n_threads=threads, n_gpu_layers=-1, verbose=False
    )
    rng = random.Random(1)  # noqa: S311 - for a benchmark
    scenes = [[rng.randrange(1000, 20000) for _ in range(history)] for _ in range(streams)]
    started = time.perf_counter()
    for scene in scenes:
        llama.create_completion(scene, max_tokens=_REPLY_TOKENS)
    return time.perf_counter() - started


def _decode(model: Model, context: Context, streams: int, tokens: int) -> float:
    rng = random.Random(1)  # noqa: S311 - for a benchmark
    for stream in range(streams):
        context.truncate(stream, 0)
    started = time.perf_counter()
    for step in range(tokens):
        context.clear_batch()
        for stream in range(streams):
            context.add(stream, step, [rng.randrange(model.size)], want_logits=True)
        context.decode()
        context.logits(streams - 1)
    return streams * tokens / (time.perf_counter() - started)


def main(arguments: list[str]) -> None:
    """Measure one baseline and print the result as JSON."""
    baseline = arguments[0]
    path = Path(arguments[1])
    numbers = map(int, arguments[2:])
    measure = measure_bare_decode if baseline == "bare" else measure_alone
    with Path(os.devnull).open("w", encoding="utf-8") as null:
        sys.stderr = null
        LlamaLog()
        result = measure(path, *numbers)
    sys.stdout.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
