"""Backups at regular times while the bot runs."""

from __future__ import annotations

import asyncio
import logging
import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from bot.errors import StoreError
from bot.store.backup import delete_old_backups, list_backups, name_backup, write_backup

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_log = logging.getLogger(__name__)
_RETRY: Final = timedelta(minutes=10)
_TIME: Final = re.compile(r"aside-(\d{8}-\d{6})\.db")


class BackupSchedule:
    """Backs up a database each `interval`, and keeps the latest `keep` backups.

    The names of the backups say when the next one is due, so a restart changes nothing. A backup
    that fails is logged and tried again after ten minutes. Start it with `start`, and await `close`
    at the end.
    """

    def __init__(
        self,
        path: Path,
        folder: Path,
        interval: timedelta,
        keep: int,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._path = path
        self._folder = folder
        self._interval = interval
        self._keep = keep
        self._now = now
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start to make backups."""
        self._task = asyncio.create_task(self._run(), name="backups")

    async def close(self) -> None:
        """Stop. A backup that is being written is finished or removed."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def time_until_next(self) -> timedelta:
        """Return the time until the next backup is due, zero if it is overdue. Blocks."""
        times = [
            datetime.strptime(found.group(1), "%Y%m%d-%H%M%S").replace(tzinfo=UTC)
            for backup in list_backups(self._folder)
            if (found := _TIME.fullmatch(backup.name))
        ]
        if not times:
            return timedelta()
        # After a clock was set back, a backup from the future must not stop all others.
        latest = min(max(times), self._now())
        return max(timedelta(), latest + self._interval - self._now())

    async def back_up(self) -> None:
        """Write one backup and delete old ones. Raises StoreError."""
        target = self._folder / name_backup(self._now())
        backup = await asyncio.to_thread(write_backup, self._path, target)
        _log.info("Wrote the backup %s: %d rows, %d bytes", target, backup.rows, backup.size)
        for old in await asyncio.to_thread(delete_old_backups, self._folder, self._keep):
            _log.info("Deleted the old backup %s", old)

    async def _run(self) -> None:
        while True:
            wait = await asyncio.to_thread(self.time_until_next)
            await asyncio.sleep(wait.total_seconds())
            try:
                await self.back_up()
            except (StoreError, OSError) as error:
                _log.error("The backup failed and will be tried again: %s", error)
                await asyncio.sleep(_RETRY.total_seconds())
