"""Streaming replies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.errors import EngineDied
from bot.posting.reply_draft import CURSOR
from bot.settings import LibrarySettings, PlaySettings
from tests.engine.scripted_engine import Scripted, ScriptedEngine
from tests.library.sample_libraries import put
from tests.play.harness import Evening, finished, personas
from tests.scenes.scene_harness import reply

if TYPE_CHECKING:
    from pathlib import Path

    from tests.engine.scripted_engine import Script

FIVE = ("The Hatter", "The Hare", "The Dormouse", "The Duchess", "The Cook")
WORDS = " ".join(
    f"<role_action>turns page {page}</role_action> Page {page} is a blank." for page in range(60)
)


async def ready(*script: Script) -> ScriptedEngine:
    engine = ScriptedEngine(list(script))
    await engine.start()
    return engine


def spoken(name: str, words: str = WORDS) -> str:
    return reply(name, plan=f"PLAN of {name}", thinks="SECRET <b", says=words)


async def test_a_streaming_reply_shows_no_private_text(
    evening: Evening,
) -> None:
    text = spoken("Mr Bennet").replace("Page 7", "<role_thinking>SECRET too</role_thinking>Page 7")
    engine = await ready(Scripted(text, chunk=7, pause=0.002))
    async with evening.online(engine):
        await evening.begin()
        await evening.gm.slash(evening.stage, "reveal thoughts", where="gm")
        evening.lizzy.say(evening.stage, "@Mr Bennet Papa?")
        first = (await evening.discord.until(lambda: personas(evening.stage)))[0]
        assert engine.running == 1
        await evening.answer(count=2)
        growing = [state.content for state in first.states]
        assert len(growing) > 3
        assert all(text.endswith(CURSOR) for text in growing[:2])
        assert not any(
            "SECRET" in text or "PLAN" in text for text in evening.lizzy.ever_saw().splitlines()
        )
        assert "Page 59 is a blank." in personas(evening.stage)[-1].content


async def test_replies_come_in_one_piece_if_streaming_is_off(evening: Evening) -> None:
    evening.settings = evening.settings.model_copy(update={"play": PlaySettings(streaming=False)})
    async with evening.online(await ready(Scripted(spoken("Mr Bennet"), chunk=7, pause=0.001))):
        await evening.begin()
        evening.lizzy.say(evening.stage, "@Mr Bennet Papa?")
        await evening.answer(count=2)
        await evening.discord.quiet()
        assert [len(post.states) for post in personas(evening.stage)] == [1, 1]


async def test_a_reply_interrupted_by_a_dead_engine_restarts_in_the_same_post(
    evening: Evening,
) -> None:
    died = Scripted(spoken("Mr Bennet")[:900], chunk=20, pause=0.005, error=EngineDied("Gone."))
    async with evening.online(await ready(died, reply("Mr Bennet", says="Well, well."))):
        await evening.begin()
        evening.lizzy.say(evening.stage, "@Mr Bennet Papa?")
        await evening.discord.until(
            lambda: [post for post in finished(evening.stage) if "Well" in post.content]
        )
        (post,) = personas(evening.stage)
        assert post.content == "*smiles* Well, well."
        assert any("turns page" in state.content for state in post.states)


async def test_a_lost_engine_leaves_a_notice_and_no_half_reply(
    evening: Evening,
) -> None:
    died = Scripted(
        spoken("Mr Bennet")[:900],
        chunk=20,
        pause=0.005,
        error=EngineDied("The model's worker died."),
    )
    async with evening.online(await ready(died, died, reply("Mr Bennet", says="Well, well."))):
        await evening.begin()
        evening.lizzy.say(evening.stage, "@Mr Bennet Papa?")
        notice = (
            await evening.discord.until(
                lambda: [m for m in evening.stage.messages if "Try again" in m.labels]
            )
        )[0]
        assert personas(evening.stage) == []
        await evening.lizzy.press(notice, "Try again")
        assert (await evening.answer()).content == "*smiles* Well, well."


async def test_a_restart_during_a_reply_finishes_the_same_post(evening: Evening) -> None:
    slow = Scripted(spoken("Mr Bennet"), chunk=20, pause=0.05)
    async with evening.online(await ready(slow)):
        await evening.begin()
        evening.lizzy.say(evening.stage, "@Mr Bennet Papa?")
        begun = (await evening.discord.until(lambda: personas(evening.stage)))[0]
        await evening.discord.until(lambda: len(begun.states) > 2)
    async with evening.online(await ready(reply("Mr Bennet", says="Well, well."))):
        await evening.discord.until(lambda: begun.content == "*smiles* Well, well.")
        await evening.discord.quiet()
        assert personas(evening.stage) == [begun]


async def test_a_scene_that_ends_during_a_reply_leaves_no_half_reply(evening: Evening) -> None:
    async with evening.online(await ready(Scripted(spoken("Mr Bennet"), chunk=20, pause=0.05))):
        await evening.begin()
        evening.lizzy.say(evening.stage, "@Mr Bennet Papa?")
        await evening.discord.until(lambda: personas(evening.stage))
        await evening.gm.slash(evening.stage, "scene end")
        await evening.discord.quiet()
        assert personas(evening.stage) == []


async def test_deleting_a_line_removes_the_half_reply_to_it(evening: Evening) -> None:
    async with evening.online(await ready(Scripted(spoken("Mr Bennet"), chunk=40, pause=0.02))):
        await evening.begin()
        line = evening.lizzy.say(evening.stage, "@Mr Bennet Papa?")
        await evening.discord.until(lambda: personas(evening.stage))
        evening.lizzy.delete(line)
        await evening.discord.until(lambda: not personas(evening.stage))


async def test_five_streaming_characters_stay_within_rate_limits(
    evening: Evening, tmp_path: Path
) -> None:
    put(tmp_path / "scenarios", "tea", characters=[{"name": name} for name in FIVE])
    library = LibrarySettings(folders=(tmp_path / "scenarios",))
    evening.settings = evening.settings.model_copy(update={"library": library})
    pages = " ".join(
        f"<role_action>turns page {page}</role_action> Page {page}." for page in range(30)
    )
    evening.discord.rates.enforced = True
    async with evening.online(
        await ready(*(Scripted(spoken(name, pages), chunk=12, pause=0.01) for name in FIVE))
    ):
        await evening.gm.slash(evening.stage, "scene start", scenario="tea")
        evening.lizzy.say(evening.stage, " ".join(f"@{name}" for name in FIVE))
        await evening.answer(count=5, within=60)
        await evening.discord.quiet(0.5, within=30)
        assert [post.name for post in personas(evening.stage)] == list(FIVE)
        assert evening.discord.refused == 0
        assert min(len(post.states) for post in personas(evening.stage)) > 2
