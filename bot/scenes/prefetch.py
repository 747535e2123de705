"""Uses an engine's idle time: minds are brought to what their next prompts begin with before anybody has spoken."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from bot.engine.protocol import PrefetchingEngine
from bot.errors import AsideError
from bot.her.beats import speech
from bot.her.prompt import Prompt, Text
from bot.scenes import prompt_builder
from bot.scenes.reply_generation import mind_key
from bot.scenes.scene import SceneState
from bot.scenes.turn import Take, Turn, TurnKind, TurnState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.her.prompt import PromptPart
    from bot.scenes.dependencies import SceneDependencies
    from bot.scenes.reply_generation import ReplyGenerator
    from bot.scenes.scene import Scene

_log = logging.getLogger(__name__)


async def prefetch_minds(house: SceneDependencies, scene: Scene) -> None:
    """Tell an engine that can make use of it how the minds begin that may be asked next, the likeliest first.

    That it fails is no matter: the next prompt is read as a whole then.
    """
    engine = house.performance.engine
    if not isinstance(engine, PrefetchingEngine) or scene.state is not SceneState.PLAYING:
        return
    try:
        story = [turn for turn in await house.store.turns(scene.id) if turn.state is TurnState.DONE]
        for character in rank_minds(scene, story)[: engine.info.minds]:
            engine.prefetch(
                mind_key(scene, character),
                await predict_prefix(house.performance, scene, character, story),
            )
    except AsideError as error:
        _log.info("Scene %d: no mind was prepared: %s", scene.id, error)


def rank_minds(scene: Scene, story: Sequence[Turn]) -> list[str]:
    """Return the model's characters that may be asked next: those that have spoken, the latest first; where none has,
    the first of the cast."""
    answering = [part.character for part in scene.parts if part.answers]
    spoke = dict.fromkeys(turn.speaker for turn in reversed(story) if turn.kind is TurnKind.REPLY)
    return [name for name in spoke if name in answering] or answering[:1]


async def predict_prefix(
    performance: ReplyGenerator, scene: Scene, character: str, story: Sequence[Turn]
) -> Prompt:
    """Return what this character's next prompt begins with, whatever is said next. Raises PromptTooLong, EngineError.

    Notes don't stand in it: they move along with the last line.
    """
    fitted = await performance.fitted(scene, character, story)
    gone = {turn.id for turn in fitted.left_out}
    kept = [turn for turn in story if turn.heard(character) and turn.id not in gone]
    another = prompt_builder.build_prompt(
        *(scene.scenario, character, (*kept, _line(scene)), performance.engine.info.dialect),
        empty_think=performance.limits.empty_think,
        left_out=fitted.left_out,
    )
    return find_common_prefix(fitted.prompt, another)


def find_common_prefix(one: Prompt, other: Prompt) -> Prompt:
    """Return what two prompts both begin with."""
    parts: list[PromptPart] = []
    for some, others in zip(one.parts, other.parts, strict=False):
        if some != others:
            if isinstance(some, Text) and isinstance(others, Text):
                parts.append(Text(_shared(some.text, others.text)))
            break
        parts.append(some)
    return Prompt(tuple(parts))


def _shared(one: str, other: str) -> str:
    differing = (
        at for at, (some, others) in enumerate(zip(one, other, strict=False)) if some != others
    )
    return one[: next(differing, min(len(one), len(other)))]


def _line(scene: Scene) -> Turn:
    """A line that somebody may say next."""
    take = Take(0, 1, (speech("Well?"),), "")
    return Turn(0, scene.id, TurnKind.LINE, "Somebody", TurnState.DONE, scene.started_at, take)
