"""Loads the demo model where memory runs out: `python -m tests.engine.load_in_little_memory ROOM…` prints, for each ROOM in
MiB beyond what the smallest context needs, the plan that was taken and what was said about it, or why there is none.
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
    """Find out what the smallest context needs, then load with so much room beyond that."""
    needed = await _needed()
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    for room in rooms:
        resource.setrlimit(resource.RLIMIT_AS, (needed + room * 2**20, most))
        engine = LocalEngine(LocalOptions(threads=1))
        try:
            await engine.start()
            sys.stdout.write(f"{engine.info.memory} | {engine.info.warning}\n")
        except EngineError as error:
            sys.stdout.write(f"{error}\n")
        finally:
            await engine.close()


async def _needed() -> int:
    """Bytes of address space that a worker with a small context has taken at most."""
    engine = LocalEngine(LocalOptions(threads=1, context=512, minds=1))
    await engine.start()
    try:
        assert engine.worker_pid is not None
        return _peak(engine.worker_pid)
    finally:
        await engine.close()


def _peak(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(re.findall(r"VmPeak:\s+(\d+) kB", status)[0]) * 1024


if __name__ == "__main__":
    asyncio.run(main([int(room) for room in sys.argv[1:]]))
