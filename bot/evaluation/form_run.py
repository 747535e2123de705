"""Run `aside eval form`: the cast of each scenario plays among itself, and the form is measured."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final

from bot.errors import EmptyReply
from bot.evaluation.form import FormReport, ReplySample, measure_form
from bot.evaluation.journal import step_key
from bot.evaluation.recording_engine import RecordingEngine
from bot.scenes.rehearsal import Rehearsal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bot.engine.protocol import Engine
    from bot.evaluation.journal import Journal
    from bot.library.scenario import Scenario
    from bot.scenes.reply_generation import ReplyLimits

_VERSION: Final = 1  # part of the journal's key; increase it when the procedure changes


@dataclass(frozen=True, slots=True)
class FormOptions:
    """How form is measured. The same seed gives the same replies."""

    rounds: int = 10
    seed: int = 0
    jobs: int = 1  # scenes played at the same time
    limits: ReplyLimits | None = None


@dataclass(slots=True)
class FormResult:
    """The metrics of one model, and how many replies failed twice."""

    model: str
    report: FormReport | None
    empty_replies: int = 0
    by_scenario: dict[str, FormReport] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the result as JSON data."""
        return asdict(self)


async def run_form(
    engine: Engine,
    scenarios: Sequence[Scenario],
    options: FormOptions,
    journal: Journal,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> FormResult:
    """Play every scenario once and return the metrics. Finished scenes come from the journal.

    Raises EngineError.
    """
    model = engine.info.model
    done = 0
    places = asyncio.Semaphore(options.jobs)

    async def play(scenario: Scenario) -> dict[str, Any]:
        nonlocal done
        key = step_key(
            task="form",
            version=_VERSION,
            model=model,
            dialect=engine.info.dialect,
            sampling=asdict(engine.info.sampling),
            limits=asdict(options.limits) if options.limits else None,
            scenario=scenario.model_dump(mode="json"),
            rounds=options.rounds,
            seed=options.seed,
        )
        async with places:
            if key not in journal:
                result = await _play(engine, scenario, options)
                await asyncio.to_thread(journal.add, key, result)
        done += 1
        progress(done, len(scenarios))
        return dict(journal[key])

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(play(scenario)) for scenario in scenarios]
    results = [task.result() for task in tasks]
    samples = [_read_samples(one) for one in results]
    by_scenario = {
        scenario.id: report
        for scenario, one in zip(scenarios, samples, strict=True)
        if (report := measure_form(one)) is not None
    }
    return FormResult(
        model=model,
        report=measure_form([sample for one in samples for sample in one]),
        empty_replies=sum(one["empty_replies"] for one in results),
        by_scenario=by_scenario,
    )


def _read_samples(result: dict[str, Any]) -> list[ReplySample]:
    """Return the samples of a result, which JSON may have turned into lists."""
    return [
        ReplySample(**sample | {"others": tuple(sample["others"])}) for sample in result["samples"]
    ]


async def _play(engine: Engine, scenario: Scenario, options: FormOptions) -> dict[str, Any]:
    """Let the characters speak in turn, beginning with the scenario's opening."""
    recording = RecordingEngine(engine)
    rehearsal = Rehearsal(scenario, recording, seed=options.seed, limits=options.limits)
    names = [character.name for character in scenario.characters]
    chinese = _is_chinese(scenario)
    samples: list[dict[str, Any]] = []
    empty_replies = 0
    for number in range(options.rounds):
        character = names[number % len(names)]
        before = len(recording.replies)
        try:
            await rehearsal.reply(character)
        except EmptyReply:
            empty_replies += 1
        samples += [
            asdict(
                ReplySample(
                    raw=reply.raw,
                    character=character,
                    others=tuple(name for name in names if name != character),
                    seconds=reply.seconds,
                    tokens=reply.tokens,
                    forced_planning_end=reply.forced_planning_end,
                    chinese=chinese,
                )
            )
            for reply in recording.replies[before:]
        ]
    return {"samples": samples, "empty_replies": empty_replies}


def _is_chinese(scenario: Scenario) -> bool:
    text = "".join((scenario.setting, *(one.profile for one in scenario.characters)))
    return sum("\u4e00" <= char <= "\u9fff" for char in text) * 5 > len(text)
