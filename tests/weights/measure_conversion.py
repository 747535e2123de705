"""How fast checkpoints become GGUF files: `python -m tests.weights.measure_conversion [FOLDER]`, in
a folder with 4 GB of free disk.

Builds a file from a random checkpoint of one gigabyte in a process of its own, three times, copying
the checkpoint before each, and prints the median seconds of both, and the most memory the building
took.
"""

from __future__ import annotations

import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bot.weights.build import Build, LocalSource
from tests.weights.random_qwen3 import make_checkpoint

_ROUNDS = 3
_SHAPE: dict[str, Any] = {
    "hidden_size": 1024,
    "intermediate_size": 3072,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "num_hidden_layers": 20,
    "vocab_size": 100_000,
}


class _Steps:
    """Records the start time of each build step."""

    def __init__(self) -> None:
        self.began: list[tuple[str, float]] = []

    def step(self, what: str, unit: str = "") -> None:  # noqa: ARG002 - required by the protocol
        self.began.append((what, time.perf_counter()))

    def progress(self, done: int, total: int) -> None:
        """Ignore progress."""


def main(folder: Path) -> None:
    """Measure and print."""
    made = folder / "checkpoint"
    subprocess.run([sys.executable, "-m", __spec__.name, "make", str(made)], check=True)
    shards = sorted(made.glob("*.safetensors"))
    size = sum(shard.stat().st_size for shard in shards)
    copying, converting, memory = [], [], 0.0
    for _ in range(_ROUNDS):
        copying.append(_copy(shards, folder / "copy"))
        command = [
            sys.executable,
            "-m",
            __spec__.name,
            "build",
            str(made),
            str(folder / "built.gguf"),
        ]
        out = subprocess.run(command, check=True, capture_output=True, text=True)
        seconds, peak = map(float, out.stdout.split())
        converting.append(seconds)
        memory = max(memory, peak)
    copied = statistics.median(copying)
    converted = statistics.median(converting)
    sys.stdout.write(
        f"{size / 1e6:,.0f} MB: copied in {copied:.2f} s, converted in {converted:.2f} s "
        f"({copied / converted:.2f} of the speed of copying), {memory:,.0f} MiB of memory at most\n"
    )


def _copy(shards: list[Path], folder: Path) -> float:
    folder.mkdir(exist_ok=True)
    began = time.perf_counter()
    for shard in shards:
        target = folder / shard.name
        shutil.copyfile(shard, target)
        with target.open("rb") as file:
            os.fsync(file.fileno())
    seconds = time.perf_counter() - began
    shutil.rmtree(folder)
    return seconds


def _build(checkpoint: Path, target: Path) -> float:
    """Return the seconds until the file exists, without its checksum."""
    steps = _Steps()
    began = time.perf_counter()
    Build(LocalSource(checkpoint), target, "BF16").run(steps)
    for built in target.parent.glob(f"{target.name}*"):
        built.unlink()
    return next(at for what, at in steps.began if "checksum" in what) - began


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["make", folder]:
            make_checkpoint(Path(folder), **_SHAPE)
        case ["build", checkpoint, target]:
            seconds = _build(Path(checkpoint), Path(target))
            sys.stdout.write(
                f"{seconds} {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}"
            )
        case rest:
            with tempfile.TemporaryDirectory(dir=rest[0] if rest else None) as temporary:
                main(Path(temporary))
