"""Check files by their hash, and store hashes beside the files."""

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
    """A hash listed by the hub: SHA-256 of a large file, or git's SHA-1 of a small one."""

    kind: Literal["sha256", "git"]
    value: str

    @classmethod
    def from_listing(cls, sha256: str | None, blob: str | None) -> Hash | None:
        """Return the better of two listed hashes, if any."""
        return cls("sha256", sha256) if sha256 else cls("git", blob) if blob else None

    def matches(self, path: Path, progress: Callable[[int, int], None] | None = None) -> bool:
        """Return whether the file has this hash. Reads the whole file."""
        if self.kind == "sha256":
            return sha256(path, progress) == self.value
        blob = hashlib.sha1(f"blob {path.stat().st_size}\0".encode(), usedforsecurity=False)
        blob.update(path.read_bytes())
        return blob.hexdigest() == self.value


def sha256(path: Path, progress: Callable[[int, int], None] | None = None) -> str:
    """Return a file's SHA-256 in hexadecimal.

    `progress` receives the bytes read and the total. Raise OSError.
    """
    digest = hashlib.sha256()
    size = path.stat().st_size
    read = 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            read += len(chunk)
            if progress:
                progress(read, size)
    return digest.hexdigest()


def save_sha256(path: Path, value: str) -> None:
    """Write a file's SHA-256 beside it, in the format of `sha256sum --check`. Raise OSError."""
    _hash_file(path).write_text(f"{value}  {path.name}\n", encoding="utf-8")


def load_sha256(path: Path) -> str | None:
    """Return the SHA-256 stored beside a file, if there is one."""
    try:
        return _hash_file(path).read_text(encoding="utf-8").split()[0]
    except (OSError, IndexError, UnicodeDecodeError):
        return None


def delete_sha256(path: Path) -> None:
    """Delete the stored hash."""
    _hash_file(path).unlink(missing_ok=True)


def _hash_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")
