"""Chooses who speaks without being addressed, in scenes whose mode is `auto`."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from bot.scenes.scene import MAX_BUDGET, Mode, SceneState
from bot.scenes.speaker_prediction import Moment, choose_next_speaker
from bot.scenes.turn_selection import TurnSelection

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.scenes.dependencies import SceneDependencies
    from bot.scenes.scene import Scene
    from bot.scenes.turn import Turn

MAX_LINE_AGE: Final = timedelta(hours=1)
"""No character answers an older line: people no longer wait for the answer."""

_LATEST: Final = MAX_BUDGET + 1
"""Turns that the choice depends on: enough to see that the budget is spent."""


class AutoMode:
    """Considers each last line of a scene once and chooses the model's character that answers."""

    def __init__(self, dependencies: SceneDependencies) -> None:
        self._dependencies = dependencies
        self._considered = 0  # id of the last turn considered

    async def choose_speaker(self, scene: Scene) -> str | None:
        """Return the character that speaks now without being addressed, if any."""
        if scene.mode is not Mode.AUTO or scene.state is not SceneState.PLAYING:
            return None
        story = await self._dependencies.store.latest_turns(
            scene.id, _LATEST, TurnSelection(done=True, public=True)
        )
        if not story or story[-1].id == self._considered or is_budget_spent(scene, story):
            return None
        if self._dependencies.now() - story[-1].created_at > MAX_LINE_AGE:
            return None
        self._considered = story[-1].id
        generator = self._dependencies.generator
        moment = Moment(scene, story, generator.new_seed())
        return await choose_next_speaker(generator.engine, moment)


def is_budget_spent(scene: Scene, story: Sequence[Turn]) -> bool:
    """Return whether the model has taken all turns that may follow a person's last turn."""
    model_turns = 0
    for turn in reversed(story):
        if turn.author_id is None:
            model_turns += 1
        elif turn.author_id not in scene.bots:  # two bots could answer each other for ever
            break
    return model_turns >= scene.budget
