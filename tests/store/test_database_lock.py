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
    """Run as a user whom file modes hold: root ignores them."""
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
    """A folder that any user may reach, unlike pytest's own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


def test_the_second_one_finds_the_database_taken(path: Path) -> None:
    first = DatabaseLock(path)
    with pytest.raises(StoreError, match=r"Another Aside is running on .*aside\.db"):
        DatabaseLock(path)
    first.release()
    first.release()
    DatabaseLock(path).release()


def test_two_databases_in_one_folder_do_not_meet(path: Path) -> None:
    first, second = DatabaseLock(path), DatabaseLock(path.with_name("other.db"))
    first.release()
    second.release()


def test_the_folder_and_a_file_for_its_owner_only_are_made(path: Path) -> None:
    DatabaseLock(path).release()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_folder_nobody_may_write_in_is_named(open_folder: Path) -> None:
    open_folder.chmod(0o555)
    path = open_folder / "aside.db"
    with (
        without_rights(),
        pytest.raises(StoreError, match=rf"^{path} can't be written: give Aside the right"),
    ):
        DatabaseLock(path)


def test_a_file_nobody_may_write_is_named(open_folder: Path) -> None:
    path = open_folder / "aside.db"
    path.touch()
    path.chmod(0o444)
    open_folder.chmod(0o777)
    with (
        without_rights(),
        pytest.raises(StoreError, match=rf"^{path} can't be written: give Aside the right"),
    ):
        DatabaseLock(path)
    DatabaseLock(path).release()


def test_a_folder_in_the_files_place_is_named(path: Path) -> None:
    path.mkdir(parents=True)
    with pytest.raises(StoreError, match="is a folder: name a file"):
        DatabaseLock(path)


def test_a_file_in_the_folders_place_is_named(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("no folder")
    with pytest.raises(StoreError, match=r"aside\.db can't be opened"):
        DatabaseLock(tmp_path / "data" / "aside.db")
