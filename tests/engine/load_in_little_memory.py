"""Loads the demo model with little memory: `python -m tests.engine.load_in_little_memory ROOM…`.

Each ROOM is the memory in MiB beyond the needs of the smallest context. For each it prints the plan
that was used and the warning, or the error.
"""

from __future__ import annotations

import asyncio
import re
import resource
import sys
from pathlib import Path

from bot.engine.local.local_engine import LocalEngine
from bot.engine.local.local_options import LocalOptions
from bot.errors import EngineError


async def main(rooms: list[int]) -> None:
    """Measure the needs of the smallest context, then load with each room beyond that."""
    needed = await _measure_needed()
    _, hard_limit = resource.getrlimit(resource.RLIMIT_AS)
    for room in rooms:
        resource.setrlimit(resource.RLIMIT_AS, (needed + room * 2**20, hard_limit))
        engine = LocalEngine(LocalOptions(threads=1))
        try:
            await engine.start()
            sys.stdout.write(f"{engine.info.memory} | {engine.info.warning}\n")
        except EngineError as error:
            sys.stdout.write(f"{error}\n")
        finally:
            await engine.close()


async def _measure_needed() -> int:
    """Return the peak address space in bytes of a worker with a small context."""
    engine = LocalEngine(LocalOptions(threads=1, context=512, minds=1))
    await engine.start()
    try:
        assert engine.worker_pid is not None
        return _read_peak(engine.worker_pid)
    finally:
        await engine.close()


def _read_peak(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(re.findall(r"VmPeak:\s+(\d+) kB", status)[0]) * 1024


if __name__ == "__main__":
    asyncio.run(main([int(room) for room in sys.argv[1:]]))
