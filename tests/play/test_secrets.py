"""Whispers and characters off stage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.engine.scripted_engine import ScriptedEngine
from tests.play.harness import Evening, personas
from tests.scenes.scene_harness import reply

if TYPE_CHECKING:
    from tests.engine.scripted_engine import Script
    from tests.loopback import Person

ALOUD = (
    "Be shrill.</system_thinking><role_action>nods</role_action>My nerves!"  # any character's reply
)
BACK = reply("Mr Bennet", plan="PLAN", thinks="DREAD", does="leans closer", says="TREACLE, child.")


async def ready(*script: Script) -> ScriptedEngine:
    engine = ScriptedEngine(list(script))
    await engine.start()
    return engine


def direct(person: Person) -> str:
    """Return the text of a person's direct messages."""
    return "\n".join(text for message in person.dms for text in message.now.texts())


async def test_only_the_whisperer_and_the_gm_see_a_whisper_and_its_answer(
    evening: Evening,
) -> None:
    engine = await ready(BACK, ALOUD)
    async with evening.online(engine):
        await evening.begin()
        whispered = await evening.lizzy.slash(
            evening.stage, "whisper", character="Mr Bennet", text="MARMALADE?"
        )
        assert whispered.ephemeral
        await evening.discord.until(lambda: "TREACLE, child." in whispered.text)
        assert whispered.ephemeral
        assert "*leans closer* TREACLE, child." in whispered.text
        await evening.discord.until(lambda: "DREAD" in direct(evening.gm))
        assert "MARMALADE?" in direct(evening.gm)
        assert "TREACLE" in direct(evening.gm)
        assert personas(evening.stage) == []
        evening.kitty.say(evening.stage, "@Mrs Bennet Mama?")
        await evening.answer()
        assert "MARMALADE" not in engine.requests[-1].prompt.text
        assert "TREACLE" not in engine.requests[-1].prompt.text
        history = await evening.lizzy.slash(evening.stage, "scene history")
        assert "MARMALADE" not in history.text
        for word in ("MARMALADE", "TREACLE", "DREAD", "PLAN"):
            assert word not in evening.kitty.ever_saw()
        for word in ("DREAD", "PLAN"):
            assert word not in evening.lizzy.ever_saw()


async def test_the_whispered_to_mind_remembers_the_whisper_and_its_answer(
    evening: Evening,
) -> None:
    engine = await ready(BACK)
    async with evening.online(engine):
        await evening.begin()
        whispered = await evening.lizzy.slash(
            evening.stage, "whisper", character="Mr Bennet", text="MARMALADE?"
        )
        await evening.discord.until(lambda: "TREACLE" in whispered.text)
        evening.kitty.say(evening.stage, "@Mr Bennet Papa?")
        await evening.answer()
        assert "MARMALADE?" in engine.requests[-1].prompt.text
        assert "TREACLE, child." in engine.requests[-1].prompt.text


async def test_a_late_answer_to_a_whisper_is_a_direct_message(
    evening: Evening,
) -> None:
    engine = await ready(BACK)
    async with evening.online(engine):
        await evening.begin()
        engine.gate.clear()
        await evening.lizzy.slash(
            evening.stage, "whisper", character="Mr Bennet", text="MARMALADE?"
        )
        await evening.discord.until(lambda: engine.requests)
    async with evening.online(await ready(BACK)):
        await evening.discord.until(lambda: "TREACLE" in direct(evening.lizzy))
        assert personas(evening.stage) == []


async def test_an_unreachable_whisperer_is_notified_at_their_next_command(
    evening: Evening,
) -> None:
    evening.lizzy.user.dms_open = False
    engine = await ready(BACK)
    async with evening.online(engine):
        await evening.begin()
        engine.gate.clear()
        await evening.lizzy.slash(
            evening.stage, "whisper", character="Mr Bennet", text="MARMALADE?"
        )
        await evening.discord.until(lambda: engine.requests)
    async with evening.online(await ready(BACK)):
        await evening.discord.until(
            lambda: [each for each in evening.discord.requests if each.status == 403]
        )
        await evening.discord.quiet()
        told = await evening.lizzy.slash(evening.stage, "scene status")
        await evening.discord.until(lambda: "whisper again" in told.text)
        assert "TREACLE" not in evening.kitty.ever_saw()


async def test_a_failed_whisper_gets_a_private_notice_with_a_retry_button(
    evening: Evening,
) -> None:
    async with evening.online(await ready("only planning", "only planning", BACK)):
        await evening.begin()
        before = len(evening.stage.messages)
        whispered = await evening.lizzy.slash(
            evening.stage, "whisper", character="Mr Bennet", text="MARMALADE?"
        )
        await evening.discord.until(lambda: "lost in thought" in whispered.text)
        assert len(evening.stage.messages) == before
        (notice,) = [message for message in whispered.messages if "Try again" in message.labels]
        await evening.lizzy.press(notice, "Try again")
        await evening.discord.until(lambda: "TREACLE" in whispered.text)
        assert "MARMALADE" not in evening.kitty.ever_saw()


async def test_only_the_chosen_mind_knows_the_gms_whisper(evening: Evening) -> None:
    engine = await ready(ALOUD)
    async with evening.online(engine):
        await evening.begin()
        told = await evening.gm.slash(
            evening.stage, "gm whisper", character="Mr Bennet", text="A MARMALADE jar stirs."
        )
        assert told.ephemeral
        evening.lizzy.say(evening.stage, "@Mr Bennet @Mrs Bennet Hm?")
        await evening.answer(count=2)
        bennet, madam = (request.prompt.text for request in engine.requests)
        assert "Environment: A MARMALADE jar stirs." in bennet
        assert "MARMALADE" not in madam
        assert "MARMALADE" not in evening.lizzy.ever_saw()
        assert "MARMALADE" not in (await evening.gm.slash(evening.stage, "scene history")).text


async def test_a_character_off_stage_never_hears_the_lines_of_that_time(evening: Evening) -> None:
    engine = await ready(ALOUD)
    async with evening.online(engine):
        await evening.begin()
        gone = await evening.gm.slash(evening.stage, "cast exit", character="Mr Bennet")
        assert gone.text == "*Mr Bennet leaves.*"
        assert "off stage" in (await evening.lizzy.slash(evening.stage, "cast list")).text
        evening.lizzy.say(evening.stage, "@Mr Bennet @Mrs Bennet MARMALADE.")
        await evening.answer()
        await evening.discord.quiet()
        assert [post.name for post in personas(evening.stage)] == ["Mrs Bennet"]
        await evening.gm.slash(evening.stage, "cast enter", character="Mr Bennet")
        evening.lizzy.say(evening.stage, "@Mr Bennet There you are.")
        await evening.answer(count=2)
        prompt = engine.requests[-1].prompt.text
        assert "There you are." in prompt
        assert "MARMALADE" not in prompt
        assert "My nerves!" not in prompt


async def test_whispers_survive_a_restart_as_whispers(evening: Evening) -> None:
    async with evening.online(await ready(BACK)):
        await evening.begin()
        whispered = await evening.lizzy.slash(
            evening.stage, "whisper", character="Mr Bennet", text="MARMALADE?"
        )
        await evening.discord.until(lambda: "TREACLE" in whispered.text)
        await evening.gm.slash(evening.stage, "cast exit", character="Elizabeth Bennet")
        evening.kitty.say(evening.stage, "PICKLES.")
        await evening.discord.quiet()
    engine = await ready(ALOUD)
    async with evening.online(engine):
        await evening.gm.slash(evening.stage, "cast enter", character="Elizabeth Bennet")
        evening.kitty.say(evening.stage, "@Elizabeth @Mr Bennet Hm?")
        await evening.answer(count=2)
        lizzy, bennet = (request.prompt.text for request in engine.requests)
        assert "PICKLES" not in lizzy
        assert "MARMALADE" not in lizzy
        assert "PICKLES" in bennet
        assert "MARMALADE" in bennet
