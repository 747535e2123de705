"""The engine that the settings ask for, and what people are told of it. Loads no Discord."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.engine.local.local_engine import LocalEngine
from bot.engine.local.local_options import LocalOptions, SamplingOverrides
from bot.engine.protocol import Dialect, Sampling
from bot.engine.remote_engine import RemoteEngine, RemoteOptions
from bot.settings import LocalEngineSettings, RemoteEngineSettings

if TYPE_CHECKING:
    from bot.engine.protocol import Engine, EngineInfo
    from bot.settings import Settings


def create_engine(settings: Settings) -> Engine:
    """Return the engine the settings ask for, not started. Raises UserInputError."""
    return create_engine_from(settings.engine)


def create_engine_from(chosen: LocalEngineSettings | RemoteEngineSettings) -> Engine:
    """Return an engine of the chosen kind, not started."""
    options = chosen.options()
    if options.get("dialect"):
        options["dialect"] = Dialect(options["dialect"])
    wishes = SamplingOverrides(**options.pop("sampling", {}))
    if isinstance(chosen, RemoteEngineSettings):
        options["api_key"] = chosen.api_key.get_secret_value() if chosen.api_key else None
        return RemoteEngine(RemoteOptions(**options, sampling=wishes.over(Sampling())))
    return LocalEngine(LocalOptions(**options, sampling=wishes))


def describe_engine(info: EngineInfo) -> str:
    """Return one line on what generates the replies and where."""
    layers = (
        f", {info.layers_offloaded} of {info.layers} layers on it" if info.layers_offloaded else ""
    )
    return f"{info.model} on {info.device}{layers}, {info.context:,} tokens of context"


def engine_warning(info: EngineInfo) -> str | None:
    """Return what must be said aloud about this engine: a GPU that is not used, a stand-in for HER; None: nothing."""
    stand_in = "The model is a stand-in to try Aside with: it shows how things work, not how well HER acts."
    return (
        " ".join(said for said in (info.warning, stand_in if info.stand_in else None) if said)
        or None
    )
