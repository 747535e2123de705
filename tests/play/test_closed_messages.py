"""A game master whose direct messages are closed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.play.take_harness import FIRST, asked, ready

if TYPE_CHECKING:
    from tests.play.harness import Evening


async def test_a_game_master_gets_one_notice_for_six_replies(evening: Evening) -> None:
    evening.gm.user.dms_open = False
    async with evening.online(await ready(*[FIRST] * 6)):
        outcome = await evening.begin()
        await evening.discord.until(lambda: "direct messages are closed" in outcome.text)
        for count in range(1, 7):
            await asked(evening, f"@Mr Bennet Question {count}?", count=count)
        await evening.discord.quiet()
        assert evening.gm.ever_saw().count("direct messages are closed") == 1
        assert len(evening.discord.requests_to("open_dm")) == 1


async def test_thoughts_arrive_after_the_game_master_opened_their_messages_and_used_a_command(
    evening: Evening,
) -> None:
    evening.gm.user.dms_open = False
    async with evening.online(await ready(FIRST, FIRST)):
        await evening.begin()
        await asked(evening)
        evening.gm.user.dms_open = True
        await evening.gm.slash(evening.stage, "reveal status")
        await asked(evening, "@Mr Bennet Well?", count=2)
        await evening.discord.until(lambda: evening.gm.dms)
        assert evening.gm.ever_saw().count("direct messages are closed") == 1


async def test_a_restart_neither_tries_nor_notifies_again(evening: Evening) -> None:
    evening.gm.user.dms_open = False
    async with evening.online(await ready(FIRST)):
        await evening.begin()
        await asked(evening)
        await evening.discord.quiet()
    async with evening.online(await ready(FIRST)):
        await asked(evening, "@Mr Bennet Well?", count=2)
        await evening.discord.quiet()
        await evening.gm.slash(evening.stage, "reveal status")
        assert len(evening.discord.requests_to("open_dm")) == 1
        await asked(evening, "@Mr Bennet And?", count=3)
        await evening.discord.quiet()
        assert len(evening.discord.requests_to("open_dm")) == 2  # a command may mean a change
        assert evening.gm.ever_saw().count("direct messages are closed") == 1


async def test_a_notice_that_nobody_could_show_comes_after_a_restart(evening: Evening) -> None:
    async with evening.online(await ready(FIRST)):
        await evening.begin()
    evening.gm.user.dms_open = False
    async with evening.online(await ready(FIRST)):
        await asked(evening)
        await evening.discord.quiet()
    async with evening.online(await ready(FIRST)):
        outcome = await evening.gm.slash(evening.stage, "scene status")
        await evening.discord.until(lambda: "direct messages are closed" in outcome.text)
