"""Eight minds on one card, by hand: `python -m tests.engine.run_on_gpu [FILE.gguf]`. Never run by CI.

Without a file a model of random weights in the shape of Qwen3-32B is made under models/ (18 GB of disk). Prints the
card, its memory, tokens a second for one mind and for eight, and the time to the first word.
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

say = Console(soft_wrap=True, highlight=False).print


async def run(path: Path) -> None:
    """Load, play, print."""
    engine = LocalEngine(LocalOptions(model=str(path), gpu_layers="all", minds=8))
    await engine.start()
    try:
        info = engine.info
        say(
            f"{info.model} on {info.device}: {info.layers_offloaded} of {info.layers} layers; {info.memory}"
        )
        say(info.warning or "no warning")
        say(memory())
        figures = await measure(
            engine, BenchOptions(streams=8, history=2000, rounds=3), "eight minds"
        )
        say(figures.model_dump_json(indent=2))
        say(memory())
    finally:
        await engine.close()


def memory() -> str:
    """The card's name and the memory in use."""
    pynvml.nvmlInit()
    card = pynvml.nvmlDeviceGetHandleByIndex(0)
    used = pynvml.nvmlDeviceGetMemoryInfo(card)
    return f"{pynvml.nvmlDeviceGetName(card)}: {used.used / 2**30:.1f} of {used.total / 2**30:.1f} GiB in use"


def main(arguments: list[str]) -> None:
    """Make the model where none is named, and run."""
    path = Path(arguments[0]) if arguments else weights_folder() / "random-qwen3-32b.gguf"
    if not path.exists():
        say(f"Writing {path} …")
        make_model(path, QWEN3_32B)
    asyncio.run(run(path))


if __name__ == "__main__":
    main(sys.argv[1:])
