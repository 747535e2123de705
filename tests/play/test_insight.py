"""Thoughts that are opened to one player, by a roll or by the game master."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.play.harness import personas
from tests.play.test_reveal import ready
from tests.scenes.scene_harness import reply

if TYPE_CHECKING:
    from tests.loopback import Outcome, Person
    from tests.play.harness import Evening

FIRST = reply("Mr Bennet", plan="PLAN", thinks="SECRET one", says="You refuse him?")
SECOND = reply("Mr Bennet", plan="PLAN", thinks="SECRET two", says="You take him?")

MADAM = reply("Mrs Bennet", thinks="SHE", says="My nerves!")


async def export(evening: Evening, person: Person) -> str:
    """Return a person's exported data."""
    outcome: Outcome = await person.slash(evening.stage, "mydata export")
    files = [number for message in outcome.messages for number in message.files()]
    return "".join(evening.discord.world.files[number].decode() for number in files)


async def test_an_opened_thought_stays_one_players_through_everything(evening: Evening) -> None:
    engine = await ready(FIRST, SECOND, MADAM)
    stage, lizzy, kitty, gm = evening.stage, evening.lizzy, evening.kitty, evening.gm
    async with evening.online(engine):
        await evening.begin()
        lizzy.say(stage, "@Mr Bennet Papa?")
        post = await evening.answer()
        await evening.discord.quiet()
        refused = await lizzy.slash(stage, "insight", character="Mr Bennet")
        assert "no difficulty is set. A game master can set one" in refused.text
        refused = await lizzy.slash(stage, "gm insight", character="Mr Bennet", difficulty=1)
        assert "Only the game master" in refused.text
        await gm.slash(stage, "gm insight", character="Mr Bennet", difficulty=1)
        rolled = await lizzy.slash(stage, "insight", character="Mr Bennet")
        assert not rolled.ephemeral
        assert "SECRET" not in rolled.text.split("reads a thought")[0]
        await evening.discord.until(lambda: "SECRET one" in lizzy.ever_saw())
        again = await lizzy.slash(stage, "insight", character="Mr Bennet")
        assert "already tried" in again.text

        await evening.discord.until(lambda: personas(stage)[-1].labels)
        await lizzy.press(post, "Retry")
        await evening.discord.until(lambda: "take him" in personas(stage)[-1].content)
        await evening.discord.quiet()
        again = await lizzy.slash(stage, "insight", character="Mr Bennet")
        assert "already tried" in again.text
        form = await gm.context_menu(post, "Edit")
        await gm.submit_modal(form, {"text": "Well, well."})
        await evening.discord.quiet()
    async with evening.online(engine):
        await evening.discord.quiet()
        shown = await lizzy.context_menu(post, "Show thoughts")
        assert "SECRET one" in shown.text
        assert "PLAN" not in shown.text
        refused = await kitty.context_menu(post, "Show thoughts")
        assert "Only the game master" in refused.text
        assert "SECRET one" in await export(evening, lizzy)
        assert "SECRET" not in await export(evening, kitty)

        kitty.say(stage, "@Mrs Bennet Mama?")
        await evening.answer(count=2)
        await evening.discord.quiet()
        assert "SECRET" not in engine.requests[-1].prompt.text
        question = await gm.context_menu(post, "Rewind to here")
        await gm.press(question.message, "Rewind")
        await evening.discord.quiet()
        assert "Mama?" not in (await gm.slash(stage, "scene history")).text
        assert "SECRET one" in (await lizzy.context_menu(post, "Show thoughts")).text

        await lizzy.slash(stage, "mydata delete", sure=True)
        await evening.discord.quiet()
        assert "SECRET" not in await export(evening, lizzy)
        refused = await lizzy.context_menu(post, "Show thoughts")
        assert "SECRET" not in refused.text
    assert "SECRET" not in kitty.ever_saw()
    assert "SECRET two" not in lizzy.ever_saw()


async def test_a_failed_roll_opens_nothing_and_is_not_repeated(evening: Evening) -> None:
    async with evening.online(await ready(FIRST, SECOND)):
        await evening.begin()
        evening.lizzy.say(evening.stage, "@Mr Bennet Papa?")
        await evening.answer()
        await evening.discord.quiet()
        await evening.gm.slash(evening.stage, "gm insight", character="Mr Bennet", difficulty=30)
        rolled = await evening.lizzy.slash(evening.stage, "insight", character="Mr Bennet")
        assert "can't read **Mr Bennet**" in rolled.text
        again = await evening.lizzy.slash(evening.stage, "insight", character="Mr Bennet")
        assert "already tried" in again.text
        history = await evening.gm.slash(evening.stage, "scene history")
        assert "rolls" not in history.text
        assert "SECRET" not in evening.lizzy.ever_saw()


async def test_a_gm_shows_a_thought_to_one_player(evening: Evening) -> None:
    stage, lizzy, kitty, gm = evening.stage, evening.lizzy, evening.kitty, evening.gm
    async with evening.online(await ready(FIRST, SECOND)):
        await evening.begin()
        lizzy.say(stage, "@Mr Bennet Papa?")
        post = await evening.answer()
        await evening.discord.quiet()
        kitty.say(stage, "Hm.")
        await evening.discord.quiet()
        (thought,) = (dm for dm in gm.dms if "Show to a player…" in dm.labels)
        menu = await gm.press(thought, "Show to a player…")
        await gm.choose(menu.message, "Choose a player", "Kitty")
        await evening.discord.until(lambda: "SECRET one" in kitty.ever_saw())
        assert "SECRET" not in lizzy.ever_saw()

        lizzy.user.dms_open = False
        told = await gm.slash(stage, "gm reveal", character="Mr Bennet", player=lizzy)
        assert "direct messages to them fail" in told.text
        shown = await lizzy.context_menu(post, "Show thoughts")
        assert "SECRET one" in shown.text
        assert "PLAN" not in lizzy.ever_saw() + kitty.ever_saw()

        kitty.leave(evening.guild)
        refused = await gm.slash(stage, "gm reveal", character="Mr Bennet", player=gm)
        assert "can read every thought" in refused.text
        menu = await gm.press(thought, "Show to a player…")
        refused = await gm.choose(menu.message, "Choose a player", "Kitty")
        assert "can't read this channel" in refused.text
