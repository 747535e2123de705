"""The catch-up after a reconnect, while scenes end and move."""

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


class Reconnection:
    """The parts of the bot and the scenes that a reconnect needs. All channels are deleted."""

    def __init__(self, *scenes: Any) -> None:
        self.running = {scene.id: scene for scene in scenes}
        self.ended: list[int] = []
        self.fetched: list[int] = []
        self.on_fetch: Callable[[int], None] = lambda _channel: None

    def scenes(self) -> list[Any]:
        return list(self.running.values())

    def at(self, channel_id: int) -> Any:
        return next(
            (scene for scene in self.running.values() if scene.place.channel_id == channel_id), None
        )

    def play_owed(self, _scene_id: int | None = None) -> None:
        """Do nothing: no reply is pending."""

    async def report_missed_failures(self, _scene: Any) -> None:
        """Do nothing: no reply is missing."""

    async def end(self, scene: Any, _by: int, *, moderates: bool = False) -> None:
        assert moderates
        self.ended.append(self.running.pop(scene.id).id)

    def get_guild(self, _guild_id: int) -> object:
        return object()

    def get_channel(self, _channel_id: int) -> None:
        return None

    async def fetch_channel(self, channel_id: int) -> object:
        self.fetched.append(channel_id)
        self.on_fetch(channel_id)
        raise not_found(10003)

    async def resume(self, _scene: object) -> None:
        pass

    async def online(self) -> None:
        await Listener(self, self, self, self, self, self, self, self).on_ready()  # type: ignore[arg-type]


async def test_a_scene_that_moves_during_the_catch_up_is_not_ended() -> None:
    reconnection = Reconnection(a_scene(1, 10), a_scene(2, 20), a_scene(3, 30))

    def moves(channel: int) -> None:
        if channel == 20:
            reconnection.running[2] = a_scene(2, 99)

    reconnection.on_fetch = moves
    await reconnection.online()
    assert reconnection.ended == [1, 3]
    assert reconnection.at(99).id == 2


async def test_a_scene_that_ends_during_the_catch_up_does_not_stop_the_others() -> None:
    reconnection = Reconnection(a_scene(1, 10), a_scene(2, 20), a_scene(3, 30))
    reconnection.on_fetch = lambda channel: (
        reconnection.running.pop(2, None) if channel == 10 else None
    )
    await reconnection.online()
    assert reconnection.ended == [1, 3]


@pytest.mark.parametrize(
    "error",
    [
        discord.InvalidData("a kind of channel from the future"),
        OSError("cut off"),
        not_found(0),  # the answer of a firewall in front of Discord
    ],
    ids=repr,
)
async def test_an_unreachable_channel_counts_as_existing(error: Exception) -> None:
    reconnection = Reconnection(a_scene(1, 10), a_scene(2, 20))

    def fails(channel: int) -> None:
        if channel == 10:
            raise error

    reconnection.on_fetch = fails
    await reconnection.online()
    assert reconnection.ended == [2]
    assert 20 in reconnection.fetched


async def test_an_error_in_one_scene_does_not_stop_the_others() -> None:
    reconnection = Reconnection(a_scene(1, 10), a_scene(2, 20))

    def fails(channel: int) -> None:
        if channel == 10:
            raise RuntimeError("an unforeseen error")

    reconnection.on_fetch = fails
    await reconnection.online()
    assert reconnection.ended == [2]
