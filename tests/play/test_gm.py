"""The game master's commands: narrations, lines, notes, settings, dice, people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.engine.scripted_engine import Scripted, ScriptedEngine
from tests.play.harness import Evening, personas
from tests.scenes.scene_harness import reply

if TYPE_CHECKING:
    from tests.engine.scripted_engine import Script
    from tests.loopback import DiscordMessage

BENNET = reply(
    "Mr Bennet",
    plan="PLAN he stays dry.",
    thinks="SECRET dear Lizzy.",
    does="smiles",
    says="Well, well.",
)
GM_ONLY: tuple[tuple[str, dict[str, str]], ...] = (
    ("gm narrate", {"text": "Fire!"}),
    ("gm narrate", {}),
    ("gm say", {"character": "Mr Bennet", "text": "Fire!"}),
    ("gm whisper", {"character": "Mr Bennet", "text": "Fire!"}),
    ("gm note", {"text": "Fire!"}),
    ("gm notes", {}),
    ("gm think", {"character": "Mr Bennet"}),
    ("gm set", {"place": "Hell"}),
    ("gm hand", {"character": "Mr Bennet"}),
    ("scene mode", {"mode": "auto"}),
    ("cast rest", {"character": "Mr Bennet"}),
    ("cast exit", {"character": "Mr Bennet"}),
    ("cue", {"character": "Mr Bennet"}),
)


async def ready(*script: Script) -> ScriptedEngine:
    engine = ScriptedEngine(list(script) or [BENNET])
    await engine.start()
    return engine


def narrations(evening: Evening) -> list[DiscordMessage]:
    """Return the messages of the bot itself in the channel."""
    return [message for message in evening.stage.messages if message.content.startswith(">>> ")]


async def test_a_narration_is_posted_in_italics_without_pings(
    evening: Evening,
) -> None:
    engine = await ready()
    async with evening.online(engine):
        await evening.begin()
        done = await evening.gm.slash(
            evening.stage, "gm narrate", text="The *candles* go out, @everyone.\nAll of them."
        )
        assert done.ephemeral
        (told,) = narrations(evening)
        assert told.content.startswith(">>> *The ")
        assert told.pings == set()
        evening.lizzy.say(evening.stage, "@Mr Bennet Papa?")
        await evening.answer()
        assert "Environment: The *candles* go out" in engine.requests[0].prompt.text
        history = await evening.kitty.slash(evening.stage, "scene history")
        assert "go out" in history.text


async def test_a_deleted_narration_or_roll_leaves_the_story(evening: Evening) -> None:
    engine = await ready()
    moderator = evening.discord.person("Hill", evening.guild, permissions="manage_messages")
    async with evening.online(engine):
        await evening.begin()
        await evening.gm.slash(evening.stage, "gm narrate", text="MARMALADE rains.")
        await evening.lizzy.slash(evening.stage, "roll", dice="2d6+3")
        for message in [*narrations(evening), evening.stage.messages[-1]]:
            moderator.delete(message)
        await evening.discord.quiet()
        evening.lizzy.say(evening.stage, "@Mr Bennet Papa?")
        await evening.answer()
        assert "MARMALADE" not in engine.requests[0].prompt.text
        assert "2d6+3" not in engine.requests[0].prompt.text


async def test_the_model_narrates_if_the_gm_gives_no_text(evening: Evening) -> None:
    async with evening.online(await ready("Rain falls. Mr Bennet weeps. A door bangs.")):
        await evening.begin()
        await evening.gm.slash(evening.stage, "gm narrate")
        (told,) = await evening.discord.until(lambda: narrations(evening))
        assert told.content == ">>> *Rain falls. A door bangs.*"


async def test_gm_say_posts_as_the_character_and_the_addressee_answers(
    evening: Evening,
) -> None:
    async with evening.online(await ready()):
        await evening.begin()
        done = await evening.gm.slash(
            evening.stage, "gm say", character="Mrs Bennet", text="*faints* @Mr Bennet, help!"
        )
        assert done.ephemeral
        await evening.answer(count=2)
        assert [(post.name, post.content.split()[0]) for post in personas(evening.stage)] == [
            ("Mrs Bennet", "*faints*"),
            ("Mr Bennet", "*smiles*"),
        ]


async def test_a_note_is_only_in_the_prompt_until_it_is_removed(
    evening: Evening,
) -> None:
    engine = await ready()
    async with evening.online(engine):
        await evening.begin()
        made = await evening.gm.slash(
            evening.stage, "gm note", text="MARMALADE is gone.", character="Mr Bennet"
        )
        assert made.ephemeral
        listed = await evening.gm.slash(evening.stage, "gm notes")
        assert listed.ephemeral
        assert "1. Mr Bennet: MARMALADE is gone." in listed.text
        offered = await evening.gm.autocomplete(evening.stage, "gm notes", remove=1)
        assert offered[0].value == 1
        assert await evening.lizzy.autocomplete(evening.stage, "gm notes", remove=1) == []
        evening.lizzy.say(evening.stage, "@Mr Bennet Papa?")
        await evening.answer()
        assert "MARMALADE" in engine.requests[0].prompt.text
        history = await evening.lizzy.slash(evening.stage, "scene history")
        assert "MARMALADE" not in history.text + evening.lizzy.ever_saw()
        left = await evening.gm.slash(evening.stage, "gm notes", remove=1)
        assert "no standing notes" in left.text


async def test_gm_think_shows_thoughts_without_a_turn(evening: Evening) -> None:
    async with evening.online(
        await ready("PLAN</system_thinking>Mr Bennet: <role_thinking>SECRET joy.")
    ):
        await evening.begin()
        read = await evening.gm.slash(evening.stage, "gm think", character="Mr Bennet")
        assert read.ephemeral
        assert "SECRET joy." in read.text
        assert personas(evening.stage) == []
        assert "SECRET" not in evening.lizzy.ever_saw()


async def test_gm_set_changes_the_setting_in_the_channel_and_in_every_mind(
    evening: Evening,
) -> None:
    engine = await ready()
    async with evening.online(engine):
        await evening.begin()
        await evening.gm.slash(evening.stage, "gm set", place="The *terrace*", time="Midnight")
        assert [told.content for told in narrations(evening)] == [
            ">>> **Time** *Midnight*",
            ">>> **Place** *The \\*terrace\\**",
        ]
        nothing = await evening.gm.slash(evening.stage, "gm set")
        assert "Enter a new situation" in nothing.text
        evening.lizzy.say(evening.stage, "@Mr Bennet Papa?")
        await evening.answer()
        prompt = engine.requests[0].prompt.text
        assert "Time: Midnight\nPlace: The *terrace*" in prompt.partition("===Requirements===")[0]


async def test_rolls_are_public_or_secret_and_limited_in_size(
    evening: Evening,
) -> None:
    engine = await ready()
    async with evening.online(engine):
        await evening.begin()
        seen = await evening.lizzy.slash(evening.stage, "roll", dice="2d6+3")
        assert not seen.ephemeral
        assert "rolls `2d6+3`" in seen.text
        hidden = await evening.lizzy.slash(evening.stage, "roll", dice="1d20-4", secret=True)
        assert hidden.ephemeral
        dms = await evening.discord.until(lambda: evening.gm.dms[1:])
        assert "1d20-4" in "\n".join(text for message in dms for text in message.now.texts())
        assert "1d20-4" not in evening.kitty.ever_saw()
        too_many = await evening.lizzy.slash(evening.stage, "roll", dice="1000000000d6")
        assert too_many.ephemeral
        assert "at most 100 dice" in too_many.text
        evening.lizzy.say(evening.stage, "@Mr Bennet Papa?")
        await evening.answer()
        assert "Lizzy (player) rolls 2d6+3 and gets" in engine.requests[0].prompt.text
        assert "1d20-4" not in engine.requests[0].prompt.text


async def test_markdown_in_a_name_does_not_format_a_later_roll(evening: Evening) -> None:
    marked = evening.discord.person("__x__", evening.guild)
    async with evening.online(await ready()):
        await evening.begin()
        await marked.slash(evening.stage, "roll", dice="d6")
        await marked.slash(evening.stage, "roll", dice="d8", secret=True)
        history = await evening.gm.slash(evening.stage, "scene history")
        assert "*\\_\\_x\\_\\_ rolls d6" in history.text
        await evening.discord.until(lambda: evening.gm.dms[1:])
        assert "\\_\\_x\\_\\_ rolls d8" in "\n".join(evening.gm.dms[1].now.texts())


async def test_players_are_refused_the_game_masters_commands(evening: Evening) -> None:
    engine = await ready()
    async with evening.online(engine):
        await evening.begin()
        before = len(evening.stage.messages)
        for command, options in GM_ONLY:
            refused = await evening.lizzy.slash(evening.stage, command, **options)
            assert refused.ephemeral, command
            assert "Only the game master" in refused.text, command
        for command, person in (
            ("mute", "player"),
            ("unmute", "player"),
            ("add", "person"),
            ("remove", "person"),
        ):
            refused = await evening.lizzy.slash(
                evening.stage, f"gm {command}", **{person: evening.kitty}
            )
            assert "Only the game master" in refused.text, command
        assert len(evening.stage.messages) == before
        assert engine.requests == []


async def test_commands_without_a_scene_say_how_to_start_one(evening: Evening) -> None:
    async with evening.online(await ready()):
        for command, options in (*GM_ONLY, ("whisper", {"character": "Mr Bennet", "text": "Psst"})):
            refused = await evening.gm.slash(evening.stage, command, **options)
            assert refused.ephemeral
            assert "No scene is under way" in refused.text, command
        assert "rolls" in (await evening.gm.slash(evening.stage, "roll", dice="d6")).text


async def test_the_gm_hands_out_parts_and_mutes_and_unmutes_players(evening: Evening) -> None:
    engine = await ready()
    async with evening.online(engine):
        await evening.begin()
        await evening.gm.slash(
            evening.stage, "gm hand", character="Elizabeth Bennet", player=evening.lizzy
        )
        evening.lizzy.say(evening.stage, "I am here.")
        listed = await evening.kitty.slash(evening.stage, "cast list")
        assert evening.lizzy.mention in listed.text
        await evening.gm.slash(evening.stage, "gm mute", player=evening.lizzy)
        evening.lizzy.say(evening.stage, "@Mr Bennet MARMALADE?")
        await evening.discord.quiet()
        assert engine.requests == []
        refused = await evening.lizzy.slash(
            evening.stage, "cast join", character="Elizabeth Bennet"
        )
        assert "muted you" in refused.text
        await evening.gm.slash(evening.stage, "gm unmute", player=evening.lizzy)
        evening.lizzy.say(evening.stage, "@Mr Bennet PICKLES?")
        await evening.answer()
        prompt = engine.requests[0].prompt.text
        assert "Elizabeth Bennet: I am here." in prompt
        assert "MARMALADE" not in prompt
        assert "Lizzy (player): @Mr Bennet PICKLES?" in prompt


async def test_a_scene_always_has_a_game_master(evening: Evening) -> None:
    async with evening.online(await ready()):
        await evening.begin()
        last = await evening.gm.slash(evening.stage, "gm remove", person=evening.gm)
        assert "at least one game master" in last.text
        await evening.gm.slash(evening.stage, "gm add", person=evening.lizzy)
        await evening.discord.until(lambda: evening.lizzy.dms)
        evening.kitty.say(evening.stage, "@Mr Bennet Papa?")
        await evening.answer()
        for gm in (evening.gm, evening.lizzy):
            await evening.discord.until(lambda gm=gm: len(gm.dms) >= 2)  # type: ignore[misc]
        await evening.lizzy.slash(evening.stage, "gm remove", person=evening.gm)
        assert "Only the game master" in (await evening.gm.slash(evening.stage, "scene pause")).text
        await evening.lizzy.slash(evening.stage, "gm handover", person=evening.kitty)
        status = await evening.gm.slash(evening.stage, "scene status")
        assert evening.kitty.mention in status.text
        assert evening.lizzy.mention not in status.text


async def test_commands_are_answered_while_a_reply_is_being_written(evening: Evening) -> None:
    engine = await ready(Scripted(BENNET, pause=0.2, chunk=8))
    async with evening.online(engine):
        await evening.begin()
        evening.lizzy.say(evening.stage, "@Mr Bennet Papa?")
        await evening.discord.until(lambda: engine.requests)
        await evening.gm.slash(evening.stage, "gm narrate", text="A log falls.")
        assert len(narrations(evening)) == 1
        assert engine.running == 1
        await evening.answer()
