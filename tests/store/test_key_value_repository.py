from __future__ import annotations

from typing import TYPE_CHECKING

from bot.store.store import Store

if TYPE_CHECKING:
    from pathlib import Path


async def test_a_value_survives_a_restart_until_it_is_replaced(path: Path) -> None:
    async with await Store.open(path) as store:
        assert await store.fact("synced") is None
        await store.set_fact("synced", "once")
        await store.set_fact("synced", "twice")
        await store.set_fact("other", "thing")
    async with await Store.open(path) as store:
        assert await store.fact("synced") == "twice"
