"""Pictures and other things in messages that characters can't see."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.play.test_edits import read_mind
from tests.play.test_scene import ready

if TYPE_CHECKING:
    from tests.loopback import Person
    from tests.play.harness import Evening


def notices(person: Person) -> int:
    return sum("can't see pictures" in text for text in person.ever_saw().splitlines())


async def test_what_a_message_shows_reaches_the_minds_in_words(evening: Evening) -> None:
    engine = await ready()
    stage, lizzy = evening.stage, evening.lizzy
    async with evening.online(engine):
        await evening.begin()
        letter = lizzy.say(stage, "Look, Papa!", files={"a.png": b"x"}, alt="a LETTER,\nsealed")
        lizzy.say(stage, files={"BROOCH.png": b"x"})
        lizzy.say(stage, files={"ball.mp4": b"x"})
        lizzy.say(stage, files={"v.ogg": b"x"}, voice=True)
        lizzy.say(stage, sticker="BONNET")
        lizzy.say(stage, poll={"Shall we DANCE?": ["Yes", "No"]})
        lizzy.say(stage, forward=letter)
        lizzy.say(stage, "((look at this))", files={"HIDDEN.png": b"x"})
        await evening.discord.quiet()
        prompt = await read_mind(evening, engine)
        for shown in (
            "<role_action>shows a picture: a LETTER, sealed</role_action>",
            "shows a picture: BROOCH.png",
            "shows a video: ball.mp4",
            "sends a voice message",
            "shows a sticker: BONNET",
            "asks in a poll: Shall we DANCE? (Yes, No)",
            "forwards a message: “Look, Papa!”, shows a picture: a LETTER, sealed",
        ):
            assert f"{shown}" in prompt
        assert "HIDDEN" not in prompt
        assert notices(lizzy) == 1
        assert notices(evening.kitty) == 0
        exported = await lizzy.slash(stage, "mydata export")
        (file,) = exported.messages[-1].files()
        assert b"shows a picture: BROOCH.png" in evening.discord.world.files[file]
    async with evening.online(engine):
        lizzy.say(stage, files={"FAN.png": b"x"})
        await evening.discord.quiet()
        assert notices(lizzy) == 1


async def test_words_of_a_picture_can_be_removed_and_added(evening: Evening) -> None:
    engine = await ready()
    stage, lizzy = evening.stage, evening.lizzy
    async with evening.online(engine):
        await evening.begin()
        worded = lizzy.say(stage, "I like MARMALADE.", files={"FAN.png": b"x"})
        bare = lizzy.say(stage, files={"SHAWL.png": b"x"})
        lizzy.edit(worded, "")
        lizzy.edit(bare, "@Mr Bennet I like HONEY.")
        await evening.answer()
        prompt = await read_mind(evening, engine)
        for kept in ("FAN", "SHAWL", "HONEY"):
            assert kept in prompt
        assert "MARMALADE" not in prompt


async def test_a_person_who_cannot_be_reached_reads_the_notice_with_a_command(
    evening: Evening,
) -> None:
    evening.lizzy.user.dms_open = False
    async with evening.online(await ready()):
        await evening.begin()
        evening.lizzy.say(evening.stage, files={"FAN.png": b"x"})
        await evening.discord.quiet()
        await evening.lizzy.slash(evening.stage, "scene status")
        await evening.discord.quiet()
        assert notices(evening.lizzy) == 1
        assert not any("can't see" in message.content for message in evening.stage.messages)
