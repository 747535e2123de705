"""A muted person has no power, and old posts act only on their own scene."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.play.harness import personas
from tests.play.take_harness import FIRST, SECOND, asked, ready, refused

if TYPE_CHECKING:
    from tests.play.harness import Evening

MUTED = "has muted you"
ELSEWHERE = "moved to another channel"


async def test_a_muted_player_is_refused_by_buttons_menus_and_commands(evening: Evening) -> None:
    engine = await ready(FIRST, SECOND)
    async with evening.online(engine):
        await evening.begin()
        post = await asked(evening)
        await evening.lizzy.press(post, "Retry")
        await evening.discord.until(lambda: "You take him?" in post.content)
        menu = await evening.lizzy.context_menu(post, "More…")
        await evening.gm.slash(evening.stage, "gm mute", player=evening.lizzy)
        calls = len(engine.requests)
        for button in ("Retry", "Write more", "◀", "More…"):
            await refused(evening, await evening.lizzy.press(post, button), MUTED)
        for button in ("Retry", "Write more", "Edit", "Show thoughts", "Hide", "Branch"):
            await refused(evening, await evening.lizzy.press(menu.message, button), MUTED)
        for name in ("Retry", "Edit", "Show thoughts", "More…", "Rewind to here"):
            await refused(evening, await evening.lizzy.context_menu(post, name), MUTED)
        for line, options in (
            ("whisper", {"character": "Mr Bennet", "text": "Psst"}),
            ("cue", {"character": "Mr Bennet"}),
            ("roll", {"dice": "d6"}),
            ("cast join", {"character": "Mr Bennet"}),
        ):
            await refused(evening, await evening.lizzy.slash(evening.stage, line, **options), MUTED)
        await evening.discord.quiet()
        assert len(engine.requests) == calls
        assert "You take him?" in post.content


async def test_a_form_opened_before_a_mute_changes_no_reply(evening: Evening) -> None:
    engine = await ready(FIRST)
    async with evening.online(engine):
        await evening.begin()
        post = await asked(evening)
        await evening.gm.slash(evening.stage, "gm add", person=evening.kitty)
        form = await evening.kitty.context_menu(post, "Edit")
        await evening.gm.slash(evening.stage, "gm remove", person=evening.kitty)
        await evening.gm.slash(evening.stage, "gm mute", player=evening.kitty)
        await refused(evening, await evening.kitty.submit_modal(form, {"text": "MARMALADE"}), MUTED)
        assert "MARMALADE" not in post.content


async def test_old_posts_of_a_moved_scene_change_nothing(evening: Evening) -> None:
    engine = await ready(FIRST, SECOND)
    hall = evening.discord.text_channel(evening.guild, "hall")
    async with evening.online(engine):
        await evening.begin()
        post = await asked(evening)
        form = await evening.gm.context_menu(post, "Edit")
        menu = await evening.gm.context_menu(post, "More…")
        hidden = await evening.gm.press(menu.message, "Hide")
        await evening.discord.until(lambda: "Unhide" in hidden.text)
        await evening.gm.slash(evening.stage, "scene end")
        (choice,) = await evening.gm.autocomplete(hall, "scene reopen", scene="")
        await evening.gm.slash(hall, "scene reopen", scene=choice.value)
        await evening.discord.quiet()
        calls = len(engine.requests)
        posts = len(personas(hall))
        for name in ("Retry", "Edit", "Show thoughts", "More…", "Rewind to here"):
            await refused(evening, await evening.gm.context_menu(post, name), ELSEWHERE)
        for button in ("Retry", "Write more", "Edit", "Show thoughts", "Hide", "Branch"):
            await refused(evening, await evening.gm.press(menu.message, button), ELSEWHERE)
        await refused(evening, await evening.gm.submit_modal(form, {"text": "PICKLES"}), ELSEWHERE)
        await refused(evening, await evening.gm.press(hidden.message, "Unhide"), ELSEWHERE)
        await evening.discord.quiet()
        assert (len(engine.requests), len(personas(hall))) == (calls, posts)
        assert "PICKLES" not in post.content
