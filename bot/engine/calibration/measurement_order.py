"""The order that the child process of a measurement carries out."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class MeasurementOrder:
    """One run of texts through a model.

    With an `output` the run computes an importance matrix, otherwise it measures perplexity.
    `control` reads control tokens that are spelt in the texts as such.
    """

    model: str  # path of the GGUF file
    texts: tuple[str, ...]  # paths of UTF-8 files
    names: tuple[str, ...]  # names of the texts, kept in the matrix
    chunk: int  # tokens
    gpu_layers: int
    threads: int | None = None  # None: one per physical core
    control: bool = False
    output: str = ""

    def to_json(self) -> str:
        """Return the order as JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> MeasurementOrder:
        """Return the order that `to_json` wrote."""
        data = json.loads(text)
        return cls(**{**data, "texts": tuple(data["texts"]), "names": tuple(data["names"])})
