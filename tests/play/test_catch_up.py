"""Changes that people make while the bot is away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.play.harness import personas
from tests.play.test_scene import ready

if TYPE_CHECKING:
    from tests.play.harness import Evening


async def test_edits_and_deletions_during_an_absence_reach_the_story_first(
    evening: Evening,
) -> None:
    engine = await ready()
    async with evening.online(engine):
        await evening.begin()
        edited = evening.lizzy.say(evening.stage, "I like MARMALADE.")
        emptied = evening.lizzy.say(evening.stage, "I like TREACLE.", files={"a.png": b"x"})
        deleted = evening.lizzy.say(evening.stage, "I like PICKLES.")
        await evening.discord.quiet()
    evening.lizzy.edit(edited, "I like HONEY.")
    evening.lizzy.edit(emptied, "")
    evening.lizzy.delete(deleted)
    evening.kitty.say(evening.stage, "@Mr Bennet What does she like?")
    async with evening.online(engine):
        await evening.answer()
        prompt = engine.requests[0].prompt.text
        assert "HONEY" in prompt
        for gone in ("MARMALADE", "TREACLE", "PICKLES"):
            assert gone not in prompt


async def test_a_reply_deleted_during_an_absence_leaves_the_story(evening: Evening) -> None:
    engine = await ready()
    async with evening.online(engine):
        await evening.begin()
        evening.lizzy.say(evening.stage, "@Mr Bennet Papa?")
        await evening.answer()
        await evening.gm.slash(evening.stage, "gm narrate", text="A MARMALADE jar falls.")
        await evening.discord.quiet()
        narration = evening.stage.messages[-1]
    moderator = evening.discord.person("Hill", evening.guild, permissions="manage_messages")
    moderator.delete(personas(evening.stage)[0])
    moderator.delete(narration)
    evening.kitty.say(evening.stage, "@Mr Bennet And now?")
    async with evening.online(engine):
        await evening.answer()
        prompt = engine.requests[-1].prompt.text
        assert "Well, well." not in prompt
        assert "MARMALADE" not in prompt
        assert "Papa?" in prompt


async def test_a_deleted_line_that_was_owed_an_answer_gets_none(evening: Evening) -> None:
    engine = await ready()
    async with evening.online(engine):
        await evening.begin()
    line = evening.lizzy.say(evening.stage, "@Mr Bennet MARMALADE?")
    other = evening.lizzy.say(evening.stage, "@Mr Bennet HONEY?")
    evening.lizzy.delete(line)
    evening.lizzy.edit(other, "Never mind.")
    async with evening.online(engine):
        await evening.discord.quiet()
        assert engine.requests == []


async def test_a_paused_scene_takes_changes_but_no_new_lines(evening: Evening) -> None:
    engine = await ready()
    async with evening.online(engine):
        await evening.begin()
        line = evening.lizzy.say(evening.stage, "I like MARMALADE.")
        await evening.discord.quiet()
        await evening.gm.slash(evening.stage, "scene pause")
    evening.lizzy.delete(line)
    async with evening.online(engine):
        await evening.discord.quiet()
        history = await evening.gm.slash(evening.stage, "scene history")
        assert "MARMALADE" not in history.text


async def test_a_reopened_scene_keeps_its_lines_from_the_old_channel(evening: Evening) -> None:
    engine = await ready()
    hall = evening.discord.text_channel(evening.guild, "hall")
    async with evening.online(engine):
        await evening.begin()
        evening.lizzy.say(evening.stage, "@Mr Bennet MARMALADE?")
        await evening.answer()
        await evening.gm.slash(evening.stage, "scene end")
        (choice,) = await evening.gm.autocomplete(hall, "scene reopen", scene="")
        await evening.gm.slash(hall, "scene reopen", scene=choice.value)
        await evening.discord.quiet()
    async with evening.online(engine):
        evening.lizzy.say(hall, "@Mr Bennet And now?")
        await evening.answer(hall)
        assert "MARMALADE" in engine.requests[-1].prompt.text


async def test_without_permission_to_read_the_history_no_line_is_lost(evening: Evening) -> None:
    engine = await ready()
    async with evening.online(engine):
        await evening.begin()
        evening.lizzy.say(evening.stage, "I like MARMALADE.")
        await evening.discord.quiet()
    evening.discord.faults.fail("list_messages", 403)
    async with evening.online(engine):
        evening.lizzy.say(evening.stage, "@Mr Bennet Papa?")
        await evening.answer()
        assert "MARMALADE" in engine.requests[-1].prompt.text


async def test_changes_during_the_catch_up_count(evening: Evening) -> None:
    engine = await ready()
    async with evening.online(engine):
        await evening.begin()
        missing = [evening.lizzy.say(evening.stage, f"I like MINT {n}.") for n in range(2)]
        stored = evening.lizzy.say(evening.stage, "I like TREACLE.")
        await evening.discord.quiet()
    deleted = evening.lizzy.say(evening.stage, "I like PICKLES.")
    edited = evening.lizzy.say(evening.stage, "I like MARMALADE.")
    evening.kitty.say(evening.stage, "@Mr Bennet What does she like?")

    for message in missing:
        evening.lizzy.delete(message)

    def change() -> None:
        evening.lizzy.delete(stored)
        evening.lizzy.delete(deleted)
        evening.lizzy.edit(edited, "I like HONEY.")

    # the bot has read the history when it asks for the missing messages
    evening.discord.faults.meanwhile("get_message", change)
    evening.discord.faults.slow("get_message", 0.5)
    async with evening.online(engine):
        await evening.answer()
        prompt = engine.requests[0].prompt.text
        assert "HONEY" in prompt
        for gone in ("MARMALADE", "TREACLE", "PICKLES", "MINT"):
            assert gone not in prompt
