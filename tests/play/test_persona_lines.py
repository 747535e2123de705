"""Players' lines under the names and faces of their characters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.play.harness import personas
from tests.play.take_harness import FIRST, SECOND, ready, refused

if TYPE_CHECKING:
    from tests.loopback import DiscordMessage
    from tests.play.harness import Evening


async def begin(evening: Evening) -> None:
    """Start a scene in which Kitty plays Mrs Bennet, and asks to speak under her name."""
    await evening.begin()
    await evening.kitty.slash(evening.stage, "cast join", character="Mrs Bennet")


def allow_deletions(evening: Evening) -> None:
    world = evening.discord.world
    own = next(role for role in evening.guild.roles.values() if role.managed_by is world.bot)
    world.overwrite(evening.stage, own, allow="manage_messages")


async def shown(evening: Evening, text: str) -> DiscordMessage:
    """Wait for a persona post with this text, and return it."""
    await evening.discord.until(
        lambda: text in [post.content for post in personas(evening.stage)], what=f"a post {text!r}"
    )
    return next(post for post in personas(evening.stage) if post.content == text)


async def test_a_players_lines_appear_under_the_name_and_face_of_their_character(
    evening: Evening,
) -> None:
    engine = await ready(FIRST, SECOND)
    async with evening.online(engine):
        await begin(evening)
        denied = await evening.kitty.slash(evening.stage, "cast voice", lines="persona")
        await refused(evening, denied, "Manage Messages")
        allow_deletions(evening)
        chosen = await evening.kitty.slash(evening.stage, "cast voice", lines="persona")
        assert "appear as **Mrs Bennet** now" in chosen.text
        line = evening.kitty.say(evening.stage, "*weeps* @Mr Bennet Well, **sir**?")
        post = await shown(evening, "*weeps* @Mr Bennet Well, **sir**?")
        await evening.discord.until(lambda: line.deleted)
        assert post.name == "Mrs Bennet"
        await evening.answer(count=2)
        await evening.discord.quiet()
        assert len(engine.requests) == 1
        assert engine.requests[0].prompt.text.count("Well, **sir**?") == 1
        await refused(
            evening, await evening.lizzy.context_menu(post, "Edit"), "Only the player who wrote"
        )
        form = await evening.kitty.context_menu(post, "Edit")
        edited = await evening.kitty.submit_modal(form, {"text": "*sobs* MARMALADE."})
        await evening.discord.until(lambda: edited.messages)
        assert post.content == "*sobs* MARMALADE."
    async with evening.online(engine):
        history = await evening.gm.slash(evening.stage, "scene history")
        assert history.text.count("MARMALADE") == 1
        assert "**sir**" not in history.text
        form = await evening.kitty.context_menu(post, "Edit")
        await evening.kitty.submit_modal(form, {"text": ""})
        await evening.discord.until(lambda: post.deleted)
        history = await evening.gm.slash(evening.stage, "scene history")
        assert "MARMALADE" not in history.text
        typed = evening.kitty.say(evening.stage, "PICKLES.")
        pickles = await shown(evening, "PICKLES.")
        await evening.discord.until(lambda: typed.deleted)
        await evening.discord.quiet()
        await evening.kitty.slash(evening.stage, "mydata delete", sure=True)
        await evening.discord.until(lambda: pickles.deleted)
        await evening.kitty.slash(evening.stage, "cast voice", lines="plain")
        plain = evening.kitty.say(evening.stage, "Plain.")
        await evening.discord.quiet()
        assert not plain.deleted


async def test_a_refused_deletion_is_made_up_for_after_a_restart(evening: Evening) -> None:
    allow_deletions(evening)
    async with evening.online(await ready()):
        await begin(evening)
        await evening.kitty.slash(evening.stage, "cast voice", lines="persona")
        evening.discord.faults.refuse("delete_message", 50013)
        line = evening.kitty.say(evening.stage, "Hush.")
        post = await shown(evening, "Hush.")
        await evening.discord.quiet()
        assert not line.deleted
    async with evening.online(await ready()):
        await evening.discord.until(lambda: line.deleted)
        history = await evening.gm.slash(evening.stage, "scene history")
        assert history.text.count("Hush.") == 1
        assert not post.deleted
