"""Who speaks without having been addressed, in scenes whose mode is `auto`."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from bot.scenes.scene import Mode, SceneState
from bot.scenes.speaker_prediction import Moment, choose_next_speaker
from bot.scenes.turn import TurnState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.scenes.dependencies import SceneDependencies
    from bot.scenes.scene import Scene
    from bot.scenes.turn import Turn

MAX_LINE_AGE: Final = timedelta(hours=1)
"""After which nobody waits any more for somebody to take up a line."""


class AutoMode:
    """Considers each last line of a scene once, and says which of the model's characters takes it up."""

    def __init__(self, house: SceneDependencies) -> None:
        self._house = house
        self._considered = 0

    async def next(self, scene: Scene) -> str | None:
        """Return the character that speaks now of its own accord; None where nobody does."""
        if scene.mode is not Mode.AUTO or scene.state is not SceneState.PLAYING:
            return None
        told = await self._house.store.turns(scene.id)
        story = [turn for turn in told if turn.state is TurnState.DONE and turn.public]
        if not story or story[-1].id == self._considered or is_budget_spent(scene, story):
            return None
        if self._house.now() - story[-1].created_at > MAX_LINE_AGE:
            return None
        self._considered = story[-1].id
        performance = self._house.performance
        return await choose_next_speaker(
            performance.engine, Moment(scene, story, performance.new_seed())
        )


def is_budget_spent(scene: Scene, story: Sequence[Turn]) -> bool:
    """Whether as many of the model's turns as the scene allows have followed the last of a person's."""
    since = 0
    for turn in reversed(story):
        if turn.author_id is not None:
            break
        since += 1
    return since >= scene.budget
