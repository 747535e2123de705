"""Names of files on the hub, and their paths on this machine."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

from bot.errors import ModelFileError, UserInputError
from bot.weights import gguf_reader

if TYPE_CHECKING:
    from pathlib import Path


_PAGE = re.compile(
    r"(?:https?://)?(?:www\.)?(?:huggingface\.co|hf\.co)/(?P<path>[^?#]*)", re.IGNORECASE
)
_NOT_MODELS = ("datasets", "spaces", "collections", "docs", "papers")


def read_model_name(text: str) -> str:
    """Return a model's name as the other functions take it.

    The address of a page of the hub becomes `hf:OWNER/REPO` or `hf:OWNER/REPO/FILE`. Any other text
    is returned without surrounding spaces. Raise UserInputError if the page is not a model's.
    """
    name = text.strip()
    endpoint = os.environ.get("HF_ENDPOINT", "").rstrip("/")
    if endpoint and name.startswith(f"{endpoint}/"):
        name = f"huggingface.co/{name[len(endpoint) + 1 :]}"
    if not (page := _PAGE.fullmatch(re.split(r"[?#]", name, maxsplit=1)[0])):
        return name
    owner, *rest = [unquote(piece) for piece in page["path"].strip("/").split("/")]
    if not rest or owner in _NOT_MODELS:
        raise UserInputError(
            f"{name} is not the page of a model. Use https://huggingface.co/OWNER/REPO or a file's "
            "page."
        )
    repo, *inside = rest
    if not inside:
        return f"hf:{owner}/{repo}"
    if inside[0] not in ("blob", "resolve", "tree", "raw"):
        return f"hf:{owner}/{repo}"  # a tab of the repository's page, such as “discussions”
    if inside[1:2] not in ([], ["main"]):
        raise UserInputError(
            f"{name} is a page of the revision {inside[1]}. Only main can be used: choose the file "
            "there."
        )
    file = inside[2:] if inside[0] != "tree" else []
    return "/".join([f"hf:{owner}", repo, *file])


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
