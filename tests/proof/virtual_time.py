"""An event loop with a clock that tests can move, to skip hours of waiting."""

from __future__ import annotations

import asyncio


class SkippableLoop(asyncio.SelectorEventLoop):
    """An event loop whose time can be moved forward. Sleeping tasks wake as if it had passed."""

    def __init__(self) -> None:
        super().__init__()
        self._passed = 0.0

    def time(self) -> float:
        """Return the loop's time in seconds, with the skipped time."""
        return super().time() + self._passed

    async def skip(self, seconds: float, step: float = 5.0) -> None:
        """Skip `seconds` in steps, and let tasks run after each."""
        for _ in range(round(seconds / step)):
            self._passed += step
            await asyncio.sleep(0.02)
