"""Export and deletion of personal data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.play.harness import Evening, personas
from tests.play.take_harness import FIRST, MADAM, asked, reads, ready

if TYPE_CHECKING:
    from tests.loopback import DiscordMessage


async def test_deleting_data_removes_the_gms_words_from_edited_replies(
    evening: Evening,
) -> None:
    async with evening.online(await ready(FIRST)):
        await evening.begin()
        post = await asked(evening)
        form = await evening.gm.context_menu(post, "Edit")
        await evening.gm.submit_modal(form, {"text": "MARMALADE him?"})
        await reads(evening, post, "MARMALADE him?")
        deleted = await evening.gm.slash(evening.stage, "mydata delete", sure=True)
        assert "One line was permanently deleted" in deleted.text
        await reads(evening, post, "*smiles* You refuse him?")
        assert post.labels == ["Retry", "Write more", "More…"]


async def test_deleting_data_removes_the_bots_posts_for_that_person(
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
        assert told(evening.stage.messages) == [line]  # other people's messages stay
        assert personas(evening.stage) == [post]
        history = await evening.kitty.slash(evening.stage, "scene history")
        assert "MARMALADE" not in history.text


def told(messages: list[DiscordMessage]) -> list[DiscordMessage]:
    """Return the messages that contain the word."""
    return [
        message for message in messages if any("MARMALADE" in text for text in message.now.texts())
    ]
