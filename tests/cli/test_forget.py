"""`aside forget`: a server's stories are deleted, and no other's."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from bot.library.library import Library
from bot.package_data import shipped_folder
from bot.scenes.scene import Part, Place
from bot.store.store import Store
from tests.store.conftest import NOON

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Aside

LONGBOURN, PEMBERLEY = 10, 20


async def two_servers(path: Path) -> None:
    scenario = Library([shipped_folder("personas")]).scenario("pride-and-prejudice")
    async with await Store.open(path) as store:
        for server in (LONGBOURN, PEMBERLEY):
            await store.add_scene(Place(server, server), scenario, (1,), [Part("Mr Bennet")], NOON)


async def servers(path: Path) -> list[int]:
    async with await Store.open(path) as store:
        return [scene.place.guild_id for scene in await store.open_scenes()]


def test_a_servers_stories_are_deleted_and_no_others(aside: Aside, tmp_path: Path) -> None:
    path = tmp_path / "aside.db"
    asyncio.run(two_servers(path))
    assert aside("forget", str(LONGBOURN), given="n\n").exit_code != 0
    assert asyncio.run(servers(path)) == [LONGBOURN, PEMBERLEY]
    result = aside("forget", str(LONGBOURN), given="y\n")
    assert result.stdout.endswith("1 story deleted.\n")
    assert aside("forget", str(LONGBOURN), "--yes").stdout == "0 stories deleted.\n"
    assert asyncio.run(servers(path)) == [PEMBERLEY]


def test_where_nothing_is_stored_nothing_is_made(aside: Aside, tmp_path: Path) -> None:
    result = aside("forget", "1", "--yes")
    assert result.exit_code == 2
    assert "nothing is stored here" in result.output
    assert not (tmp_path / "aside.db").exists()
