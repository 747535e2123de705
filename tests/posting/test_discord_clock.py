from __future__ import annotations

from datetime import UTC, datetime, timedelta

import discord

from bot.posting.discord_clock import DiscordClock

SECOND = timedelta(seconds=1)


def test_before_the_first_event_the_machines_clock_counts() -> None:
    assert abs(DiscordClock().now() - datetime.now(UTC)) < SECOND


def test_the_latest_event_sets_the_clock() -> None:
    clock = DiscordClock()
    shown = datetime.now(UTC) + timedelta(hours=2)
    clock.observe(discord.utils.time_snowflake(shown))
    assert abs(clock.now() - shown) < SECOND


def test_delayed_events_do_not_set_the_clock_back() -> None:
    clock = DiscordClock()
    shown = datetime.now(UTC) - timedelta(hours=2)
    for delay in (0, 20, 5):
        clock.observe(discord.utils.time_snowflake(shown - timedelta(seconds=delay)))
    assert abs(clock.now() - shown) < SECOND


def test_old_events_are_forgotten() -> None:
    clock = DiscordClock()
    shown = datetime.now(UTC)
    clock.observe(discord.utils.time_snowflake(shown + timedelta(hours=2)))
    for _ in range(50):
        clock.observe(discord.utils.time_snowflake(shown))
    assert abs(clock.now() - shown) < SECOND
