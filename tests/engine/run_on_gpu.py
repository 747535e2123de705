"""Measures eight minds on one GPU: `python -m tests.engine.run_on_gpu [FILE.gguf]`.

CI does not run it. Without a file it creates a model with random weights in the shape of Qwen3-32B
under models/, which takes 18 GB of disk. It prints the GPU, its memory, tokens per second for one
mind and for eight, and the time to the first text.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pynvml  # type: ignore[import-untyped] # has no stubs
from rich.console import Console

from bot.bench.measure import BenchOptions, measure
from bot.engine.local.local_engine import LocalEngine
from bot.engine.local.local_options import LocalOptions
from bot.weights.find_model import weights_folder
from tests.engine.random_model import QWEN3_32B, make_model

print_ = Console(soft_wrap=True, highlight=False).print


async def run(path: Path) -> None:
    """Load the model, measure it and print the results."""
    engine = LocalEngine(LocalOptions(model=str(path), gpu_layers="all", minds=8))
    await engine.start()
    try:
        info = engine.info
        print_(
            f"{info.model} on {info.device}: {info.layers_offloaded} of {info.layers} layers; "
            f"{info.memory}"
        )
        print_(info.warning or "no warning")
        print_(describe_gpu())
        figures = await measure(
            engine, BenchOptions(streams=8, history=2000, rounds=3), "eight minds"
        )
        print_(figures.model_dump_json(indent=2))
        print_(describe_gpu())
    finally:
        await engine.close()


def describe_gpu() -> str:
    """Return the GPU's name and the memory in use."""
    pynvml.nvmlInit()
    gpu = pynvml.nvmlDeviceGetHandleByIndex(0)
    used = pynvml.nvmlDeviceGetMemoryInfo(gpu)
    return (
        f"{pynvml.nvmlDeviceGetName(gpu)}: {used.used / 2**30:.1f} of "
        f"{used.total / 2**30:.1f} GiB in use"
    )


def main(arguments: list[str]) -> None:
    """Create the model unless one is named, and run."""
    path = Path(arguments[0]) if arguments else weights_folder() / "random-qwen3-32b.gguf"
    if not path.exists():
        print_(f"Writing {path} …")
        make_model(path, QWEN3_32B)
    asyncio.run(run(path))


if __name__ == "__main__":
    main(sys.argv[1:])
