"""Permissions."""

from __future__ import annotations

from .computed_permissions import ALL, bits, in_channel
from .world import World


def test_overwrites_apply_in_discords_order() -> None:
    world = World()
    guild = world.guild("Longbourn", bot_permissions="")
    channel = world.channel(guild, "study")
    user = world.user("Lizzy")
    sisters = world.role(guild, "sisters")
    world.join(guild, user, sisters)
    assert world.may(user, "send_messages", channel)
    world.overwrite(channel, guild.everyone, deny="send_messages")
    assert not world.may(user, "send_messages", channel)
    world.overwrite(channel, sisters, allow="send_messages")
    assert world.may(user, "send_messages", channel)
    world.overwrite(channel, user, deny="send_messages")
    assert not world.may(user, "send_messages", channel)


def test_without_view_channel_no_permission_holds() -> None:
    world = World()
    guild = world.guild("Longbourn", bot_permissions="manage_webhooks")
    channel = world.channel(guild, "study")
    world.overwrite(channel, guild.everyone, deny="view_channel")
    assert in_channel(world.bot, channel, 0) == 0


def test_owners_and_administrators_have_every_permission() -> None:
    world = World()
    guild = world.guild("Longbourn", bot_permissions="administrator")
    channel = world.channel(guild, "study")
    world.overwrite(channel, guild.everyone, deny="view_channel send_messages")
    assert in_channel(world.bot, channel, 0) == in_channel(guild.owner, channel, 0) == ALL


def test_a_thread_has_its_own_permission_to_write() -> None:
    world = World()
    guild = world.guild("Longbourn", bot_permissions="")
    channel = world.channel(guild, "study")
    user = world.user("Lizzy")
    world.join(guild, user)
    thread = world.thread(channel, "t", guild.owner)
    world.overwrite(channel, guild.everyone, deny="send_messages")
    assert world.may(user, "send_messages", thread)
    world.overwrite(channel, guild.everyone, deny="send_messages_in_threads")
    assert not world.may(user, "send_messages", thread)


def test_people_from_elsewhere_have_no_permissions() -> None:
    world = World()
    channel = world.channel(world.guild("Longbourn"), "study")
    assert in_channel(world.user("Stranger"), channel, 0) == 0
    assert bits("send_messages manage_webhooks") == 1 << 11 | 1 << 29
