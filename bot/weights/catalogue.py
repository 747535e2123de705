"""The catalogue of models: one YAML file per model, shipped or added by the user."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pydantic and callers need it at run time
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from bot.documents import read_document
from bot.errors import DocumentError
from bot.package_data import find_shipped_folder
from bot.weights.dimensions import Dimensions  # noqa: TC001 - pydantic needs it at run time
from bot.weights.quantisation import QUANTISATIONS


class SamplingAdvice(BaseModel):
    """The sampling that the model's authors recommend.

    The neutral value of a sampler switches it off.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    temperature: float = Field(default=0.7, ge=0, le=5)
    top_p: float = Field(default=0.9, gt=0, le=1)
    top_k: int = Field(default=0, ge=0)
    min_p: float = Field(default=0.0, ge=0, lt=1)
    repeat_penalty: float = Field(default=1.0, gt=0, le=3)
    dry: float = Field(default=0.0, ge=0, le=5)


def _require_quantisation(quantisation: str) -> str:
    if quantisation not in QUANTISATIONS:
        raise ValueError(f"a quantisation is one of {', '.join(QUANTISATIONS)}")
    return quantisation


Quantisation = Annotated[str, AfterValidator(_require_quantisation)]


RepositoryName = Annotated[str, Field(pattern=r"^[^/\s:]+/[^/\s:]+$")]


class CatalogueEntry(BaseModel):
    """One model of the catalogue.

    `source` says where ready GGUF files are: `package:PACKAGE/FILE.gguf` (in an installed Python
    package), `hub:OWNER/REPO`, `hub:OWNER/REPO/FILE.gguf` or `file:PATH`. `checkpoint` is the hub
    repository with the safetensors, from which files can be built. At least one of them is
    required.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$")
    title: str
    source: str | None = Field(default=None, pattern=r"^(package|hub|file):[^\s].*[^\s]$")
    checkpoint: RepositoryName | None = None
    mirrors: tuple[RepositoryName, ...] = Field(
        default=(), description="other repositories of the checkpoint, used if the first is missing"
    )
    quantisations: tuple[Quantisation, ...] = Field(default=(), description="published as GGUF")
    quantisation: Quantisation = Field(default="Q4_K_M", description="the default")
    dimensions: Dimensions | None = Field(
        default=None, description="the checkpoint's dimensions, from its config.json"
    )
    licence: str
    dialect: Literal["her", "plain", "stand-in"] = "her"
    stand_in: bool = False
    acts: bool = Field(
        default=True, description="false for a reward model, which can't play a part"
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
    def checkpoints(self) -> tuple[str, ...]:
        """The repositories of the checkpoint, in the order in which they are tried."""
        return (self.checkpoint, *self.mirrors) if self.checkpoint else ()

    def is_called(self, name: str) -> bool:
        """Return whether this is the entry's name or the name of its checkpoint's repository."""
        names = (self.name, *self.checkpoints)
        return name.strip("/").casefold() in {one.casefold() for one in names}

    @property
    def origin(self) -> tuple[str, str]:
        """The kind of source (`package`, `hub`, `file` or empty) and its value."""
        kind, _, where = (self.source or "").partition(":")
        return kind, where

    @property
    def choices(self) -> tuple[str, ...]:
        """The published quantisations, or else those that can be built."""
        if self.quantisations or not self.checkpoint:
            return self.quantisations
        return QUANTISATIONS


def load_catalogue(
    folder: Path | None = None, added: Path | None = None
) -> dict[str, CatalogueEntry]:
    """Return all entries by name: those in `folder` (default: the shipped ones) and in `added`.

    Raise DocumentError.
    """
    files = sorted((folder or find_shipped_folder("models")).glob("*.yaml"))
    files += sorted(added.glob("*.yaml")) if added else []
    entries = (read_document(path, CatalogueEntry, DocumentError) for path in files)
    return {entry.name: entry for entry in entries}
