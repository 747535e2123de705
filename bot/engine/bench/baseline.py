"""What the local engine is held against, in a process of its own: llama.cpp's bare decode, and `Llama` used alone.

`python -m bot.engine.bench.baseline FILE THREADS STREAMS HISTORY ROUNDS` prints one JSON object a line.
"""

from __future__ import annotations

import os
import random
import sys
import time
from pathlib import Path

import llama_cpp

from bot.engine.bench.report import Figures, median
from bot.engine.local.chatter import Chatter
from bot.engine.local.llama import Context, ContextPlan, Model

_STEPS = 48
_REPLY = 8  # tokens of each reply in the rotation


def bare(path: Path, threads: int, streams: int, rounds: int) -> Figures:
    """Tokens a second of `llama_decode` alone, with tokens by chance, as `llama-batched-bench` measures it."""
    model = Model(path, -1)
    plan = ContextPlan(
        tokens=256,
        sequences=streams,
        threads=threads,
        batch=512,
        cache_type="f16",
        flash_attention="auto",
    )
    context = Context(model, plan)
    one = [_decode(model, context, 1) for _ in range(rounds)]
    many = [_decode(model, context, streams) for _ in range(rounds)]
    context.free()
    model.free()
    return Figures(name="bare decode", write_one=median(one), write_many=median(many), streams=streams)


def alone(path: Path, threads: int, streams: int, history: int, rounds: int) -> Figures:
    """Seconds for a round of `streams` scenes with llama-cpp-python's `Llama`, one request at a time."""
    llama = llama_cpp.Llama(str(path), n_ctx=history + 512, n_threads=threads, n_gpu_layers=-1, verbose=False)
    chance = random.Random(1)  # noqa: S311 - for a bench
    scenes = [[chance.randrange(1000, 20000) for _ in range(history)] for _ in range(streams)]
    seconds = []
    for _ in range(min(rounds, 2)):
        began = time.perf_counter()
        for scene in scenes:
            llama.create_completion(scene, max_tokens=_REPLY)
        seconds.append(time.perf_counter() - began)
    return Figures(name="Llama, one at a time", streams=streams, rotation=median(seconds))


def _decode(model: Model, context: Context, streams: int) -> float:
    chance = random.Random(1)  # noqa: S311 - for a bench
    for stream in range(streams):
        context.keep(stream, 0)
    began = time.perf_counter()
    for step in range(_STEPS):
        context.clear_batch()
        for stream in range(streams):
            context.add(stream, step, [chance.randrange(model.size)], draw=True)
        context.decode()
        context.logits(streams - 1)
    return streams * _STEPS / (time.perf_counter() - began)


def main(arguments: list[str]) -> None:
    """Measure, and print figures as JSON, one object a line."""
    path, threads, streams, history, rounds = Path(arguments[0]), *map(int, arguments[1:])
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        sys.stderr = nowhere
        chatter = Chatter()
        for figures in (bare(path, threads, streams, rounds), alone(path, threads, streams, history, rounds)):
            sys.stdout.write(figures.model_dump_json() + "\n")
        del chatter


if __name__ == "__main__":
    main(sys.argv[1:])
