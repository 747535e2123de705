from __future__ import annotations

from typing import TYPE_CHECKING

from bot.scenes.posts import Obstacle, UnreachablePerson
from bot.store.store import Store
from tests.store.conftest import ELIZA, GM, begin

if TYPE_CHECKING:
    from pathlib import Path

CLOSED = UnreachablePerson(GM, Obstacle.CLOSED)


async def test_a_person_stays_unreachable_after_a_restart_until_they_are_reached(
    path: Path,
) -> None:
    notified = UnreachablePerson(GM, Obstacle.CLOSED, notified=True)
    async with await Store.open(path) as store:
        await store.save_unreachable(CLOSED)
        await store.save_unreachable(notified)
    async with await Store.open(path) as store:
        assert await store.unreachable_people() == [notified]
        await store.forget_unreachable(GM)
        assert await store.unreachable_people() == []


async def test_a_persons_data_includes_that_they_are_unreachable(store: Store) -> None:
    await store.save_unreachable(CLOSED)
    await store.forget_person(GM)
    assert await store.unreachable_people() == []


async def test_forgetting_a_server_forgets_its_game_masters(store: Store) -> None:
    await begin(store, channel=500, guild=1)
    await store.save_unreachable(CLOSED)
    await store.save_unreachable(UnreachablePerson(77, Obstacle.CLOSED))
    await begin(store, channel=600, guild=2)
    await store.forget_server(1)
    assert await store.unreachable_people() == [CLOSED]
    await store.forget_server(2)
    assert await store.unreachable_people() == []


async def test_a_person_is_told_about_pictures_once_until_their_data_is_deleted(
    store: Store,
) -> None:
    assert await store.note_explained(ELIZA)
    assert not await store.note_explained(ELIZA)
    await store.forget_person(ELIZA)
    assert await store.note_explained(ELIZA)
