"""Local engines with the demo model, shared by tests that need no special options."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from bot.engine.local.local_engine import LocalEngine
from bot.engine.local.local_options import LocalOptions

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def engine() -> AsyncGenerator[LocalEngine, None]:
    local = LocalEngine(LocalOptions(context=256, minds=3, queue=4, threads=1))
    await local.start()
    yield local
    await local.close()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def narrow() -> AsyncGenerator[LocalEngine, None]:
    """An engine with a single slot, so that minds queue."""
    local = LocalEngine(LocalOptions(context=256, minds=1, threads=1))
    await local.start()
    yield local
    await local.close()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the tests of this folder that share an engine on its event loop."""
    for item in items:
        shared = {"engine", "narrow"} & set(getattr(item, "fixturenames", ()))
        if shared and item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)
            item.add_marker(pytest.mark.model)
