"""Posts are retried while Discord does not respond."""

from __future__ import annotations

import pytest

from bot.errors import DiscordNotResponding, MissingPermission, PostingError
from bot.scenes.outage_retry import retry_until_done


async def test_a_post_is_retried_until_discord_responds() -> None:
    troubles: list[PostingError] = [DiscordNotResponding("Discord did not answer.")]
    shown = []

    async def show() -> None:
        if troubles:
            raise troubles.pop()
        shown.append("Well, well.")

    await retry_until_done(show, "A reply")
    assert shown == ["Well, well."]


async def test_a_rejection_is_not_retried() -> None:
    tried = []

    async def show() -> None:
        tried.append("once")
        raise MissingPermission("I lack Send Messages in #study.")

    with pytest.raises(MissingPermission):
        await retry_until_done(show, "A reply")
    assert tried == ["once"]
