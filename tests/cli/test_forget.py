"""`aside forget` deletes the scenes of one server."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from bot.library.library import Library
from bot.package_data import find_shipped_folder
from bot.scenes.scene import Part, Place
from bot.store.store import Store
from tests.store.conftest import NOON

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Aside

LONGBOURN, PEMBERLEY = 10, 20


async def two_servers(path: Path) -> None:
    scenario = Library([find_shipped_folder("personas")]).scenario("pride-and-prejudice")
    async with await Store.open(path) as store:
        for server in (LONGBOURN, PEMBERLEY):
            await store.add_scene(Place(server, server), scenario, (1,), [Part("Mr Bennet")], NOON)


async def servers(path: Path) -> list[int]:
    async with await Store.open(path) as store:
        return [scene.place.guild_id for scene in await store.open_scenes()]


def test_forget_deletes_only_the_scenes_of_one_server(aside: Aside, tmp_path: Path) -> None:
    path = tmp_path / "aside.db"
    asyncio.run(two_servers(path))
    assert aside("forget", str(LONGBOURN), given="n\n").exit_code != 0
    assert asyncio.run(servers(path)) == [LONGBOURN, PEMBERLEY]
    result = aside("forget", str(LONGBOURN), given="y\n")
    assert result.stdout.endswith("Deleted 1 scene.\n")
    assert aside("forget", str(LONGBOURN), "--yes").stdout == "Deleted 0 scenes.\n"
    assert asyncio.run(servers(path)) == [PEMBERLEY]


def test_forget_creates_no_database(aside: Aside, tmp_path: Path) -> None:
    result = aside("forget", "1", "--yes")
    assert result.exit_code == 2
    assert "aside.db does not exist" in result.output
    assert not (tmp_path / "aside.db").exists()
