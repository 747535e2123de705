"""The checks of `aside doctor` on this machine: settings, library, database, model, devices."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from bot.errors import AsideError, ModelNotDownloaded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from bot.engine.protocol import EngineInfo
    from bot.settings import LocalEngineSettings, RemoteEngineSettings, Settings
    from bot.weights.gguf_reader import GgufFile

_GPU_BUILD = (
    "reinstall llama-cpp-python for your card, for example with "
    'CMAKE_ARGS="-DGGML_CUDA=on" (see “A GPU” in the README)'
)


class State(StrEnum):
    """The result of a check."""

    GOOD = "good"
    NOTE = "note"  # works, with a remark
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check: the finding and, if it failed, the fix."""

    about: str
    state: State
    found: str
    remedy: str = ""


def check_machine(
    settings: Settings,
    config: Path | None,
    warnings: Sequence[str] = (),
    *,
    load_model: bool = True,
    offline: bool = False,
) -> Iterator[Check]:
    """Yield the checks of this machine, the cheap ones first.

    A check that passes has run the same code as the start of the bot. `warnings` are those of the
    settings. `load_model` starts the engine, which takes as long as the bot takes to start. The
    model is not loaded a second time while another Aside is running. With `offline`, the hub is not
    asked for a model that is not downloaded.
    """
    yield Check(
        "Program", State.GOOD, f"aside {_version('aside')} on Python {sys.version.split()[0]}"
    )
    yield Check(
        "Settings",
        State.GOOD,
        f"{config or 'aside.yaml (if it exists) and ASIDE_* variables'}",
    )
    for warning in warnings:
        yield Check("Settings", State.NOTE, warning)
    if settings.logging.file:
        yield _log_file(settings)
    yield from _library(settings)
    database = _database(settings.store.path)
    yield database
    engine = settings.engine
    if engine.kind == "local":
        in_use = database.state is State.NOTE
        reason = "another Aside is running" if in_use else "--quick"
        yield from _local(engine, None if load_model and not in_use else reason, offline=offline)
    else:
        yield from _start_engine("Completions server", engine)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "(not installed)"


def _log_file(settings: Settings) -> Check:
    from bot import logs

    try:
        logs.set_up(settings)()
    except AsideError as error:
        return Check("Log file", State.BAD, str(error))
    return Check("Log file", State.GOOD, f"{settings.logging.file} can be written")


def _library(settings: Settings) -> Iterator[Check]:
    from bot.cli.console.shared_options import open_library

    library = open_library(settings)
    yield Check("Library", State.GOOD, f"{len(library.summaries())} playable scenarios")
    for fault in library.faults:
        yield Check("Library", State.BAD, fault)


def describe_database(path: Path) -> str:
    """Return a short description of the database at `path`, after the check that the start makes.

    Changes no file. Raises StoreError if the bot could not open the database.
    """
    from bot.store.database_check import check_database
    from bot.store.migrations import MIGRATIONS

    size = check_database(path, len(MIGRATIONS))
    if size is None:
        return f"{path} will be created at the first start"
    return f"{path}, {size / 2**20:.1f} MiB"


def _database(path: Path) -> Check:
    from bot.store.database_lock import DatabaseInUse

    try:
        return Check("Database", State.GOOD, describe_database(path))
    except DatabaseInUse as error:
        return Check("Database", State.NOTE, str(error))
    except AsideError as error:
        return Check("Database", State.BAD, str(error))


def _local(
    engine: LocalEngineSettings, reason_to_skip: str | None, *, offline: bool
) -> Iterator[Check]:
    from bot.weights import find_model, gguf_reader

    yield Check("llama.cpp", State.GOOD, f"llama-cpp-python {_version('llama-cpp-python')}")
    yield from _devices()
    try:
        source = find_model.find_model(engine.model, folder=engine.weights, fetching=False)
        headers = gguf_reader.check_model(source.path)
    except ModelNotDownloaded:
        yield _download(engine, offline=offline)
        return
    except AsideError as error:
        yield Check("Model", State.BAD, str(error))
        return
    size = sum(header.bytes_there for header in headers) / 2**30
    yield Check(
        "Model",
        State.GOOD,
        f"{engine.model}: {source.path.name}, {headers[0].architecture}, {size:.1f} GiB",
    )
    yield from _model_notes(engine, headers[0])
    if source.stand_in:
        yield Check(
            "Model",
            State.NOTE,
            "this is a small stand-in for trying Aside, not HER",
            "set `engine.model`",
        )
    if reason_to_skip is None:
        yield from _start_engine("Engine", engine)
    else:
        yield Check("Engine", State.NOTE, f"the model was not loaded ({reason_to_skip})")


def _download(engine: LocalEngineSettings, *, offline: bool) -> Check:
    """Check that the start can download the model."""
    from bot.weights import find_model

    found = f"{engine.model} is not downloaded. The bot downloads it when it starts"
    remedy = f"to download it now, run `aside models pull {engine.model}`"
    if not offline:
        try:
            size = find_model.measure_download(engine.model, engine.weights)
        except AsideError as error:
            return Check("Model", State.BAD, str(error))
        found = f"{found} ({size / 2**30:.1f} GiB)"
    return Check("Model", State.NOTE, found, remedy)


def _model_notes(engine: LocalEngineSettings, header: GgufFile) -> Iterator[Check]:
    from bot.engine.chat_template import ChatTemplate

    template = str(header.values.get("tokenizer.chat_template", ""))
    if template and "<|im_start|>" not in template:
        if ChatTemplate.load(template):
            found = "the model uses its own chat template; a grammar keeps HER's structure"
        else:
            found = "the model's chat template cannot be used, so its replies may be poor"
        yield Check("Prompt format", State.NOTE, found, "for HER's own format, use a HER model")
    elif not template and not header.architecture.startswith("qwen"):
        found = "the file has no chat template, so replies may be poor"
        yield Check("Prompt format", State.NOTE, found, "use an instruction-tuned model")
    if header.is_recurrent:
        found = f"a {header.architecture} model reads its whole prompt again for each reply"
        yield Check("Context", State.NOTE, found, "use a transformer model for long scenes")
    if engine.context and header.context and engine.context > header.context:
        found = (
            f"`engine.context` is {engine.context:,} tokens, but the model was trained with "
            f"{header.context:,}; beyond that its replies get worse"
        )
        yield Check("Context", State.NOTE, found, f"set it to at most {header.context}")


def _devices() -> Iterator[Check]:
    from bot.engine.local import devices

    found = devices.list_devices()
    for device in found:
        memory = f"{device.free / 2**30:.1f} of {device.total / 2**30:.1f} GiB free"
        yield Check("Device", State.GOOD, f"{device}, {memory}")
    for card in devices.find_unused_gpus(found):
        yield Check(
            "Device",
            State.BAD,
            f"{card} is installed, but this build of llama.cpp can't use it",
            _GPU_BUILD,
        )
    if not any(device.gpu for device in found):
        yield Check("Device", State.NOTE, "no GPU found; the CPU generates the replies")


def _start_engine(
    about: str, engine: LocalEngineSettings | RemoteEngineSettings
) -> Iterator[Check]:
    """Start the engine as the bot does, describe it and close it."""
    import asyncio

    from bot.engine_factory import create_engine_from, describe_engine

    async def start() -> EngineInfo:
        started = create_engine_from(engine)
        try:
            await started.start()
            return started.info
        finally:
            await started.close()

    try:
        info = asyncio.run(start())
    except AsideError as error:
        yield Check(about, State.BAD, str(error))
        return
    yield Check(about, State.GOOD, describe_engine(info))
    if info.warning:
        yield Check(about, State.NOTE, info.warning)
