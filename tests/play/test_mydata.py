"""Evenings after which somebody has their words handed out, or deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.play.harness import Evening, personas
from tests.play.take_harness import FIRST, MADAM, asked, reads, ready

if TYPE_CHECKING:
    from tests.loopback import Message


async def test_words_that_a_gm_put_into_a_reply_leave_the_channel_when_they_are_deleted(
    evening: Evening,
) -> None:
    async with evening.online(await ready(FIRST)):
        await evening.begin()
        post = await asked(evening)
        form = await evening.gm.context_menu(post, "Edit")
        await evening.gm.submit_modal(form, {"text": "MARMALADE him?"})
        await reads(evening, post, "MARMALADE him?")
        deleted = await evening.gm.slash(evening.stage, "mydata delete", sure=True)
        assert "One line is deleted" in deleted.text
        await reads(evening, post, "*smiles* You refuse him?")
        assert post.labels == ["Retry", "Write more", "More…"]


async def test_what_the_bot_has_told_for_somebody_is_gone_when_they_have_it_deleted(
    evening: Evening,
) -> None:
    async with evening.online(await ready(FIRST, MADAM)):
        await evening.begin()
        await evening.gm.slash(evening.stage, "gm add", person=evening.kitty)
        await evening.gm.slash(evening.stage, "gm narrate", text="MARMALADE rains.")
        await evening.gm.slash(evening.stage, "gm set", place="The MARMALADE room")
        await evening.gm.slash(evening.stage, "gm say", character="Mrs Bennet", text="MARMALADE!")
        await evening.gm.slash(
            evening.stage, "gm whisper", character="Mr Bennet", text="MARMALADE is poison."
        )
        line = evening.gm.say(evening.stage, "I like MARMALADE.")
        await evening.answer()
        post = await asked(evening, count=2)
        await evening.discord.until(lambda: told(evening.kitty.dms))
    async with evening.online(await ready(MADAM)):
        await evening.gm.slash(evening.stage, "mydata delete", sure=True)
        await evening.discord.until(
            lambda: not told(evening.kitty.dms) and len(told(evening.stage.messages)) == 1
        )
        assert told(evening.stage.messages) == [line]  # nobody else's message is touched
        assert personas(evening.stage) == [post]
        history = await evening.kitty.slash(evening.stage, "scene history")
        assert "MARMALADE" not in history.text


def told(messages: list[Message]) -> list[Message]:
    """Those of the messages that have the word in them."""
    return [
        message for message in messages if any("MARMALADE" in text for text in message.now.texts())
    ]
