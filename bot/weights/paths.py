"""Names of files on the hub, and their paths on this machine."""

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
        """Read `OWNER/REPO/FILE.gguf`.

        Raise UserInputError if it has another form or is not a GGUF file.
        """
        pieces = text.strip().strip("/").split("/")
        if len(pieces) < 3 or not all(pieces) or ".." in pieces:
            raise UserInputError(
                f"hf:{text} is not a file on the hub. Write hf:OWNER/REPO/FILE.gguf."
            )
        if not pieces[-1].endswith(".gguf"):
            raise UserInputError(f"hf:{text} is not a GGUF file. Choose a file that ends in .gguf.")
        return cls("/".join(pieces[:2]), "/".join(pieces[2:]))


def repository_folder(repo: str, folder: Path) -> Path:
    """Return the folder for the files of a repository."""
    return folder / repo.replace("/", "--")


def find_stored(file: HubFile, folder: Path) -> Path | None:
    """Return the path of `file` if all its parts are complete in `folder`."""
    path = repository_folder(file.repo, folder) / file.name
    try:
        gguf_reader.check_model(path)
    except ModelFileError:
        return None
    return path
