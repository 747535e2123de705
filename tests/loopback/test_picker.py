"""The checks of Discord's client."""

from __future__ import annotations

from typing import Any

import pytest

from .conversation import AppCommand
from .entities import ChannelKind
from .picker import NotOffered, list_commands, pick
from .world import World

OPTIONS = [
    {"name": "how-many", "type": 4, "description": "d", "min_value": 1, "max_value": 5},
    {"name": "mood", "type": 3, "description": "d", "choices": [{"name": "Gay", "value": "g"}]},
    {"name": "note", "type": 3, "description": "d", "max_length": 3},
    {"name": "loud", "type": 5, "description": "d"},
    {"name": "size", "type": 10, "description": "d"},
]


def house(**changes: Any) -> tuple[World, Any, Any]:
    world = World()
    guild = world.guild("Longbourn")
    channel = world.channel(guild, "study")
    user = world.user("Lizzy")
    world.join(guild, user)
    world.commands[1] = AppCommand(
        1, {"name": "play", "description": "d", "options": OPTIONS} | changes, 1
    )
    return world, user, channel


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ({"how_many": 5}, 5),
        ({"mood": "Gay"}, "g"),
        ({"mood": "g"}, "g"),
        ({"note": "abc"}, "abc"),
        ({"loud": True}, True),
        ({"size": 1}, 1),
        ({"size": 0.5}, 0.5),
    ],
)
def test_valid_values_are_sent(given: dict[str, Any], sent: Any) -> None:
    [option] = pick(*house(), "play", given).data["options"]
    assert option["value"] == sent


@pytest.mark.parametrize(
    "given",
    [
        {"how_many": 6},
        {"how_many": True},
        {"mood": "sad"},
        {"note": "abcd"},
        {"loud": 1},
        {"size": "big"},
        {"x": 1},
    ],
)
def test_invalid_values_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(NotOffered):
        pick(*house(), "play", given)


def test_an_option_being_typed_may_have_any_value() -> None:
    [option] = pick(*house(), "play", {"how_many": "tw"}, focused="how_many").data["options"]
    assert (option["value"], option["focused"]) == ("tw", True)


@pytest.mark.parametrize(
    "changes",
    [
        {"nsfw": True},
        {"default_member_permissions": "0"},
        {"default_member_permissions": "32"},
        {"contexts": [1]},
    ],
)
def test_some_commands_are_not_for_everyone(changes: dict[str, Any]) -> None:
    assert list_commands(*house(**changes)) == []


def test_age_restricted_commands_in_threads_follow_the_parent_channel() -> None:
    world, user, channel = house(nsfw=True)
    channel.nsfw = True
    thread = world.thread(channel, "t", user)
    assert thread.kind is ChannelKind.PUBLIC_THREAD
    assert len(list_commands(world, user, thread)) == 1


def test_a_servers_own_commands_come_first_and_other_servers_never() -> None:
    world, user, channel = house()
    world.commands[2] = AppCommand(2, {"name": "play", "description": "ours"}, 1, channel.guild)
    world.commands[3] = AppCommand(
        3, {"name": "play", "description": "theirs"}, 1, world.guild("Pemberley")
    )
    assert [each.id for each in list_commands(world, user, channel)] == [2, 1]
