"""What every scene of a theatre is played with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from bot.scenes.interfaces import Delivery, SceneStore
    from bot.scenes.reply_generation import ReplyGenerator


@dataclass(frozen=True, slots=True)
class SceneDependencies:
    """Where scenes are remembered, where they are shown, who plays them, and what time it is."""

    store: SceneStore
    stage: Delivery
    performance: ReplyGenerator
    now: Callable[[], datetime]
