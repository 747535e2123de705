"""Read the text of a file that a person wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.documents.fault import Fault, SourcePosition

if TYPE_CHECKING:
    from pathlib import Path

MAX_BYTES = 1024 * 1024
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def read_text(path: Path, limit: int = MAX_BYTES) -> str:
    """Return the text of a UTF-8 file without its byte order mark.

    Raises Fault if the file is missing, unreadable, not UTF-8 or larger than `limit` bytes.
    """
    data = _read_bytes(path, limit)
    if data.startswith(_UTF16):
        raise Fault(SourcePosition(str(path)), "the file is UTF-16. Save it as UTF-8")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Fault(
            SourcePosition(str(path), line), "this line is not valid UTF-8. Save the file as UTF-8"
        ) from None


def _read_bytes(path: Path, limit: int) -> bytes:
    here = SourcePosition(str(path))
    try:
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except FileNotFoundError:
        raise Fault(here, "the file does not exist. Check the path or create the file") from None
    except IsADirectoryError:
        raise Fault(here, "this is a folder. Give the path of a file") from None
    except PermissionError:
        problem = (
            "this is a folder. Give the path of a file"
            if path.is_dir()
            else "permission denied. Let this user read the file"
        )
        raise Fault(here, problem) from None
    except (OSError, ValueError) as error:
        raise Fault(
            here,
            f"the file can't be read ({getattr(error, 'strerror', None) or error}). Check the path",
        ) from None
    if len(data) > limit:
        raise Fault(
            here,
            f"the file is larger than {limit // 1024} KiB. Check the path or shorten the file",
        )
    return data
