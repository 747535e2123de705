from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.loopback.fixtures import loopback
from tests.play.harness import Evening, an_evening

if TYPE_CHECKING:
    from pathlib import Path

    from tests.loopback import LoopbackDiscord

__all__ = ["loopback"]


@pytest.fixture
def evening(loopback: LoopbackDiscord, tmp_path: Path) -> Evening:
    return an_evening(loopback, tmp_path)
