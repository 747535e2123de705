"""The catalogue of models that ships with Aside: one YAML file a model, in the top-level folder `models`."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pydantic and callers need it at run time
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from bot.documents import read_document
from bot.errors import DocumentError
from bot.shipped import shipped


class SamplingAdvice(BaseModel):
    """How a model's makers draw its tokens; the neutral value of each switches that sampler off."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    temperature: float = Field(default=0.7, ge=0, le=5)
    top_p: float = Field(default=0.9, gt=0, le=1)
    top_k: int = Field(default=0, ge=0)
    min_p: float = Field(default=0.0, ge=0, lt=1)
    repeat_penalty: float = Field(default=1.0, gt=0, le=3)
    dry: float = Field(default=0.0, ge=0, le=5)


class CatalogueEntry(BaseModel):
    """One model of the catalogue.

    `source` is `package:PACKAGE/FILE.gguf` (inside an installed Python package), `hub:OWNER/REPO/FILE.gguf`, or
    `hub:OWNER/REPO` for weights that are not published as GGUF, so that a file must be named instead.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1)
    title: str
    source: str = Field(pattern=r"^(package|hub):[^/\s]+/.+$")
    licence: str
    dialect: Literal["her", "stand-in"] = "her"
    stand_in: bool = False
    sampling: SamplingAdvice = Field(default_factory=SamplingAdvice)
    note: str = ""


def catalogue(folder: Path | None = None) -> dict[str, CatalogueEntry]:
    """Return all entries by name, from `folder` (default: the one that ships). Raises DocumentError."""
    files = sorted((folder or shipped("models")).glob("*.yaml"))
    entries = (read_document(path, CatalogueEntry, DocumentError) for path in files)
    return {entry.name: entry for entry in entries}
