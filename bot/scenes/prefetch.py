"""Uses an engine's idle time to read the beginnings of likely prompts in advance."""

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


async def prefetch_minds(dependencies: SceneDependencies, scene: Scene) -> None:
    """Pass the prefixes of the next likely prompts to an engine that prefetches.

    The likeliest character comes first. Errors are only logged: without a prefetch, the engine
    reads the next prompt as a whole.
    """
    generator = dependencies.generator
    engine = generator.engine
    if not isinstance(engine, PrefetchingEngine) or scene.state is not SceneState.PLAYING:
        return
    try:
        turns = await dependencies.store.turns(scene.id)
        story = [turn for turn in turns if turn.state is TurnState.DONE]
        for character in rank_minds(scene, story)[: generator.engine.info.minds]:
            prefix = await predict_prefix(generator, scene, character, story)
            engine.prefetch(mind_key(scene, character), prefix)
    except AsideError as error:
        _log.info("Scene %d: the prefetch failed: %s", scene.id, error)


def rank_minds(scene: Scene, story: Sequence[Turn]) -> list[str]:
    """Return the model's characters that spoke, the latest first, or the first of the cast."""
    answering = [part.character for part in scene.parts if part.answers]
    spoke = dict.fromkeys(turn.speaker for turn in reversed(story) if turn.kind is TurnKind.REPLY)
    return [name for name in spoke if name in answering] or answering[:1]


async def predict_prefix(
    generator: ReplyGenerator, scene: Scene, character: str, story: Sequence[Turn]
) -> Prompt:
    """Return the prefix that this character's next prompt has after any next line.

    It contains no notes, because they move along with the last line. Raises PromptTooLong and
    EngineError.
    """
    fitted = await generator.fit_prompt(scene, character, story)
    left_out = {turn.id for turn in fitted.left_out}
    kept = [turn for turn in story if turn.is_heard_by(character) and turn.id not in left_out]
    with_line = prompt_builder.build_prompt(
        scene.scenario,
        character,
        (*kept, _example_line(scene)),
        generator.engine.info.dialect,
        requirements=generator.engine.info.requirements,
        empty_think=generator.limits.empty_think,
        left_out=fitted.left_out,
        prompt_format=generator.engine.info.prompt_format,
    )
    return find_common_prefix(fitted.prompt, with_line)


def find_common_prefix(one: Prompt, other: Prompt) -> Prompt:
    """Return the longest prefix of both prompts."""
    parts: list[PromptPart] = []
    for left, right in zip(one.parts, other.parts, strict=False):
        if left != right:
            if isinstance(left, Text) and isinstance(right, Text):
                parts.append(Text(_find_shared_text(left.text, right.text)))
            break
        parts.append(left)
    return Prompt(tuple(parts))


def _find_shared_text(one: str, other: str) -> str:
    pairs = enumerate(zip(one, other, strict=False))
    first_difference = next((at for at, (left, right) in pairs if left != right), None)
    return one[:first_difference] if first_difference is not None else min(one, other, key=len)


def _example_line(scene: Scene) -> Turn:
    """Return a line that somebody might say next."""
    take = Take(0, 1, (speech("Well?"),), "")
    return Turn(0, scene.id, TurnKind.LINE, "Somebody", TurnState.DONE, scene.started_at, take)
