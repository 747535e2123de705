"""Backups at regular times."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from bot.store.backup import list_backups
from bot.store.backup_schedule import BackupSchedule
from tests.wait_until import until

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from bot.store.store import Store

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
DAY = timedelta(hours=24)


def schedule(path: Path, folder: Path, now: datetime = NOON) -> BackupSchedule:
    return BackupSchedule(path, folder, DAY, 2, now=lambda: now)


async def test_the_first_backup_is_made_at_once_and_the_next_one_is_due_a_day_later(
    store: Store, path: Path, tmp_path: Path
) -> None:
    assert store is not None
    folder = tmp_path / "backups"
    running = schedule(path, folder)
    running.start()
    await until(lambda: bool(list_backups(folder)))
    await running.close()
    assert [file.name for file in list_backups(folder)] == ["aside-20261201-120000.db"]
    assert schedule(path, folder).time_until_next() == DAY
    assert schedule(path, folder, NOON + 2 * DAY).time_until_next() == timedelta()


async def test_old_backups_go_when_a_new_one_is_complete(
    store: Store, path: Path, tmp_path: Path
) -> None:
    assert store is not None
    for day in range(4):
        await schedule(path, tmp_path / "backups", NOON + day * DAY).back_up()
    assert [file.name for file in list_backups(tmp_path / "backups")] == [
        "aside-20261203-120000.db",
        "aside-20261204-120000.db",
    ]


def test_a_backup_from_the_future_does_not_stop_the_others(tmp_path: Path) -> None:
    (tmp_path / "aside-20990101-000000.db").touch()
    assert schedule(tmp_path / "aside.db", tmp_path).time_until_next() == DAY


async def test_a_backup_that_fails_is_logged_and_the_bot_goes_on(
    store: Store, path: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert store is not None
    (tmp_path / "backups").write_text("a file in the way")
    running = schedule(path, tmp_path / "backups")
    running.start()
    await until(lambda: "will be tried again" in caplog.text)
    await running.close()
