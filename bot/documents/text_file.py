"""The text of a file that a person wrote, or what is wrong with the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.documents.fault import Fault, SourcePosition

if TYPE_CHECKING:
    from pathlib import Path

MAX_BYTES = 1024 * 1024
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def read_text(path: Path, limit: int = MAX_BYTES) -> str:
    """Return the text of a UTF-8 file, a byte order mark in front removed. Raises Fault; `limit` is in bytes."""
    data = _read_bytes(path, limit)
    if data.startswith(_UTF16):
        raise Fault(SourcePosition(str(path)), "is UTF-16: save it as UTF-8")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Fault(
            SourcePosition(str(path), line), "holds bytes that are no UTF-8: save the file as UTF-8"
        ) from None


def _read_bytes(path: Path, limit: int) -> bytes:
    here = SourcePosition(str(path))
    try:
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except FileNotFoundError:
        raise Fault(here, "does not exist: check the path, or create the file") from None
    except IsADirectoryError:
        raise Fault(here, "is a folder: name a file") from None
    except PermissionError:
        problem = (
            "is a folder: name a file"
            if path.is_dir()
            else "may not be read: give this user the right to"
        )
        raise Fault(here, problem) from None
    except (OSError, ValueError) as error:
        raise Fault(
            here, f"can't be read ({getattr(error, 'strerror', None) or error}): check the path"
        ) from None
    if len(data) > limit:
        raise Fault(
            here,
            f"is larger than {limit // 1024} KiB: this can't be the right file, or it must be shortened",
        )
    return data
