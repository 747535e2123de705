"""Words that a filter of the server's or of Discord's refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.posting.reply_draft import CURSOR
from tests.engine.scripted_engine import Scripted
from tests.play.take_harness import FIRST, MADAM, SECOND, asked, reads, ready, refused
from tests.scenes.scene_harness import reply

if TYPE_CHECKING:
    from tests.loopback import DiscordMessage
    from tests.play.harness import Evening

CODES = (200000, 20009, 240000)
PAGES = " ".join(f"Page {n} says that {n * 7} is more than {n}." for n in range(120))
LONG = reply("Mr Bennet", says=PAGES)


def refuse_posts(evening: Evening, code: int, *, times: int = 50) -> None:
    for route in ("execute_webhook", "edit_webhook_message"):
        evening.discord.faults.refuse(route, code, times=times)


def notices(evening: Evening) -> list[DiscordMessage]:
    return [message for message in evening.stage.messages if message.labels == ["Try again"]]


def unfinished(evening: Evening) -> list[DiscordMessage]:
    return [message for message in evening.stage.messages if message.content.endswith(CURSOR)]


@pytest.mark.parametrize("code", CODES)
async def test_try_again_generates_another_take_after_a_filter_refused_the_reply(
    evening: Evening, code: int
) -> None:
    engine = await ready(FIRST, SECOND)
    async with evening.online(engine):
        await evening.begin()
        refuse_posts(evening, code)
        evening.lizzy.say(evening.stage, "@Mr Bennet Papa?")
        await evening.discord.until(lambda: notices(evening))
        assert "filter" in notices(evening)[0].content
        evening.discord.faults.forget()
        await evening.lizzy.press(notices(evening)[0], "Try again")
        post = await evening.answer()
        assert post.content == "*frowns* You take him?"
        assert len(engine.requests) == 2
        await evening.discord.until(lambda: not notices(evening))


async def test_a_reply_that_a_filter_refuses_while_it_grows_leaves_no_unfinished_post(
    evening: Evening,
) -> None:
    engine = await ready(Scripted(LONG, chunk=300, pause=0.05), SECOND)
    async with evening.online(engine):
        await evening.begin()
        evening.lizzy.say(evening.stage, "@Mr Bennet Papa?")
        await evening.discord.until(lambda: unfinished(evening))
        refuse_posts(evening, 200000)
        await evening.discord.until(lambda: notices(evening))
        assert not unfinished(evening)
        assert not [message for message in evening.stage.messages if message.webhook]
        assert "Page 7" not in (await evening.gm.slash(evening.stage, "scene history")).text


async def test_the_earlier_take_remains_if_a_filter_refuses_the_new_one(evening: Evening) -> None:
    engine = await ready(FIRST, LONG, MADAM)
    async with evening.online(engine):
        await evening.begin()
        post = await asked(evening)
        evening.discord.faults.refuse("execute_webhook", 200000, times=50)  # its second part
        await evening.lizzy.press(post, "Retry")
        await evening.discord.until(
            lambda: [m for m in evening.stage.messages if "filter" in m.content]
        )
        await reads(evening, post, "*smiles* You refuse him?")
        assert post.labels == ["Retry", "Write more", "More…"]
        evening.discord.faults.forget()
        await asked(evening, "@Mrs Bennet Mama?", count=2)
        assert "Page 7" not in engine.requests[-1].prompt.text


async def test_an_edit_that_a_filter_refuses_changes_neither_post_nor_story(
    evening: Evening,
) -> None:
    engine = await ready(FIRST, MADAM)
    async with evening.online(engine):
        await evening.begin()
        post = await asked(evening)
        form = await evening.gm.context_menu(post, "Edit")
        evening.discord.faults.refuse("edit_webhook_message", 200000)
        outcome = await evening.gm.submit_modal(form, {"text": "MARMALADE"})
        await refused(evening, outcome, "A filter refused these words")
        await reads(evening, post, "*smiles* You refuse him?")
        assert post.labels == ["Retry", "Write more", "More…"]
        await asked(evening, "@Mrs Bennet Mama?", count=2)
        assert "MARMALADE" not in engine.requests[-1].prompt.text


async def test_a_narration_that_a_filter_refuses_is_not_part_of_the_story(
    evening: Evening,
) -> None:
    engine = await ready(FIRST)
    async with evening.online(engine):
        await evening.begin()
        evening.discord.faults.refuse("create_message", 200000)
        outcome = await evening.gm.slash(evening.stage, "gm narrate", text="MARMALADE rains.")
        await refused(evening, outcome, "A filter refused these words")
        await asked(evening)
        assert "MARMALADE" not in engine.requests[-1].prompt.text
