"""Self-played scenes as the text for an importance matrix: prompts and replies as at play."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.errors import EmptyReply
from bot.evaluation.recording_engine import RecordingEngine
from bot.scenes.rehearsal import Rehearsal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bot.engine.protocol import Engine
    from bot.library.scenario import Scenario
    from bot.scenes.reply_generation import ReplyLimits


async def play_calibration_scenes(
    engine: Engine,
    scenarios: Sequence[Scenario],
    *,
    replies: int,
    seed: int = 0,
    limits: ReplyLimits | None = None,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> str:
    """Let the characters of each scenario speak in turn, with `replies` replies for each scenario.

    Return each prompt with its reply, with control tokens spelt out. Raises EngineError.
    """
    texts: list[str] = []
    for place, scenario in enumerate(scenarios):
        recording = RecordingEngine(engine)
        rehearsal = Rehearsal(scenario, recording, seed=seed, limits=limits)
        names = [character.name for character in scenario.characters]
        for number in range(replies):
            try:
                await rehearsal.reply(names[number % len(names)])
            except EmptyReply:
                continue  # its text counts all the same
            finally:
                progress(place * replies + number + 1, len(scenarios) * replies)
        texts += [one.prompt + one.raw for one in recording.replies]
    return "\n".join(texts)
