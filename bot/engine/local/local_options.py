"""What can be chosen about the local engine."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path  # noqa: TC003 - settings are mapped onto this by its types
from typing import Literal, TypeAlias

from bot.engine.protocol import Dialect, Sampling  # noqa: TC001 - settings are mapped onto this by its types
from bot.weights.memory_plan import CacheType  # noqa: TC001 - the same

FlashAttention: TypeAlias = Literal["auto", "on", "off"]


@dataclass(frozen=True, slots=True)
class SamplingOverrides:
    """What is to be other than the model's makers recommend; None: nothing."""

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    repeat_penalty: float | None = None
    dry: float | None = None

    def apply_to(self, recommended: Sampling) -> Sampling:
        """Return the recommended sampling with these wishes in its place."""
        return replace(
            recommended,
            **{name: value for name, value in asdict(self).items() if value is not None},
        )


@dataclass(frozen=True, slots=True)
class LocalOptions:
    """Settings of the local engine, each with a default that fits itself to the machine."""

    model: str = (
        "demo"  # a name of the catalogue, the path of a GGUF file, or hf:OWNER/REPO/FILE.gguf
    )
    weights: Path | None = None  # the folder weights are kept in; None: Aside's own
    dialect: Dialect | None = None  # None: the catalogue's word for it, else HER
    sampling: SamplingOverrides = (
        SamplingOverrides()
    )  # over the catalogue's word for it, else HER's
    context: int | None = (
        None  # tokens of one mind, prompt and reply together; None: as memory allows
    )
    minds: int | None = (
        None  # replies generated at once, each with a context of its own; None: as memory allows
    )
    gpu_layers: int | Literal["auto", "all"] = (
        "auto"  # auto: all that fit on a GPU, where there is one
    )
    rpc: tuple[
        str, ...
    ] = ()  # host:port of other machines whose devices are used, through llama.cpp's RPC backend
    cache_type: CacheType | None = None  # how keys and values are kept; None: as memory allows
    host_memory: int = (
        2 * 2**30
    )  # bytes of main memory for minds that have lost their place in the cache
    flash_attention: FlashAttention = "auto"
    threads: int | None = None  # None: one for each core
    queue: int = (
        64  # replies that may wait; more of a guild that is among them are refused with EngineBusy
    )
    hung_after: float = 20.0  # seconds without a sign of life after which the worker is killed
    step_limit: float = 300.0  # seconds one step of the model may take before the worker is killed
    ready_within: float = 60.0  # seconds a request waits for a worker that is being restarted
    check_memory: bool = True  # refuse to load what can't fit, by the model's header
