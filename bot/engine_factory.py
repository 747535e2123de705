"""Creates the configured engine and describes it for people. Does not import Discord."""

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

_STAND_IN_WARNING = (
    "This model is a stand-in for HER. It shows how Aside works, not how well HER acts."
)


def create_engine(settings: Settings) -> Engine:
    """Return the engine of these settings, not started. Raises UserInputError."""
    return create_engine_from(settings.engine)


def create_engine_from(engine_settings: LocalEngineSettings | RemoteEngineSettings) -> Engine:
    """Return a local or remote engine, not started."""
    options = engine_settings.options()
    if options.get("dialect"):
        options["dialect"] = Dialect(options["dialect"])
    overrides = SamplingOverrides(**options.pop("sampling", {}))
    if isinstance(engine_settings, RemoteEngineSettings):
        key = engine_settings.api_key
        options["api_key"] = key.get_secret_value() if key else None
        return RemoteEngine(RemoteOptions(**options, sampling=overrides.apply_to(Sampling())))
    return LocalEngine(LocalOptions(**options, sampling=overrides))


def describe_engine(info: EngineInfo) -> str:
    """Return one line with the model, its device and its context."""
    layers = (
        f", {info.layers_offloaded} of {info.layers} layers on it" if info.layers_offloaded else ""
    )
    return f"{info.model} on {info.device}{layers}, {info.context:,} tokens of context"


def engine_warning(info: EngineInfo) -> str | None:
    """Return a warning for the operator, or None.

    For example, that the GPU is not used or that the model is a stand-in.
    """
    warnings = (info.warning, _STAND_IN_WARNING if info.stand_in else None)
    return " ".join(filter(None, warnings)) or None
