"""The services that every scene of a theatre uses."""

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
    """The store, the delivery to people, the generator of replies, and the clock."""

    store: SceneStore
    delivery: Delivery
    generator: ReplyGenerator
    now: Callable[[], datetime]
