"""The services that every scene of a theatre uses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.scenes.player_sentences import describe_to_players

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from bot.errors import AsideError
    from bot.scenes.mind_reader import MindReader
    from bot.scenes.reply_generation import ReplyGenerator
    from bot.scenes.scene_delivery import Delivery
    from bot.scenes.scene_store import SceneStore


@dataclass(frozen=True, slots=True)
class SceneDependencies:
    """The store, the delivery to people, the generator of replies, the minds, and the clock.

    `describe_error` returns the sentence that the scene's people read about an error.
    """

    store: SceneStore
    delivery: Delivery
    generator: ReplyGenerator
    minds: MindReader
    now: Callable[[], datetime]
    describe_error: Callable[[AsideError], str] = describe_to_players
