"""A small document model and functions that read it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from bot.documents import read_document
from bot.errors import DocumentError

if TYPE_CHECKING:
    from pathlib import Path


class Guest(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1, max_length=10, description="what the guest is called")
    age: int | None = Field(default=None, ge=0, le=150)
    drink: Literal["tea", "gin"] = "tea"
    titles: tuple[str, ...] = Field(default=(), max_length=2)
    seat: int | Literal["any"] = "any"
    weight: float = 1.0
    late: bool = False


class Party(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    host: str
    guests: tuple[Guest, ...] = ()


def complaint(folder: Path, text: str | bytes) -> str:
    path = folder / "party.yaml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(DocumentError) as caught:
        read_document(path, Party, DocumentError)
    return str(caught.value).replace(str(path), "party.yaml")


def read(folder: Path, text: str | bytes) -> Party:
    path = folder / "party.yaml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_document(path, Party, DocumentError)
