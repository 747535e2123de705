"""Missing permissions, named as in Discord's settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import discord
import pytest

from bot.errors import MissingPermission
from bot.posting.permissions import join_names, list_missing_permissions, require_playable

if TYPE_CHECKING:
    from tests.loopback import Channel
    from tests.posting.conftest import PostingSetup


async def denied(
    setup: PostingSetup, *names: str, place: Channel | None = None
) -> discord.TextChannel | discord.Thread:
    """Deny the bot permissions in the channel. Return the channel, or a thread in it."""
    own = next(role for role in setup.guild.roles.values() if role.managed_by)
    setup.discord.world.overwrite(setup.channel, own, deny=" ".join(names))
    room = setup.client.get_channel(setup.channel.id)
    assert isinstance(room, discord.TextChannel)
    await setup.discord.until(
        lambda: not names or not getattr(room.permissions_for(room.guild.me), names[0])
    )
    if place is None:
        return room
    thread = await setup.client.fetch_channel(place.id)
    assert isinstance(thread, discord.Thread)
    return thread


async def test_the_invitation_grants_every_permission(setup: PostingSetup) -> None:
    room = await denied(setup)
    assert list_missing_permissions(room, room.guild.me) == []
    require_playable(room, room.guild.me)


async def test_permissions_that_a_channel_denies_are_missing(setup: PostingSetup) -> None:
    room = await denied(setup, "manage_webhooks", "send_messages")
    assert list_missing_permissions(room, room.guild.me) == ["Send Messages", "Manage Webhooks"]
    with pytest.raises(
        MissingPermission, match=r"I lack a permission in #study\. Allow me Send Messages there"
    ):
        require_playable(room, room.guild.me)


async def test_without_view_channel_only_that_is_missing(setup: PostingSetup) -> None:
    room = await denied(setup, "view_channel")
    assert list_missing_permissions(room, room.guild.me) == ["View Channel"]


async def test_a_scene_can_be_played_without_webhooks(setup: PostingSetup) -> None:
    room = await denied(setup, "manage_webhooks", "attach_files", "read_message_history")
    assert list_missing_permissions(room, room.guild.me) == [
        "Attach Files",
        "Read Message History",
        "Manage Webhooks",
    ]
    require_playable(room, room.guild.me)


async def test_a_thread_needs_its_own_permission_to_send(setup: PostingSetup) -> None:
    thread = await denied(setup, "send_messages_in_threads", place=setup.start_thread())
    assert list_missing_permissions(thread, thread.guild.me) == ["Send Messages in Threads"]
    with pytest.raises(
        MissingPermission, match=r"in #Act one\. Allow me Send Messages in Threads there"
    ):
        require_playable(thread, thread.guild.me)


@pytest.mark.parametrize(
    ("names", "sentence"),
    [((), ""), (("A",), "A"), (("A", "B"), "A and B"), (("A", "B", "C"), "A, B and C")],
)
def test_names_are_joined_as_in_a_sentence(names: tuple[str, ...], sentence: str) -> None:
    assert join_names(names) == sentence
