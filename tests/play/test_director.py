"""The director: auto mode, cues, parts that change hands, simultaneous lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.engine.scripted_engine import Scripted, ScriptedEngine
from tests.play.harness import Evening, personas
from tests.scenes.scene_harness import reply

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.engine.protocol import Request

PLAYED = (
    "Be dry.</system_thinking><role_thinking>SECRET</role_thinking><role_action>nods</role_action>"
)


def playing(*choices: str) -> Callable[[Request], str]:
    """Return an engine that picks these speakers in turn. Each character says its own name."""
    left = list(choices)

    def play(request: Request) -> str:
        if request.mind.endswith("/(director)"):
            return left.pop(0) if left else "Nobody"
        return f"{PLAYED}I am {request.mind.partition('/')[2]}."

    return play


async def ready(*choices: str) -> ScriptedEngine:
    engine = ScriptedEngine([playing(*choices)])
    await engine.start()
    return engine


async def test_in_auto_mode_characters_answer_within_their_budget(evening: Evening) -> None:
    async with evening.online(await ready(*["Mr Bennet", "Mrs Bennet"] * 9)):
        await evening.begin()
        told = await evening.gm.slash(evening.stage, "scene mode", mode="auto", budget=2)
        assert "at most 2 turns" in told.text
        evening.lizzy.say(evening.stage, "What a fine day.")
        await evening.answer(count=2)
        await evening.discord.quiet()
        assert [post.name for post in personas(evening.stage)] == ["Mr Bennet", "Mrs Bennet"]
        evening.lizzy.say(evening.stage, "Is it not?")
        await evening.answer(count=4)
        await evening.discord.quiet()
        assert len(personas(evening.stage)) == 4
        await evening.gm.slash(evening.stage, "scene mode", mode="addressed")
        evening.lizzy.say(evening.stage, "Hm?")
        await evening.discord.quiet()
        assert len(personas(evening.stage)) == 4


async def test_the_cast_and_the_gm_can_cue_a_character(evening: Evening) -> None:
    async with evening.online(await ready()):
        await evening.begin()
        refused = await evening.lizzy.slash(evening.stage, "cue", character="Mr Bennet")
        assert "Only the game master" in refused.text
        await evening.lizzy.slash(evening.stage, "cast join", character="Elizabeth Bennet")
        offered = await evening.lizzy.autocomplete(evening.stage, "cue", character="benn")
        assert "Mr Bennet" in [choice.value for choice in offered]
        cued = await evening.lizzy.slash(evening.stage, "cue", character="mr bennet")
        assert cued.ephemeral
        assert (await evening.answer()).name == "Mr Bennet"


async def test_a_part_returns_to_the_model_or_rests_when_its_player_leaves(
    evening: Evening,
) -> None:
    engine = await ready()
    async with evening.online(engine):
        await evening.begin()
        evening.lizzy.say(evening.stage, "@Mr Bennet Papa?")
        await evening.answer()
        await evening.kitty.slash(evening.stage, "cast join", character="Mr Bennet")
        evening.lizzy.say(evening.stage, "@Mr Bennet Papa?")
        await evening.discord.quiet()
        assert len(personas(evening.stage)) == 1
        evening.kitty.say(evening.stage, "I am in my library.")
        left = await evening.kitty.slash(evening.stage, "cast leave")
        assert "by the model now" in left.text
        evening.lizzy.say(evening.stage, "@Mr Bennet Where?")
        await evening.answer(count=2)
        assert "assistant\nMr Bennet: I am in my library." in engine.requests[-1].prompt.text
        await evening.kitty.slash(evening.stage, "cast join", character="Mr Bennet")
        rests = await evening.kitty.slash(evening.stage, "cast leave", rest=True)
        assert "rests now" in rests.text
        evening.lizzy.say(evening.stage, "@Mr Bennet Still there?")
        await evening.discord.quiet()
        assert len(personas(evening.stage)) == 2
        assert "rests" in (await evening.lizzy.slash(evening.stage, "cast list")).text
        await evening.gm.slash(evening.stage, "cast wake", character="Mr Bennet")
        evening.lizzy.say(evening.stage, "@Mr Bennet Now?")
        await evening.answer(count=3)


async def test_two_simultaneous_lines_get_one_reply(
    evening: Evening,
) -> None:
    engine = await ready()
    async with evening.online(engine):
        await evening.begin()
        engine.gate.clear()
        evening.lizzy.say(evening.stage, "@Mr Bennet MARMALADE?")
        evening.kitty.say(evening.stage, "@Mr Bennet PICKLES?")
        await evening.discord.until(
            lambda: engine.requests and "PICKLES" in engine.requests[-1].prompt.text
        )
        engine.gate.set()
        await evening.answer()
        await evening.discord.quiet()
        assert len(personas(evening.stage)) == 1
        prompt = engine.requests[-1].prompt.text
        assert prompt.index("MARMALADE") < prompt.index("PICKLES")


async def test_any_character_name_works_and_never_pings(evening: Evening) -> None:
    names = ("🐉 Drake", "עליזה בת־דוד", "N" * 80, "everyone", "here")
    folder = evening.settings.library.folders[0] if evening.settings.library.folders else None
    assert folder is None
    library = evening.settings.store.path.parent / "library"
    (library / "odd").mkdir(parents=True)
    cast = "\n".join(f'  - name: "{name}"\n    profile: Odd.' for name in names)
    (library / "odd" / "scenario.yaml").write_text(
        "title: Odd\nbook: Oddities\nsummary: Odd names.\nsetting: Nowhere.\n"
        f"characters:\n{cast}\n",
        encoding="utf-8",
    )
    shelf = evening.settings.library.model_copy(update={"folders": (library,)})
    evening.settings = evening.settings.model_copy(update={"library": shelf})
    async with evening.online(await ready()):
        started = await evening.gm.slash(evening.stage, "scene start", scenario="odd")
        assert "has started" in started.text
        for count, name in enumerate(names, start=1):
            await evening.gm.slash(evening.stage, "cue", character=name)
            post = await evening.answer(count=count)
            assert post.pings == set()
            told = await evening.gm.slash(
                evening.stage, "gm say", character=name, text="@everyone *waves*"
            )
            assert told.ephemeral
            assert (await evening.answer(count=2 * count)).pings == set()
            if count < len(names):
                continue
        assert all(message.pings == set() for message in evening.stage.messages)


async def test_a_line_is_heard_while_a_reply_is_being_written(evening: Evening) -> None:
    slow = Scripted(
        reply("Mr Bennet", says=" ".join(f"word{number}" for number in range(40))),
        chunk=6,
        pause=0.02,
    )
    engine = ScriptedEngine([slow])
    await engine.start()
    async with evening.online(engine):
        await evening.begin()
        evening.lizzy.say(evening.stage, "@Mr Bennet Papa?")
        await evening.discord.until(lambda: personas(evening.stage))
        evening.kitty.say(evening.stage, "@Mr Bennet And me?")
        await evening.answer(count=2, within=20)
        assert engine.cancelled == []


async def test_missed_lines_come_before_new_ones_after_a_restart(
    evening: Evening,
) -> None:
    async with evening.online(await ready()):
        await evening.begin()
    evening.lizzy.say(evening.stage, "MARMALADE first.")
    evening.discord.faults.slow("list_messages", 0.5)
    engine = await ready()
    async with evening.online(engine):
        evening.kitty.say(evening.stage, "@Mr Bennet PICKLES second.")
        await evening.answer()
        prompt = engine.requests[-1].prompt.text
        assert prompt.index("MARMALADE") < prompt.index("PICKLES")


async def test_a_line_to_an_absent_character_gets_one_notice(evening: Evening) -> None:
    async with evening.online(await ready()):
        await evening.begin()
        await evening.gm.slash(evening.stage, "cast exit", character="Mr Bennet")
        await evening.gm.slash(evening.stage, "cast rest", character="Mrs Bennet")
        await evening.kitty.slash(evening.stage, "cast join", character="Elizabeth Bennet")
        for _ in range(2):
            for name, why in (
                ("Mr Bennet", "Mr Bennet is off stage and can't hear you"),
                ("Mrs Bennet", "Mrs Bennet rests"),
                ("Elizabeth", "A player has the part of Elizabeth Bennet"),
            ):
                evening.lizzy.say(evening.stage, f"@{name}, are you there?")
                await evening.discord.until(lambda why=why: hints(evening, why))  # type: ignore[misc]
        evening.kitty.say(evening.stage, "@Elizabeth, take heart. // She speaks to herself.")
        await evening.discord.quiet()
        assert len(hints(evening)) == 3
        await evening.gm.slash(evening.stage, "cast enter", character="Mr Bennet")
        evening.lizzy.say(evening.stage, "@Mr Bennet?")
        await evening.answer()
        await evening.gm.slash(evening.stage, "cast exit", character="Mr Bennet")
        evening.lizzy.say(evening.stage, "@Mr Bennet?")
        await evening.discord.until(lambda: len(hints(evening, "Mr Bennet is off stage")) == 2)


async def test_a_line_during_a_pause_or_to_a_resting_character_gets_a_notice(
    evening: Evening,
) -> None:
    async with evening.online(await ready()):
        await evening.begin()
        await evening.gm.slash(evening.stage, "scene pause")
        evening.lizzy.say(evening.stage, "Shall we order pizza?")
        await evening.discord.quiet()
        assert hints(evening) == []
        evening.lizzy.say(evening.stage, "@Mr Bennet Papa?")
        await evening.discord.until(lambda: hints(evening, "paused"))
        await evening.gm.slash(evening.stage, "scene unpause")
        for name in ("Mr Bennet", "Mrs Bennet", "Elizabeth Bennet", "Mr Collins"):
            await evening.gm.slash(evening.stage, "cast rest", character=name)
        evening.lizzy.say(evening.stage, f"{evening.discord.world.bot.mention} anybody?")
        await evening.discord.until(lambda: hints(evening, "plays no character"))


def hints(evening: Evening, text: str = "") -> list[str]:
    """Return the small-print messages that contain this text."""
    said = [message.content for message in evening.stage.messages]
    return [content for content in said if content.startswith("-# ") and text in content]
