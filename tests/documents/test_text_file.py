"""Files are read as UTF-8, and unreadable ones are reported."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bot.documents import read_document
from bot.errors import DocumentError
from tests.documents.conftest import Party, complaint, read


def test_a_file_in_another_encoding_is_rejected(tmp_path: Path) -> None:
    assert "line 2: this line is not valid UTF-8" in complaint(
        tmp_path, b"guests: []\nhost: Zo\xeb\n"
    )
    assert "the file is UTF-16. Save it as UTF-8" in complaint(
        tmp_path, "host: Zoë\n".encode("utf-16")
    )


def test_a_byte_order_mark_is_ignored(tmp_path: Path) -> None:
    assert read(tmp_path, "host: Zoë\n".encode("utf-8-sig")).host == "Zoë"


def test_windows_line_endings_are_accepted(tmp_path: Path) -> None:
    assert read(tmp_path, "host: Ada\r\nguests: []\r\n").host == "Ada"


def test_missing_files_and_folders_are_reported(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match=r"the file does not exist\. Check the path"):
        read_document(tmp_path / "none.yaml", Party, DocumentError)
    with pytest.raises(DocumentError, match=r"this is a folder\. Give the path of a file"):
        read_document(tmp_path, Party, DocumentError)
    with pytest.raises(DocumentError, match="can't be read"):
        read_document(Path(f"{tmp_path}/{'x' * 300}"), Party, DocumentError)


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything"
)
def test_an_unreadable_file_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "party.yaml"
    path.write_text("host: Ada")
    path.chmod(0)
    with pytest.raises(DocumentError, match="permission denied"):
        read_document(path, Party, DocumentError)


def test_a_file_over_the_limit_is_rejected(tmp_path: Path) -> None:
    assert "the file is larger than 1024 KiB" in complaint(tmp_path, "host: " + "a" * 1024 * 1024)
