"""Uses an engine's idle time to read the beginnings of likely prompts in advance."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from bot.engine.protocol import PrefetchingEngine
from bot.errors import AsideError
from bot.her.beats import speech
from bot.her.prompt import Prompt, Text
from bot.scenes.reply_generation import mind_key
from bot.scenes.scene import SceneState
from bot.scenes.turn import Take, Turn, TurnKind, TurnState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.her.prompt import PromptPart
    from bot.scenes.dependencies import SceneDependencies
    from bot.scenes.prompt_assembly import AssembledPrompt
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
        for character in await _list_likely(dependencies, scene):
            assembled = await dependencies.minds.assemble(scene, character)
            prefix = await asyncio.to_thread(predict_prefix, generator, scene, character, assembled)
            engine.prefetch(mind_key(scene, character), prefix)
    except AsideError as error:
        _log.info("Scene %d: the prefetch failed: %s", scene.id, error)


async def _list_likely(dependencies: SceneDependencies, scene: Scene) -> list[str]:
    """Return the characters that are likely to speak next, as many as the engine plays at once."""
    names = [part.character for part in scene.parts]
    replies = await dependencies.store.latest_replies(scene.id, names)
    return rank_minds(scene, replies)[: dependencies.generator.engine.info.minds]


def rank_minds(scene: Scene, replies: Sequence[Turn]) -> list[str]:
    """Return the model's characters that spoke, the latest first, or the first of the cast."""
    answering = [part.character for part in scene.parts if part.answers]
    spoke = dict.fromkeys(turn.speaker for turn in reversed(replies))
    return [name for name in spoke if name in answering] or answering[:1]


def predict_prefix(
    generator: ReplyGenerator, scene: Scene, character: str, assembled: AssembledPrompt
) -> Prompt:
    """Return the prefix that this character's next prompt has after any next line.

    It contains no notes, because they move along with the last line.
    """
    source = generator.source(scene, character)
    now = replace(assembled.recollection, notes=())
    later = replace(now, turns=(*now.turns, _example_line(scene)))
    return find_common_prefix(
        source.build(generator.engine, now), source.build(generator.engine, later)
    )


def find_common_prefix(one: Prompt, other: Prompt) -> Prompt:
    """Return the longest prefix of both prompts."""
    parts: list[PromptPart] = []
    for left, right in zip(one.parts, other.parts, strict=False):
        if left != right:
            if isinstance(left, Text) and isinstance(right, Text):
                parts.append(Text(find_shared_text(left.text, right.text)))
            break
        parts.append(left)
    return Prompt(tuple(parts))


def find_shared_text(one: str, other: str) -> str:
    """Return the longest prefix of both texts."""
    same = 0
    most = min(len(one), len(other))
    while same < most:
        middle = (same + most + 1) // 2
        if one[same:middle] == other[same:middle]:
            same = middle
        else:
            most = middle - 1
    return one[:same]


def _example_line(scene: Scene) -> Turn:
    """Return a line that somebody might say next."""
    take = Take(0, 1, (speech("Well?"),), "")
    return Turn(0, scene.id, TurnKind.LINE, "Somebody", TurnState.DONE, scene.started_at, take)
