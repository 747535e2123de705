"""Run `aside eval coser`: act every scene, have it judged, and compute the scores."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import asdict, dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING, Any

from bot.evaluation.journal import step_key
from bot.evaluation.judge import PROMPT_VERSION, Dimension, Verdict, find_flaws
from bot.evaluation.scores import Estimate, coser_score, estimate
from bot.evaluation.self_play import MAX_ROUNDS, Company, Conversation, act

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bot.evaluation.acting_scenes import ActingScene
    from bot.evaluation.chat_model import ChatModel
    from bot.evaluation.journal import Journal
    from bot.scenes.reply_generation import ReplyLimits


@dataclass(frozen=True, slots=True)
class CoserOptions:
    """How the evaluation runs. The same seed gives the same conversations and verdicts."""

    rounds: int = MAX_ROUNDS
    seed: int = 0
    jobs: int = 1  # scenes acted or judged at the same time
    limits: ReplyLimits | None = None


@dataclass(frozen=True, slots=True)
class SceneResult:
    """One scene: its conversation, verdicts, and the score of each dimension with a verdict."""

    scene: str
    book: str
    conversation: Conversation
    verdicts: tuple[Verdict, ...]

    @property
    def scores(self) -> dict[Dimension, float]:
        """The score of each dimension that the judge could judge, 0 to 100."""
        return {
            verdict.dimension: coser_score(verdict.severities, self.conversation.rounds)
            for verdict in self.verdicts
            if verdict.failure is None
        }


@dataclass(slots=True)
class CoserReport:
    """Mean scores with confidence intervals, and everything that failed on the way."""

    model: str
    judge: str
    scenes: list[SceneResult]
    dimensions: dict[str, Estimate] = field(default_factory=dict)
    average: Estimate | None = None  # over scenes with all four verdicts
    judge_failures: dict[str, int] = field(default_factory=dict)  # reason: count
    empty_replies: int = 0
    invalid_predictions: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON data."""
        return {
            "model": self.model,
            "judge": self.judge,
            "dimensions": {name: asdict(one) for name, one in self.dimensions.items()},
            "average": asdict(self.average) if self.average else None,
            "judge_failures": self.judge_failures,
            "empty_replies": self.empty_replies,
            "invalid_predictions": self.invalid_predictions,
            "scenes": [
                {
                    "scene": result.scene,
                    "book": result.book,
                    "rounds": result.conversation.rounds,
                    "scores": {str(name): score for name, score in result.scores.items()},
                    "verdicts": [verdict.to_json() for verdict in result.verdicts],
                    "conversation": result.conversation.to_json(),
                }
                for result in self.scenes
            ],
        }


async def run_coser(
    scenes: Sequence[ActingScene],
    company: Company,
    judge: ChatModel,
    options: CoserOptions,
    journal: Journal,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> CoserReport:
    """Act and judge every scene. Finished steps come from the journal. Raises EngineError.

    A verdict that fails is not written to the journal, so that the next run asks again.
    """
    total = len(scenes) * (1 + len(Dimension))
    done = 0
    places = asyncio.Semaphore(options.jobs)

    def advance() -> None:
        nonlocal done
        done += 1
        progress(done, total)

    async def evaluate(scene: ActingScene) -> SceneResult:
        key = _build_acting_key(scene, company, options)
        async with places:
            conversation = await _act(scene, company, options, journal, key)
            advance()

        async def verdict(dimension: Dimension) -> Verdict:
            async with places:
                found = await _judge(judge, scene, conversation, dimension, options, journal, key)
            advance()
            return found

        verdicts = await asyncio.gather(*map(verdict, Dimension))
        return SceneResult(scene.scenario.id, scene.scenario.book, conversation, tuple(verdicts))

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(evaluate(scene)) for scene in scenes]
    return _report(company, judge, [task.result() for task in tasks])


def _build_acting_key(scene: ActingScene, company: Company, options: CoserOptions) -> str:
    info = company.actors.info
    return step_key(
        task="act",
        version=PROMPT_VERSION,
        actors=info.model,
        dialect=info.dialect,
        sampling=asdict(info.sampling),
        limits=asdict(options.limits) if options.limits else None,
        director=company.director.name,
        narrator=company.narrator.name,
        scenario=scene.scenario.model_dump(mode="json"),
        speakers=scene.speakers,
        major=scene.major_characters,
        rounds=options.rounds,
        seed=options.seed,
    )


async def _act(
    scene: ActingScene, company: Company, options: CoserOptions, journal: Journal, key: str
) -> Conversation:
    if key not in journal:
        conversation = await act(
            scene, company, seed=options.seed, rounds=options.rounds, limits=options.limits
        )
        await asyncio.to_thread(journal.add, key, conversation.to_json())
    return Conversation.from_json(journal[key])


async def _judge(
    judge: ChatModel,
    scene: ActingScene,
    conversation: Conversation,
    dimension: Dimension,
    options: CoserOptions,
    journal: Journal,
    acting_key: str,
) -> Verdict:
    key = step_key(
        task="judge",
        version=PROMPT_VERSION,
        judge=judge.name,
        acting=acting_key,
        reference=scene.reference,
        profiles=scene.profiles,
        dimension=dimension,
    )
    if key in journal:
        return Verdict.from_json(journal[key])
    verdict = await find_flaws(judge, scene, conversation, dimension, options.seed)
    if verdict.failure is None:
        await asyncio.to_thread(journal.add, key, verdict.to_json())
    return verdict


def _report(company: Company, judge: ChatModel, results: list[SceneResult]) -> CoserReport:
    dimensions = {
        str(dimension): found
        for dimension in Dimension
        if (
            found := estimate([one.scores[dimension] for one in results if dimension in one.scores])
        )
    }
    complete = [fmean(one.scores.values()) for one in results if len(one.scores) == len(Dimension)]
    failures = Counter(
        verdict.failure for one in results for verdict in one.verdicts if verdict.failure
    )
    return CoserReport(
        model=company.actors.info.model,
        judge=judge.name,
        scenes=results,
        dimensions=dimensions,
        average=estimate(complete),
        judge_failures=dict(failures),
        empty_replies=sum(one.conversation.empty_replies for one in results),
        invalid_predictions=sum(one.conversation.invalid_predictions for one in results),
    )
