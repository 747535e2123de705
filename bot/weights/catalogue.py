"""The catalogue of models: one YAML file a model, those that ship and those that people added."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pydantic and callers need it at run time
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from bot.documents import read_document
from bot.errors import DocumentError
from bot.package_data import shipped_folder
from bot.weights.dimensions import Dimensions  # noqa: TC001 - pydantic needs it at run time
from bot.weights.quantisation import QUANTISATIONS


class SamplingAdvice(BaseModel):
    """How a model's makers draw its tokens; the neutral value of each switches that sampler off."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    temperature: float = Field(default=0.7, ge=0, le=5)
    top_p: float = Field(default=0.9, gt=0, le=1)
    top_k: int = Field(default=0, ge=0)
    min_p: float = Field(default=0.0, ge=0, lt=1)
    repeat_penalty: float = Field(default=1.0, gt=0, le=3)
    dry: float = Field(default=0.0, ge=0, le=5)


def _known(quantisation: str) -> str:
    if quantisation not in QUANTISATIONS:
        raise ValueError(f"a quantisation is one of {', '.join(QUANTISATIONS)}")
    return quantisation


Quantisation = Annotated[str, AfterValidator(_known)]


class CatalogueEntry(BaseModel):
    """One model of the catalogue.

    `source` is where ready GGUF files come from: `package:PACKAGE/FILE.gguf` (inside an installed Python package),
    `hub:OWNER/REPO` or `hub:OWNER/REPO/FILE.gguf`, or `file:PATH`. `checkpoint` is the hub's repository of the
    safetensors, from which files can be built. One of the two there must be.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$")
    title: str
    source: str | None = Field(default=None, pattern=r"^(package|hub|file):[^\s].*[^\s]$")
    checkpoint: str | None = Field(default=None, pattern=r"^[^/\s:]+/[^/\s:]+$")
    quantisations: tuple[Quantisation, ...] = Field(
        default=(), description="that are published as GGUF"
    )
    quantisation: Quantisation = Field(default="Q4_K_M", description="taken where none is named")
    dimensions: Dimensions | None = Field(
        default=None, description="the checkpoint's measures, from its config.json"
    )
    licence: str
    dialect: Literal["her", "stand-in"] = "her"
    stand_in: bool = False
    acts: bool = Field(
        default=True, description="false for one that judges replies and plays no part"
    )
    sampling: SamplingAdvice = Field(default_factory=SamplingAdvice)
    requirements: str = Field(
        default="",
        max_length=20_000,
        description="the Requirements section of HER's prompt; left out: Aside's own wording",
    )
    note: str = ""

    @model_validator(mode="after")
    def _comes_from_somewhere(self) -> CatalogueEntry:
        if self.source is None and self.checkpoint is None:
            raise ValueError("a model needs a `source` or a `checkpoint`")
        return self

    @property
    def origin(self) -> tuple[str, str]:
        """The kind of source (`package`, `hub`, `file`; empty where there is none), and what comes after the colon."""
        kind, _, where = (self.source or "").partition(":")
        return kind, where

    @property
    def choices(self) -> tuple[str, ...]:
        """Quantisations it can be had in: those published, else those that can be built from the checkpoint."""
        if self.quantisations or not self.checkpoint:
            return self.quantisations
        return QUANTISATIONS


def catalogue(folder: Path | None = None, added: Path | None = None) -> dict[str, CatalogueEntry]:
    """Return all entries by name: those in `folder` (default: as they ship), then those in `added`, where it exists.

    Raises DocumentError.
    """
    files = sorted((folder or shipped_folder("models")).glob("*.yaml"))
    files += sorted(added.glob("*.yaml")) if added else []
    entries = (read_document(path, CatalogueEntry, DocumentError) for path in files)
    return {entry.name: entry for entry in entries}
