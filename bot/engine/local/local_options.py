"""Settings of the local engine."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path  # noqa: TC003 - settings are mapped onto this by its types
from typing import Literal, TypeAlias

from bot.engine.protocol import Dialect, Sampling  # noqa: TC001 - settings are mapped onto this by its types
from bot.weights.memory_plan import CacheType  # noqa: TC001 - the same

FlashAttention: TypeAlias = Literal["auto", "on", "off"]


@dataclass(frozen=True, slots=True)
class SamplingOverrides:
    """Sampler settings that replace the recommended ones. Fields that are None keep it."""

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    repeat_penalty: float | None = None
    dry: float | None = None

    def apply_to(self, recommended: Sampling) -> Sampling:
        """Return the recommended settings with these overrides."""
        return replace(
            recommended,
            **{name: value for name, value in asdict(self).items() if value is not None},
        )


@dataclass(frozen=True, slots=True)
class LocalOptions:
    """Settings of the local engine. The defaults adapt to the machine."""

    model: str = "demo"  # a catalogue name, the path of a GGUF file, or hf:OWNER/REPO/FILE.gguf
    weights: Path | None = None  # folder of the model files; default: Aside's
    dialect: Dialect | None = None  # default: from the catalogue, else HER
    requirements: str | None = None  # default: from the catalogue, else Aside's own
    sampling: SamplingOverrides = SamplingOverrides()
    """Overrides of the catalogue's recommendation, or of HER's if the model is not in it."""

    context: int | None = None  # tokens for one mind, prompt and reply; default: as memory allows
    minds: int | None = None  # replies generated at once, default: as memory allows
    gpu_layers: int | Literal["auto", "all"] = "auto"  # auto: as many as fit on the GPUs
    rpc: tuple[str, ...] = ()  # host:port of machines whose devices are used over llama.cpp's RPC
    cache_type: CacheType | None = None  # type of the KV cache; default: as memory allows
    host_memory: int = 2 * 2**30  # bytes of main memory for the KV caches of minds without a slot
    flash_attention: FlashAttention = "auto"
    threads: int | None = None  # default: one per physical core
    queue: int = 64  # replies that may wait; see LocalEngine on who is refused if it is full
    hung_after: float = 20.0  # seconds without a heartbeat after which the worker is killed
    step_limit: float = 300.0  # seconds of one decode after which the worker is killed
    ready_within: float = 60.0  # seconds that a request waits for a restarting worker
    check_memory: bool = True  # refuse to load a model that cannot fit, judging by its header
