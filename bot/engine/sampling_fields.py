"""The fields of a completions request that carry the sampler settings."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bot.engine.protocol import Sampling


class ServerProgram(StrEnum):
    """The program of a completions server. The values are the owners of its models."""

    LLAMA_SERVER = "llamacpp"
    VLLM = "vllm"
    OTHER = ""

    @classmethod
    def _missing_(cls, _value: object) -> ServerProgram:
        return cls.OTHER


def list_sampling_fields(sampling: Sampling, program: ServerProgram) -> dict[str, Any]:
    """Return the fields with which a server of this program samples as `sampling` says.

    OpenAI's API has only the temperature and top_p. Other programs may refuse a request that has
    more fields, so these are sent only if they are not off. llama-server and vLLM must also get the
    ones that are off: llama-server has other defaults (top_k 40, min_p 0.05), and vLLM takes its
    defaults from the model's `generation_config.json`.
    """
    fields: dict[str, Any] = {"temperature": sampling.temperature, "top_p": sampling.top_p}
    settable = {
        "top_k": (sampling.top_k, 0),
        "min_p": (sampling.min_p, 0.0),
        "repeat_penalty": (sampling.repeat_penalty, 1.0),
        "repetition_penalty": (sampling.repeat_penalty, 1.0),
        "dry_multiplier": (sampling.dry, 0.0),
    }
    for name in _UNKNOWN_FIELDS[program]:
        del settable[name]
    fields |= {
        name: value
        for name, (value, off) in settable.items()
        if program is not ServerProgram.OTHER or value != off
    }
    return fields


_UNKNOWN_FIELDS = {
    ServerProgram.LLAMA_SERVER: ("repetition_penalty",),
    ServerProgram.VLLM: ("repeat_penalty", "dry_multiplier"),
    ServerProgram.OTHER: (),
}
