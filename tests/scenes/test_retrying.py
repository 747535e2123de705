"""What is to be shown while Discord does not answer is shown when it does."""

from __future__ import annotations

import pytest

from bot.errors import DiscordNotResponding, MissingPermission, PostingError
from bot.scenes.retrying import retry_until_done


async def test_what_meets_no_answer_is_shown_once_there_is_one() -> None:
    troubles: list[PostingError] = [DiscordNotResponding("Discord did not answer.")]
    shown = []

    async def show() -> None:
        if troubles:
            raise troubles.pop()
        shown.append("Well, well.")

    await retry_until_done(show, "A reply")
    assert shown == ["Well, well."]


async def test_a_refusal_is_not_tried_again() -> None:
    tried = []

    async def show() -> None:
        tried.append("once")
        raise MissingPermission("I lack Send Messages in #study.")

    with pytest.raises(MissingPermission):
        await retry_until_done(show, "A reply")
    assert tried == ["once"]
