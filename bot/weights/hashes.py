"""Hashes that tell whether a file is what it should be, and the notes that keep them beside the file."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_CHUNK = 2**22


@dataclass(frozen=True, slots=True)
class Hash:
    """What the hub says of a file: SHA-256 of a large one, git's own SHA-1 of a small one."""

    kind: Literal["sha256", "git"]
    value: str

    @classmethod
    def listed(cls, sha256: str | None, blob: str | None) -> Hash | None:
        """Return the better of the two the hub lists."""
        return cls("sha256", sha256) if sha256 else cls("git", blob) if blob else None

    def fits(self, path: Path, progress: Callable[[int, int], None] | None = None) -> bool:
        """Whether the file has this hash. Reads all of it."""
        if self.kind == "sha256":
            return sha256(path, progress) == self.value
        blob = hashlib.sha1(f"blob {path.stat().st_size}\0".encode(), usedforsecurity=False)
        blob.update(path.read_bytes())
        return blob.hexdigest() == self.value


def sha256(path: Path, progress: Callable[[int, int], None] | None = None) -> str:
    """Return a file's SHA-256 in hexadecimal digits; `progress` hears of the bytes read, and of all. Raises OSError."""
    digest, size, read = hashlib.sha256(), path.stat().st_size, 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            read += len(chunk)
            if progress:
                progress(read, size)
    return digest.hexdigest()


def note(path: Path, value: str) -> None:
    """Write a file's SHA-256 down beside it, as `sha256sum --check` reads it. Raises OSError."""
    _beside(path).write_text(f"{value}  {path.name}\n", encoding="utf-8")


def noted(path: Path) -> str | None:
    """Return the SHA-256 that was written down for a file, if any."""
    try:
        return _beside(path).read_text(encoding="utf-8").split()[0]
    except (OSError, IndexError, UnicodeDecodeError):
        return None


def forget(path: Path) -> None:
    """Take the note away."""
    _beside(path).unlink(missing_ok=True)


def _beside(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")
