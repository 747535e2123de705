"""What is missing where, in the words of Discord's settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import discord
import pytest

from bot.errors import MissingPermission
from bot.posting.permissions import join_names, missing_permissions, require_playable

if TYPE_CHECKING:
    from tests.loopback import Channel
    from tests.posting.conftest import House


async def denied(
    house: House, *names: str, place: Channel | None = None
) -> discord.TextChannel | discord.Thread:
    """Return the room, or a thread in it, as the client knows it once the bot is denied something there."""
    own = next(role for role in house.guild.roles.values() if role.managed_by)
    house.discord.world.overwrite(house.room, own, deny=" ".join(names))
    room = house.client.get_channel(house.room.id)
    assert isinstance(room, discord.TextChannel)
    await house.discord.until(
        lambda: not names or not getattr(room.permissions_for(room.guild.me), names[0])
    )
    if place is None:
        return room
    thread = await house.client.fetch_channel(place.id)
    assert isinstance(thread, discord.Thread)
    return thread


async def test_with_the_invitations_permissions_nothing_is_missing(house: House) -> None:
    room = await denied(house)
    assert missing_permissions(room, room.guild.me) == []
    require_playable(room, room.guild.me)


async def test_what_a_channel_denies_is_missing_there(house: House) -> None:
    room = await denied(house, "manage_webhooks", "send_messages")
    assert missing_permissions(room, room.guild.me) == ["Send Messages", "Manage Webhooks"]
    with pytest.raises(
        MissingPermission, match="I lack a permission in #study: allow me Send Messages there"
    ):
        require_playable(room, room.guild.me)


async def test_where_nothing_can_be_seen_that_is_what_is_missing(house: House) -> None:
    room = await denied(house, "view_channel")
    assert missing_permissions(room, room.guild.me) == ["View Channel"]


async def test_a_scene_can_be_played_without_webhooks(house: House) -> None:
    room = await denied(house, "manage_webhooks", "attach_files", "read_message_history")
    assert missing_permissions(room, room.guild.me) == [
        "Attach Files",
        "Read Message History",
        "Manage Webhooks",
    ]
    require_playable(room, room.guild.me)


async def test_a_thread_needs_its_own_permission_to_send(house: House) -> None:
    thread = await denied(house, "send_messages_in_threads", place=house.thread())
    assert missing_permissions(thread, thread.guild.me) == ["Send Messages in Threads"]
    with pytest.raises(
        MissingPermission, match="in #Act one: allow me Send Messages in Threads there"
    ):
        require_playable(thread, thread.guild.me)


@pytest.mark.parametrize(
    ("names", "sentence"),
    [((), ""), (("A",), "A"), (("A", "B"), "A and B"), (("A", "B", "C"), "A, B and C")],
)
def test_names_are_listed_as_a_sentence_does(names: tuple[str, ...], sentence: str) -> None:
    assert join_names(names) == sentence
