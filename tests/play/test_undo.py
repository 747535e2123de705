"""Rewind, hide, unhide and branch."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.play.take_harness import FIRST, MADAM, SECOND, asked, reads, ready, refused

if TYPE_CHECKING:
    from tests.play.harness import Evening


async def test_rewind_asks_for_confirmation_and_can_be_reversed(
    evening: Evening,
) -> None:
    engine = await ready(FIRST, MADAM, SECOND)
    async with evening.online(engine):
        await evening.begin()
        post = await asked(evening)
        line = evening.kitty.say(evening.stage, "PICKLES!")
        later = await asked(evening, "@Mrs Bennet MARMALADE, Mama?", count=2)
        question = await evening.gm.context_menu(post, "Rewind to here")
        assert question.ephemeral
        assert "Rewind to here? 3 turns will be undone." in question.text
        assert later.content == "*sobs* My nerves!"
        done = await evening.gm.press(question.message, "Rewind")
        await evening.discord.until(lambda: later.content != "*sobs* My nerves!")
        await evening.discord.quiet()
        assert later.content.endswith("||*sobs* My nerves!||")
        assert not later.labels
        assert post.labels
        assert not line.deleted
        assert line.content == "PICKLES!"
        assert any("rewound" in message.content for message in evening.stage.messages)
        prompt = await evening.gm.slash(evening.stage, "scene history")
        assert "MARMALADE" not in prompt.text
        await evening.gm.press(done.message, "Unhide")
        await reads(evening, later, "*sobs* My nerves!")
        assert later.labels
        assert not post.labels
        await asked(evening, "@Mr Bennet Well?", count=3)
        text = engine.requests[-1].prompt.text
        assert text.index("PICKLES") < text.index("MARMALADE") < text.index("Well?")


async def test_undone_turns_leave_every_mind_and_unhide_works_after_a_restart(
    evening: Evening,
) -> None:
    engine = await ready(FIRST, MADAM)
    async with evening.online(engine):
        await evening.begin()
        first = evening.lizzy.say(evening.stage, "Good evening.")
        await asked(evening, "@Mr Bennet MARMALADE?")
        question = await evening.gm.context_menu(first, "Rewind to here")
        await evening.gm.press(question.message, "Rewind")
        await asked(evening, "@Mrs Bennet Mama?", count=2)
        assert "MARMALADE" not in engine.requests[-1].prompt.text
    engine = await ready(MADAM)
    async with evening.online(engine):
        await refused(evening, await evening.lizzy.slash(evening.stage, "scene unhide"))
        await evening.gm.slash(evening.stage, "scene unhide")
        await refused(
            evening,
            await evening.gm.slash(evening.stage, "scene unhide"),
            "No turns are left to bring back",
        )
        await asked(evening, "@Mrs Bennet Mama?", count=3)
        assert "MARMALADE" in engine.requests[-1].prompt.text


async def test_an_undone_narration_disappears_and_comes_back(evening: Evening) -> None:
    engine = await ready(FIRST, MADAM)
    async with evening.online(engine):
        await evening.begin()
        post = await asked(evening)
        await evening.gm.slash(evening.stage, "gm narrate", text="Rain drums on the glass.")
        told = (
            await evening.discord.until(
                lambda: [m for m in evening.stage.messages if "Rain" in m.content]
            )
        )[0]
        question = await evening.gm.context_menu(post, "Rewind to here")
        await evening.gm.press(question.message, "Rewind")
        await evening.discord.until(lambda: told.deleted)
        await evening.discord.quiet()
        await evening.gm.slash(evening.stage, "scene unhide")
        await evening.discord.until(
            lambda: [m for m in evening.stage.messages if "Rain" in m.content]
        )
        await asked(evening, "@Mrs Bennet Mama?", count=2)
        assert "Rain drums" in engine.requests[-1].prompt.text


async def test_hide_removes_one_turn_from_every_mind_and_keeps_players_messages(
    evening: Evening,
) -> None:
    engine = await ready(FIRST, MADAM)
    async with evening.online(engine):
        await evening.begin()
        line = evening.lizzy.say(evening.stage, "I like PICKLES.")
        post = await asked(evening)
        for message in (line, post):
            menu = await evening.gm.context_menu(message, "More…")
            hidden = await evening.gm.press(menu.message, "Hide")
            assert hidden.ephemeral
        await evening.discord.until(lambda: post.content.startswith("-#"))
        told = [
            message.content
            for message in evening.stage.messages
            if "removed from the story" in message.content
        ]
        assert told == [
            "-# A line of Lizzy (player) was removed from the story."
        ]  # the only trace of it
        assert (line.content, line.deleted) == ("I like PICKLES.", False)
        assert len(line.states) == 1
        await asked(evening, "@Mrs Bennet Mama?", count=2)
        prompt = engine.requests[-1].prompt.text
        assert "PICKLES" not in prompt
        assert "You refuse him?" not in prompt
        await evening.gm.press(hidden.message, "Unhide")
        await reads(evening, post, "*smiles* You refuse him?")


async def test_a_branch_continues_in_a_thread_with_its_own_history(evening: Evening) -> None:
    evening.discord.world.overwrite(
        evening.stage, evening.guild.everyone, allow="create_public_threads"
    )
    engine = await ready(FIRST, MADAM, SECOND, MADAM)
    async with evening.online(engine):
        await evening.begin()
        await evening.lizzy.slash(evening.stage, "cast join", character="Elizabeth Bennet")
        post = await asked(evening, "@Mr Bennet MARMALADE?")
        await asked(evening, "@Mrs Bennet PICKLES?", count=2)
        menu = await evening.gm.context_menu(post, "More…")
        answer = await evening.gm.press(menu.message, "Branch")
        thread_id = int(re.findall(r"<#(\d+)>", answer.text)[0])
        thread = evening.discord.world.channels[thread_id]
        assert post.thread is thread
        await evening.discord.until(lambda: [m for m in thread.messages if "2 turns" in m.content])
        evening.lizzy.say(thread, "@Mr Bennet Well?")
        there = await evening.answer(thread)
        assert there.name == "Mr Bennet"
        prompt = engine.requests[-1].prompt.text
        assert "MARMALADE" in prompt
        assert "PICKLES" not in prompt
        assert (
            "Elizabeth Bennet: Mr Bennet Well?" in prompt
            or "Elizabeth Bennet: @Mr Bennet Well?" in prompt
        )
        await asked(evening, "@Mrs Bennet Mama?", count=3)
        assert "PICKLES" in engine.requests[-1].prompt.text
        assert "Well?" not in engine.requests[-1].prompt.text
        roles = len(evening.guild.roles)
        await evening.gm.slash(thread, "scene end")
        assert len(evening.guild.roles) == roles


async def test_a_branch_without_permission_names_the_permission(evening: Evening) -> None:
    evening.discord.withdraw("create_public_threads", evening.stage)
    async with evening.online(await ready(FIRST)):
        await evening.begin()
        post = await asked(evening)
        menu = await evening.gm.context_menu(post, "More…")
        await refused(
            evening, await evening.gm.press(menu.message, "Branch"), "Create Public Threads"
        )
        evening.discord.forgive(50013)
