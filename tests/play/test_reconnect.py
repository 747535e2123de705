"""What is looked at when the bot has come online, one scene after the other, while others end and move."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import discord
import pytest

from cogs.listener import Listener

if TYPE_CHECKING:
    from collections.abc import Callable


def a_scene(number: int, channel: int) -> Any:
    return SimpleNamespace(
        id=number, place=SimpleNamespace(guild_id=1, channel_id=channel, parent_id=None)
    )


def not_found(code: int) -> discord.NotFound:
    return discord.NotFound(SimpleNamespace(status=404, reason=""), {"code": code})  # type: ignore[arg-type]


class House:
    """As much of a bot, a theatre and a hearing as coming back needs; every channel is gone."""

    def __init__(self, *scenes: Any) -> None:
        self.there = {scene.id: scene for scene in scenes}
        self.ended: list[int] = []
        self.looked_at: list[int] = []
        self.meanwhile: Callable[[int], None] = lambda _channel: None

    def scenes(self) -> list[Any]:
        return list(self.there.values())

    def at(self, channel_id: int) -> Any:
        return next(
            (scene for scene in self.there.values() if scene.place.channel_id == channel_id), None
        )

    def play_owed(self) -> None:
        """Nothing is owed."""

    async def end(self, scene: Any, _by: int, *, moderates: bool = False) -> None:
        assert moderates
        self.ended.append(self.there.pop(scene.id).id)

    def get_guild(self, _guild_id: int) -> object:
        return object()

    def get_channel(self, _channel_id: int) -> None:
        return None

    async def fetch_channel(self, channel_id: int) -> object:
        self.looked_at.append(channel_id)
        self.meanwhile(channel_id)
        raise not_found(10003)

    async def online(self) -> None:
        await Listener(self, self, self).on_ready()  # type: ignore[arg-type]


async def test_a_scene_that_moved_while_others_were_looked_at_is_not_ended() -> None:
    house = House(a_scene(1, 10), a_scene(2, 20), a_scene(3, 30))

    def moves(channel: int) -> None:
        if channel == 20:
            house.there[2] = a_scene(2, 99)

    house.meanwhile = moves
    await house.online()
    assert house.ended == [1, 3]
    assert house.at(99).id == 2


async def test_a_scene_that_ended_while_others_were_looked_at_costs_those_after_it_nothing() -> (
    None
):
    house = House(a_scene(1, 10), a_scene(2, 20), a_scene(3, 30))
    house.meanwhile = lambda channel: house.there.pop(2, None) if channel == 10 else None
    await house.online()
    assert house.ended == [1, 3]


@pytest.mark.parametrize(
    "error",
    [
        discord.InvalidData("a kind of channel from the future"),
        OSError("cut off"),
        not_found(0),  # the words of some wall before Discord
    ],
    ids=repr,
)
async def test_a_place_that_discord_cant_tell_of_is_there(error: Exception) -> None:
    house = House(a_scene(1, 10), a_scene(2, 20))

    def fails(channel: int) -> None:
        if channel == 10:
            raise error

    house.meanwhile = fails
    await house.online()
    assert house.ended == [2]
    assert 20 in house.looked_at


async def test_whatever_goes_wrong_with_one_scene_the_others_have_their_turn() -> None:
    house = House(a_scene(1, 10), a_scene(2, 20))

    def fails(channel: int) -> None:
        if channel == 10:
            raise RuntimeError("nobody thought of this")

    house.meanwhile = fails
    await house.online()
    assert house.ended == [2]
