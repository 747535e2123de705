"""Compute the importance matrix of a model file, from its own scenes or from texts."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bot.cli.models.machine import build_plan_request, format_size, measure_memory
from bot.errors import ModelFileError, WeightsError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from bot.engine.calibration.measurements import ImportanceReport, ModelRun
    from bot.settings import LocalEngineSettings, Settings
    from bot.weights.build import BuildProgress

REPLIES: Final = 8  # for each shipped scenario
REPLY_TOKENS: Final = 1024
_PLANNING: Final = 0.6  # of the tokens of a reply; HER's planning has about 580


@dataclass(frozen=True, slots=True)
class CalibrationText:
    """The text of an importance matrix: files, or else scenes that the model plays."""

    files: tuple[Path, ...] = ()
    replies: int = REPLIES  # for each scenario
    tokens: int = REPLY_TOKENS  # of a reply at most


def prepare_run(model: Path, settings: Settings, chunk: int) -> ModelRun:
    """Plan how a model is loaded to read chunks of text. Raises ModelFileError."""
    from bot.engine.calibration.measurements import ModelRun
    from bot.weights import gguf_reader
    from bot.weights.memory_plan import make_plans, make_smallest_plan

    headers = gguf_reader.check_model(model)
    memory = measure_memory()
    request = build_plan_request(settings, chunk, 1)
    plans = make_plans(headers, memory.gpus, memory.main, request)
    if not plans:
        needed = make_smallest_plan(headers, request).main_bytes
        raise ModelFileError(
            f"{model.name} needs {format_size(needed)} of memory. Use a smaller quantisation of it."
        )
    threads = _local_settings(settings).threads
    return ModelRun(model, plans[0].gpu_layers, chunk, threads)


def compute_matrix(
    run: ModelRun,
    text: CalibrationText,
    output: Path,
    told: BuildProgress,
    settings: Settings,
    dialect: str | None = None,
) -> ImportanceReport:
    """Compute the matrix and write it to `output`.

    An interrupted command keeps the scenes that it played, and the next one uses them. Raises
    AsideError.
    """
    from bot.engine.calibration.measurements import compute_importance

    scenes = output.with_name(f"{output.stem}.scenes.txt")
    if not text.files and not scenes.is_file():
        told.step("Playing scenes", "replies")
        played = asyncio.run(_play(run, text, told.progress, settings, dialect))
        _store(scenes, played)
    told.step("Computing the importance matrix", "chunks")
    report = compute_importance(
        run,
        text.files or (scenes,),
        output,
        control=not text.files,
        progress=told.progress,
    )
    if not text.files:
        scenes.unlink()
    return report


async def _play(
    run: ModelRun,
    text: CalibrationText,
    progress: Callable[[int, int], None],
    settings: Settings,
    dialect: str | None,
) -> str:
    from bot.engine_factory import create_engine_from
    from bot.evaluation.calibration_scenes import play_calibration_scenes
    from bot.library.library import Library
    from bot.package_data import find_shipped_folder
    from bot.scenes.reply_generation import ReplyLimits

    library = Library([find_shipped_folder("personas")])
    scenarios = [library.scenario(one.id) for one in library.summaries()]
    changes: dict[str, str] = {"model": str(run.model)}
    if dialect:
        changes["dialect"] = dialect
    async with AsyncExitStack() as stack:
        engine = create_engine_from(_local_settings(settings).model_copy(update=changes))
        stack.push_async_callback(engine.close)
        await engine.start()
        return await play_calibration_scenes(
            engine,
            scenarios,
            replies=text.replies,
            limits=ReplyLimits(text.tokens, int(text.tokens * _PLANNING)),
            progress=progress,
        )


def _local_settings(settings: Settings) -> LocalEngineSettings:
    from bot.settings import LocalEngineSettings

    chosen = settings.engine
    return chosen if isinstance(chosen, LocalEngineSettings) else LocalEngineSettings()


def _store(path: Path, text: str) -> None:
    part = path.with_name(f"{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except OSError as error:
        raise WeightsError(
            f"{path} can't be stored ({error.strerror or error}). Choose another folder."
        ) from error


def require_texts(texts: Sequence[Path]) -> tuple[Path, ...]:
    """Return the files. Raises UserInputError if one can't be read."""
    from bot.errors import UserInputError

    for text in texts:
        try:
            text.open("rb").close()
        except OSError as error:
            raise UserInputError(
                f"{text} can't be read ({error.strerror or error}). Check the path."
            ) from error
    return tuple(texts)
