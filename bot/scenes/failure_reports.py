"""Stores and reports that an owed turn failed."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from bot.errors import PostingError
from bot.scenes.notices import Notice
from bot.scenes.outage_retry import retry_until_done
from bot.scenes.turn import TurnState

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.her.beats import PrivateBeat
    from bot.scenes.dependencies import SceneDependencies
    from bot.scenes.scene import Scene
    from bot.scenes.take_delivery import TakeDelivery
    from bot.scenes.turn import Turn

_log = logging.getLogger(__name__)


class FailureReports:
    """Reports the failures of one scene's turns. `scene` returns the scene's current state."""

    def __init__(
        self,
        dependencies: SceneDependencies,
        scene: Callable[[], Scene],
        take_delivery: TakeDelivery,
    ) -> None:
        self._store = dependencies.store
        self._delivery = dependencies.delivery
        self._scene = scene
        self._take_delivery = take_delivery

    async def report(
        self, turn: Turn, sentence: str, *, partly_shown: bool, discard_take: bool = False
    ) -> None:
        """Store the failure and report it in the channel.

        With `partly_shown`, people may have seen part of the reply. With `discard_take`, the next
        attempt generates another take instead of posting the same.
        """
        failed = await retry_until_done(
            lambda: self._store.fail(turn.id, sentence, discard_take=discard_take),
            f"The failure of turn {turn.id}",
        )
        try:
            if failed.state is TurnState.DONE:  # an earlier take is current again
                if partly_shown or discard_take:
                    await self._take_delivery.withdraw(turn)
                notice = Notice(f"{sentence} The earlier reply of {turn.speaker} remains.")
                await retry_until_done(
                    lambda: self._delivery.announce(self._scene(), notice),
                    f"The notice about turn {turn.id}",
                )
            elif failed.state is TurnState.FAILED:
                await retry_until_done(
                    lambda: self._delivery.fail(self._scene(), failed, sentence),
                    f"The notice about turn {turn.id}",
                )
        except PostingError as error:
            _log.error("Turn %d failed, and the notice can't be posted: %s", turn.id, error)

    async def show_thoughts(self, turn: Turn, thoughts: tuple[PrivateBeat, ...]) -> None:
        """Show the thoughts of a reply that had no words, unless its turn left the story."""
        current = await self._store.turn(turn.id)
        if not thoughts or current is None or current.state is TurnState.HIDDEN:
            return
        try:
            await retry_until_done(
                lambda: self._delivery.show_thoughts(self._scene(), turn, thoughts),
                f"The thoughts of turn {turn.id}",
            )
        except PostingError as error:
            _log.error("Turn %d failed, and its thoughts can't be posted: %s", turn.id, error)
