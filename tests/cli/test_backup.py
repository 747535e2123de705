"""`aside backup`, `aside restore` and `aside vacuum`, as typed by an owner."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from bot.store.store import Store
from tests.cli.conftest import complaint
from tests.store.conftest import begin

if TYPE_CHECKING:
    from tests.cli.conftest import Aside


async def open_and_begin(path: Path) -> None:
    async with await Store.open(path) as store:
        await begin(store)


def test_a_backup_is_made_and_restored(aside: Aside, tmp_path: Path) -> None:
    path = tmp_path / "aside.db"
    asyncio.run(open_and_begin(path))
    made = aside("backup")
    assert made.exit_code == 0, made.output
    (backup,) = Path().glob("aside-*.db")
    path.write_bytes(b"damaged")
    assert aside("restore", str(backup), given="n\n").exit_code != 0
    assert path.read_bytes() == b"damaged"
    restored = aside("restore", str(backup), "--yes")
    assert "The earlier database is" in restored.stdout
    assert "MB now" in aside("vacuum").stdout
    assert "1  " in aside("transcript").stdout


def test_what_can_not_be_backed_up_or_restored_is_named(aside: Aside) -> None:
    assert "aside.db does not exist" in complaint(aside("backup"), status=1)
    assert "none.db does not exist" in complaint(aside("restore", "none.db"), status=1)
    assert "aside.db does not exist" in complaint(aside("vacuum"), status=1)
    assert not Path("aside.db").exists()
