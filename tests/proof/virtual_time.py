"""Hours that pass in no time: for what a program does while it waits."""

from __future__ import annotations

import asyncio


class Hours(asyncio.SelectorEventLoop):
    """An event loop whose time can be made to pass. Whoever sleeps in it wakes as if it had."""

    def __init__(self) -> None:
        super().__init__()
        self._passed = 0.0

    def time(self) -> float:
        """Return the loop's time in seconds, with what was made to pass."""
        return super().time() + self._passed

    async def let_pass(self, seconds: float, step: float = 5.0) -> None:
        """Have so many seconds pass, a step at a time, with a moment between for what wakes then."""
        for _ in range(round(seconds / step)):
            self._passed += step
            await asyncio.sleep(0.02)
