"""Names of files on the hub, and where such files lie on this machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.errors import ModelFileError, UserInputError
from bot.weights import gguf_reader

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class HubFile:
    """One file of a hub repository."""

    repo: str
    name: str

    def __str__(self) -> str:
        return f"hf:{self.repo}/{self.name}"

    @classmethod
    def parse(cls, text: str) -> HubFile:
        """Read `OWNER/REPO/FILE.gguf`. Raises UserInputError where it isn't of that form, or names no GGUF file."""
        pieces = text.strip().strip("/").split("/")
        if len(pieces) < 3 or not all(pieces) or ".." in pieces:
            raise UserInputError(
                f"hf:{text} names no file of the hub: write hf:OWNER/REPO/FILE.gguf."
            )
        if not pieces[-1].endswith(".gguf"):
            raise UserInputError(f"hf:{text} is no GGUF file: choose one whose name ends in .gguf.")
        return cls("/".join(pieces[:2]), "/".join(pieces[2:]))


def home(repo: str, folder: Path) -> Path:
    """Return the folder that files of a repository are kept in."""
    return folder / repo.replace("/", "--")


def stored(file: HubFile, folder: Path) -> Path | None:
    """Return the path of `file` where all its parts lie in `folder` already, whole."""
    path = home(file.repo, folder) / file.name
    try:
        gguf_reader.check(path)
    except ModelFileError:
        return None
    return path
