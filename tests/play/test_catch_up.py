"""Changes that people make while the bot is away."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.play.harness import personas
from tests.play.test_scene import ready

if TYPE_CHECKING:
    from tests.loopback import Channel
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


async def test_changes_in_a_long_story_reach_it(evening: Evening) -> None:
    engine = await ready()
    async with evening.online(engine):
        await evening.begin()
        deleted = [evening.lizzy.say(evening.stage, f"I like PICKLES {n}.") for n in range(3)]
        edited = evening.lizzy.say(evening.stage, "I like MARMALADE.")
        for number in range(110):
            evening.kitty.say(evening.stage, f"{number}.")
        await evening.discord.quiet(within=60)
    for line in deleted:
        evening.lizzy.delete(line)
    evening.lizzy.edit(edited, "I like HONEY.")
    evening.kitty.say(evening.stage, "@Mr Bennet What does she like?")
    async with evening.online(engine):
        await evening.answer()
        prompt = engine.requests[0].prompt.text
        assert "HONEY" in prompt
        assert "MARMALADE" not in prompt
        assert "PICKLES" not in prompt


async def test_an_undone_line_that_was_deleted_meanwhile_stays_out(evening: Evening) -> None:
    engine = await ready()
    async with evening.online(engine):
        await evening.begin()
        first = evening.lizzy.say(evening.stage, "Good evening.")
        deleted = evening.lizzy.say(evening.stage, "I like PICKLES.")
        edited = evening.lizzy.say(evening.stage, "I like MARMALADE.")
        await evening.discord.quiet()
        question = await evening.gm.context_menu(first, "Rewind to here")
        await evening.gm.press(question.message, question.message.labels[0])
        await evening.discord.quiet()
    evening.lizzy.delete(deleted)
    evening.lizzy.edit(edited, "I like HONEY.")
    async with evening.online(engine):
        await evening.gm.slash(evening.stage, "scene unhide")
        evening.kitty.say(evening.stage, "@Mr Bennet What does she like?")
        await evening.answer()
        prompt = engine.requests[0].prompt.text
        assert "HONEY" in prompt
        assert "MARMALADE" not in prompt
        assert "PICKLES" not in prompt


async def move(evening: Evening, place: Channel) -> None:
    """Have the game master continue the scene that ended in another place."""
    (choice,) = await evening.gm.autocomplete(place, "scene reopen", scene="")
    await evening.gm.slash(place, "scene reopen", scene=choice.value)
    await evening.discord.quiet()


@pytest.mark.parametrize("when", ["after the end", "while away", "after the move"])
async def test_changes_in_the_old_channel_reach_a_scene_that_moved(
    evening: Evening, when: str
) -> None:
    engine = await ready()
    hall = evening.discord.text_channel(evening.guild, "hall")

    def change() -> None:
        evening.lizzy.delete(deleted)
        evening.lizzy.edit(edited, "I like HONEY.")

    async with evening.online(engine):
        await evening.begin()
        deleted = evening.lizzy.say(evening.stage, "I like PICKLES.")
        edited = evening.lizzy.say(evening.stage, "I like MARMALADE.")
        await evening.discord.quiet()
        await evening.gm.slash(evening.stage, "scene end")
        if when == "after the end":
            change()
    if when == "while away":
        change()
    async with evening.online(engine):
        await move(evening, hall)
        if when == "after the move":
            change()
        await evening.discord.quiet()
        evening.kitty.say(hall, "@Mr Bennet What does she like?")
        await evening.answer(hall)
        prompt = engine.requests[0].prompt.text
        assert "HONEY" in prompt
        assert "MARMALADE" not in prompt
        assert "PICKLES" not in prompt


async def test_changes_reach_a_branch_too(evening: Evening) -> None:
    engine = await ready()
    async with evening.online(engine):
        await evening.begin()
        deleted = evening.lizzy.say(evening.stage, "I like PICKLES.")
        edited = evening.lizzy.say(evening.stage, "I like MARMALADE.")
        later = evening.lizzy.say(evening.stage, "I like TREACLE.")
        evening.lizzy.say(evening.stage, "@Mr Bennet Papa?")
        menu = await evening.gm.context_menu(await evening.answer(), "More…")
        outcome = await evening.gm.press(menu.message, "Branch")
        branch = evening.discord.world.channels[int(re.findall(r"<#(\d+)>", outcome.text)[0])]
        evening.lizzy.delete(deleted)
        evening.lizzy.edit(edited, "I like HONEY.")
        await evening.gm.slash(evening.stage, "scene end")
        await evening.discord.quiet()
    evening.lizzy.delete(later)
    async with evening.online(engine):
        evening.kitty.say(branch, "@Mr Bennet What does she like?")
        await evening.answer(branch)
        prompt = engine.requests[-1].prompt.text
        assert "HONEY" in prompt
        for gone in ("MARMALADE", "PICKLES", "TREACLE"):
            assert gone not in prompt


async def test_a_message_that_arrives_before_the_catch_up_hides_no_earlier_one(
    evening: Evening,
) -> None:
    engine = await ready()
    discord = evening.discord
    async with evening.online(engine):
        await evening.begin()
        evening.lizzy.say(evening.stage, "Good evening.")
        await discord.quiet()
        sessions = discord.gateway.identified
        discord.gateway.forget()
        evening.lizzy.say(evening.stage, "I like MARMALADE.")
        await discord.gateway.close()
        await discord.until(lambda: discord.gateway.identified > sessions)
        evening.kitty.say(evening.stage, "@Mr Bennet What does she like?")
        await evening.answer()
        assert "MARMALADE" in engine.requests[0].prompt.text
