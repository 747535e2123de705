"""Buttons and menus: forbidden presses, outdated presses, presses after a restart."""

from __future__ import annotations

from tests.play.harness import Evening, personas
from tests.play.take_harness import FIRST, MADAM, SECOND, asked, reads, ready, refused


async def test_forbidden_presses_are_refused_in_private_and_change_no_reply(
    evening: Evening,
) -> None:
    engine = await ready(FIRST)
    async with evening.online(engine):
        await evening.begin()
        post = await asked(evening)
        for button in post.labels:
            await refused(evening, await evening.kitty.press(post, button))
        for menu in ("Retry", "Edit", "Rewind to here", "More…"):
            await refused(evening, await evening.kitty.context_menu(post, menu))
        for menu in (
            "Edit",
            "Rewind to here",
        ):  # whose line it answers may have another take, and no more
            await refused(evening, await evening.lizzy.context_menu(post, menu))
        mine = await evening.lizzy.press(post, "More…")
        for button in (
            "Edit",
            "Rewind to here",
            "Branch",
            "Hide",
            "Show thoughts",
            "Reveal thoughts",
        ):
            await refused(evening, await evening.lizzy.press(mine.message, button))
        await evening.discord.quiet()
        assert len(engine.requests) == 1
        assert post.content == "*smiles* You refuse him?"
        assert "SECRET" not in evening.kitty.ever_saw() + evening.lizzy.ever_saw()


async def test_a_form_opened_before_a_restart_works_after_it(evening: Evening) -> None:
    async with evening.online(await ready(FIRST)):
        await evening.begin()
        post = await asked(evening)
        form = await evening.gm.context_menu(post, "Edit")
    async with evening.online(await ready(FIRST)):
        await evening.gm.submit_modal(form, {"text": "Hm."})
        await reads(evening, post, "Hm.")


async def test_buttons_and_the_chosen_take_survive_a_restart(evening: Evening) -> None:
    async with evening.online(await ready(FIRST, SECOND)):
        await evening.begin()
        post = await asked(evening)
        await evening.lizzy.press(post, "Retry")
        await reads(evening, post, "*frowns* You take him?")
        await evening.lizzy.press(post, "◀")
        await reads(evening, post, "*smiles* You refuse him?")
    engine = await ready(MADAM)
    async with evening.online(engine):
        await evening.lizzy.press(post, "1/2 ▶")
        await reads(evening, post, "*frowns* You take him?")
        await asked(evening, "@Mrs Bennet Mama?", count=2)
        assert "You take him?" in engine.requests[0].prompt.text


async def test_outdated_presses_are_answered_in_private(evening: Evening) -> None:
    async with evening.online(await ready(FIRST, MADAM)):
        await evening.begin()
        post = await asked(evening)
        menu = await evening.gm.context_menu(post, "More…")
        await refused(
            evening,
            await evening.gm.context_menu(evening.kitty.say(evening.stage, "// ooc"), "More…"),
            "does not belong to a scene",
        )
        await evening.gm.slash(evening.stage, "scene end")
        for label in post.labels:
            await refused(evening, await evening.lizzy.press(post, label), "scene has ended")
        await refused(evening, await evening.gm.press(menu.message, "Hide"), "scene has ended")
        await evening.begin()
        await refused(evening, await evening.lizzy.press(post, "Retry"), "scene has ended")


async def test_a_button_from_a_lost_database_is_refused(evening: Evening) -> None:
    async with evening.online(await ready(FIRST)):
        await evening.begin()
        post = await asked(evening)
    for file in evening.settings.store.path.parent.glob("aside.db*"):
        file.unlink()
    engine = await ready(MADAM)
    async with evening.online(engine):
        await evening.begin()
        await asked(evening, "@Mrs Bennet Mama?", count=2)
        await refused(evening, await evening.lizzy.press(post, "Retry"), "out of date")
        await evening.discord.quiet()
        assert len(engine.requests) == 1


async def test_a_reply_deleted_by_a_moderator_leaves_the_story(evening: Evening) -> None:
    async with evening.online(await ready(FIRST)):
        await evening.begin()
        post = await asked(evening)
        menu = await evening.gm.press(post, "More…")
        evening.discord.person("Hill", evening.guild, permissions="manage_messages").delete(post)
        await evening.discord.quiet()
        for button in ("Retry", "Write more", "Edit", "Rewind to here", "Branch", "Hide"):
            outcome = await evening.gm.press(menu.message, button)
            await refused(evening, outcome, "part of the story")
        assert personas(evening.stage) == []
