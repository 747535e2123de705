from __future__ import annotations

import os
import stat
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bot.errors import StoreError
from bot.store.database_lock import DatabaseLock

if TYPE_CHECKING:
    from collections.abc import Iterator

NOBODY = 65534


@contextmanager
def without_rights() -> Iterator[None]:
    """Run as an unprivileged user, because root ignores file modes."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can reach, unlike pytest's own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


def test_a_second_lock_on_the_same_database_is_refused(path: Path) -> None:
    first = DatabaseLock(path)
    with pytest.raises(StoreError, match=r"Another Aside is running on .*aside\.db"):
        DatabaseLock(path)
    first.release()
    first.release()
    DatabaseLock(path).release()


def test_two_databases_in_one_folder_are_independent(path: Path) -> None:
    first = DatabaseLock(path)
    second = DatabaseLock(path.with_name("other.db"))
    first.release()
    second.release()


def test_the_folder_and_a_private_file_are_created(path: Path) -> None:
    DatabaseLock(path).release()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_read_only_folder_is_reported(open_folder: Path) -> None:
    open_folder.chmod(0o555)
    path = open_folder / "aside.db"
    with (
        without_rights(),
        pytest.raises(StoreError, match=rf"^{path} can't be written\. Give Aside write permission"),
    ):
        DatabaseLock(path)


def test_a_read_only_file_is_reported(open_folder: Path) -> None:
    path = open_folder / "aside.db"
    path.touch()
    path.chmod(0o444)
    open_folder.chmod(0o777)
    with (
        without_rights(),
        pytest.raises(StoreError, match=rf"^{path} can't be written\. Give Aside write permission"),
    ):
        DatabaseLock(path)
    DatabaseLock(path).release()


def test_a_folder_in_place_of_the_file_is_reported(path: Path) -> None:
    path.mkdir(parents=True)
    with pytest.raises(StoreError, match=r"is a folder\. Set a file"):
        DatabaseLock(path)


def test_a_file_in_place_of_the_folder_is_reported(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("no folder")
    with pytest.raises(StoreError, match=r"aside\.db can't be opened"):
        DatabaseLock(tmp_path / "data" / "aside.db")
