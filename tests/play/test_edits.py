"""Edited lines, quotes, markup and shared names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.play.harness import personas
from tests.play.take_harness import ready as ready_with
from tests.play.test_scene import ready
from tests.scenes.scene_harness import reply

if TYPE_CHECKING:
    from tests.engine.scripted_engine import ScriptedEngine
    from tests.play.harness import Evening


async def read_mind(evening: Evening, engine: ScriptedEngine) -> str:
    """Return Mr Bennet's prompt after one more line to him."""
    before = len(engine.requests)
    evening.kitty.say(evening.stage, "@Mr Bennet And now?")
    await evening.discord.until(lambda: len(engine.requests) > before)
    await evening.discord.quiet()
    return engine.requests[-1].prompt.text


async def test_an_emptied_line_leaves_every_mind_and_returns_with_words(evening: Evening) -> None:
    engine = await ready()
    async with evening.online(engine):
        await evening.begin()
        line = evening.lizzy.say(evening.stage, "I like MARMALADE.", files={"a.png": b"x"})
        await evening.discord.quiet()
        evening.lizzy.edit(line, "")
        await evening.discord.quiet()
        assert "MARMALADE" not in await read_mind(evening, engine)
        evening.lizzy.edit(line, "I like HONEY.")
        await evening.discord.quiet()
        assert "HONEY" in await read_mind(evening, engine)


async def test_a_line_edited_out_of_character_leaves_every_mind(evening: Evening) -> None:
    engine = await ready()
    async with evening.online(engine):
        await evening.begin()
        for index, text in enumerate(("((brb))", "ooc: brb", "// brb")):
            line = evening.lizzy.say(evening.stage, f"I like MARMALADE{index}.")
            await evening.discord.quiet()
            evening.lizzy.edit(line, text)
        await evening.discord.quiet()
        prompt = await read_mind(evening, engine)
        assert "MARMALADE" not in prompt
        assert "brb" not in prompt


async def test_words_added_to_a_bare_picture_are_heard_and_answered(evening: Evening) -> None:
    engine = await ready()
    async with evening.online(engine):
        await evening.begin()
        picture = evening.lizzy.say(evening.stage, files={"a.png": b"x"})
        aside = evening.lizzy.say(evening.stage, "((a picture))")
        await evening.discord.quiet()
        evening.lizzy.edit(aside, "I painted MARMALADE.")
        evening.lizzy.edit(picture, "@Mr Bennet Do you like HONEY?")
        await evening.answer()
        prompt = engine.requests[0].prompt.text
        assert "HONEY" in prompt
        assert "MARMALADE" in prompt
        history = await evening.gm.slash(evening.stage, "scene history")
        assert history.text.index("HONEY") < history.text.index("MARMALADE")


async def test_a_corrected_name_gets_an_answer_once(evening: Evening) -> None:
    engine = await ready()
    async with evening.online(engine):
        await evening.begin()
        line = evening.lizzy.say(evening.stage, "@Mr Benet Papa?")
        await evening.discord.quiet()
        assert engine.requests == []
        evening.lizzy.edit(line, "@Mr Bennet Papa?")
        await evening.answer()
        evening.lizzy.edit(line, "@Mr Bennet Dear Papa?")
        await evening.discord.quiet()
        assert len(engine.requests) == 1


async def test_a_muted_persons_edit_adds_no_words(evening: Evening) -> None:
    engine = await ready()
    async with evening.online(engine):
        await evening.begin()
        line = evening.lizzy.say(evening.stage, "I like MARMALADE.")
        await evening.discord.quiet()
        await evening.gm.slash(evening.stage, "gm mute", player=evening.lizzy)
        evening.lizzy.edit(line, "I like HONEY.")
        await evening.discord.quiet()
        prompt = await read_mind(evening, engine)
        assert "HONEY" not in prompt
        assert "MARMALADE" not in prompt


async def test_a_picture_posted_while_muted_stays_unheard_after_an_edit(evening: Evening) -> None:
    engine = await ready()
    async with evening.online(engine):
        await evening.begin()
        await evening.gm.slash(evening.stage, "gm mute", player=evening.lizzy)
        picture = evening.lizzy.say(evening.stage, files={"a.png": b"x"})
        await evening.discord.quiet()
        await evening.gm.slash(evening.stage, "gm unmute", player=evening.lizzy)
        evening.lizzy.edit(picture, "I like HONEY.")
        await evening.discord.quiet()
        assert "HONEY" not in await read_mind(evening, engine)


async def test_a_line_removed_by_clear_stays_out_after_an_edit(evening: Evening) -> None:
    engine = await ready()
    async with evening.online(engine):
        await evening.begin()
        words = evening.lizzy.say(evening.stage, "I like MARMALADE.")
        picture = evening.lizzy.say(evening.stage, files={"a.png": b"x"})
        await evening.discord.quiet()
        await evening.gm.slash(evening.stage, "scene clear")
        evening.lizzy.edit(words, "I like PICKLES.")
        evening.lizzy.edit(picture, "I like HONEY.")
        await evening.discord.quiet()
        prompt = await read_mind(evening, engine)
        assert "PICKLES" not in prompt
        assert "HONEY" not in prompt


async def test_quotes_address_neither_a_character_nor_the_bot(evening: Evening) -> None:
    engine = await ready()
    async with evening.online(engine):
        await evening.begin()
        for text in (
            "> @Mr Bennet Papa?\nI never said that.",
            ">>> @Mr Bennet\n@Mrs Bennet",
            f"> {evening.discord.bot.mention} hello\nWho was that?",
        ):
            evening.lizzy.say(evening.stage, text)
        await evening.discord.quiet()
        assert engine.requests == []
        evening.lizzy.say(evening.stage, "> No.\n@Mr Bennet Did you say that?")
        await evening.answer()
        assert "> No." in engine.requests[0].prompt.text


async def test_markup_enters_minds_as_people_see_it(evening: Evening) -> None:
    engine = await ready()
    async with evening.online(engine):
        await evening.begin()
        evening.lizzy.say(
            evening.stage,
            "@Mr Bennet <:wave:1234567890123456789> <t:0:D> </roll:1234567890123456789> "
            f"<id:guide> <#{evening.stage.id}>",
        )
        await evening.answer()
        prompt = engine.requests[0].prompt.text
        assert ":wave: 1 January 1970 /roll Server Guide #study" in prompt


async def test_everyone_who_bears_a_shared_name_answers(evening: Evening) -> None:
    library = evening.settings.store.path.parent / "library"
    (library / "sisters").mkdir(parents=True)
    (library / "sisters" / "scenario.yaml").write_text(
        "title: Sisters\nbook: Longbourn\nsummary: Two sisters.\nsetting: A parlour.\n"
        "characters:\n  - name: Jane Bennet\n    profile: Kind.\n"
        "  - name: Mary Bennet\n    profile: Grave.\n  - name: Mr. Collins\n    profile: Vain.\n"
    )
    shelf = evening.settings.library.model_copy(update={"folders": (library,)})
    evening.settings = evening.settings.model_copy(update={"library": shelf})
    async with evening.online(await ready()):
        await evening.gm.slash(evening.stage, "scene start", scenario="sisters")
        evening.lizzy.say(evening.stage, "@Bennet Girls?")
        await evening.answer(count=2)
        await evening.discord.quiet()
        assert {post.name for post in personas(evening.stage)} == {
            "Jane Bennet",
            "Mary Bennet",
        }
        refused = await evening.gm.slash(evening.stage, "cue", character="Bennet")
        assert refused.ephemeral
        assert "fits several characters" in refused.text
        assert "Jane Bennet, Mary Bennet" in refused.text


async def test_markup_in_commands_enters_minds_as_people_see_it(evening: Evening) -> None:
    engine = await ready()
    raw = "<:wave:1234567890123456789> <t:0:D>"
    async with evening.online(engine):
        await evening.begin()
        await evening.gm.slash(
            evening.stage, "gm narrate", text=f"{raw} {evening.kitty.mention} <#{evening.stage.id}>"
        )
        await evening.gm.slash(evening.stage, "gm set", place=f"A room {raw}")
        await evening.gm.slash(evening.stage, "gm note", text=f"Note {raw}")
        await evening.lizzy.slash(
            evening.stage, "whisper", character="Mr Bennet", text=f"Psst <@1> {raw} `{raw}`"
        )
        await evening.discord.until(lambda: engine.requests)
        await evening.discord.quiet()
        prompt = engine.requests[-1].prompt.text
        seen = ":wave: 1 January 1970"
        assert f"{seen} @Kitty #study" in prompt
        assert f"A room {seen}" in prompt
        assert f"Note {seen}" in prompt
        assert f"{seen} `{raw}`" in prompt


async def test_an_edit_that_names_another_character_moves_the_answer(evening: Evening) -> None:
    engine = await ready_with(lambda asked: reply(asked.speaker, says="Well, well."))
    async with evening.online(engine):
        await evening.begin()
        engine.gate.clear()
        line = evening.lizzy.say(evening.stage, "@Mr Bennet Good evening!")
        await evening.discord.until(lambda: engine.requests)
        evening.lizzy.edit(line, "@Mrs Bennet Good evening!")
        await evening.discord.until(lambda: len(engine.requests) == 2)
        engine.gate.set()
        await evening.discord.quiet()
        assert [post.name for post in personas(evening.stage)] == ["Mrs Bennet"]
        evening.lizzy.edit(line, "@Mrs Bennet Good evening, Mama!")
        await evening.discord.quiet()
        assert len(engine.requests) == 2


async def test_a_name_corrected_after_other_lines_gets_an_answer(evening: Evening) -> None:
    engine = await ready()
    async with evening.online(engine):
        await evening.begin()
        line = evening.lizzy.say(evening.stage, "@Mr Bonnet Papa?")
        evening.kitty.say(evening.stage, "Who is that?")
        await evening.discord.quiet()
        evening.lizzy.edit(line, "@Mr Bennet Papa?")
        await evening.answer()
        evening.kitty.say(evening.stage, "Ah.")
        evening.lizzy.edit(line, "@Mr Bennet Papa??")
        await evening.discord.quiet()
        assert len(engine.requests) == 1


async def test_words_added_to_a_picture_while_its_author_is_not_heard_stay_unheard(
    evening: Evening,
) -> None:
    engine = await ready()
    stage = evening.stage
    async with evening.online(engine):
        await evening.begin()
        await evening.lizzy.slash(stage, "cast join", character="Elizabeth Bennet")
        pictures = [evening.lizzy.say(stage, files={"a.png": b"x"}) for _ in range(3)]
        await evening.discord.quiet()
        await evening.gm.slash(stage, "scene pause")
        evening.lizzy.edit(pictures[0], "MARMALADE in a pause")
        await evening.discord.quiet()
        await evening.gm.slash(stage, "scene unpause")
        await evening.lizzy.slash(stage, "cast exit")
        evening.lizzy.edit(pictures[1], "MARMALADE off stage")
        await evening.discord.quiet()
        await evening.lizzy.slash(stage, "cast enter")
        evening.lizzy.edit(pictures[2], "HONEY on stage")
        await evening.discord.quiet()
        prompt = await read_mind(evening, engine)
        assert "HONEY" in prompt
        assert "MARMALADE" not in prompt


async def test_a_reply_to_a_post_of_an_earlier_scene_is_an_ordinary_line(evening: Evening) -> None:
    async with evening.online(await ready()):
        await evening.begin()
        evening.lizzy.say(evening.stage, "@Mr Bennet Papa?")
        post = await evening.answer()
        await evening.gm.slash(evening.stage, "scene end")
        await evening.gm.slash(evening.stage, "scene start", scenario="the-great-gatsby")
        evening.lizzy.say(evening.stage, "What did he mean?", reply_to=post)
        await evening.discord.quiet()
        assert not any("can't be stored" in each.content for each in evening.stage.messages)
        history = await evening.gm.slash(evening.stage, "scene history")
        assert "What did he mean?" in history.text


async def test_markup_in_an_edited_reply_enters_minds_as_people_see_it(evening: Evening) -> None:
    engine = await ready()
    async with evening.online(engine):
        await evening.begin()
        evening.lizzy.say(evening.stage, "@Mr Bennet Papa?")
        form = await evening.gm.context_menu(await evening.answer(), "Edit")
        text = f"<:smile:123456789012345678> Ask {evening.kitty.mention} on <t:0:d>."
        await evening.gm.submit_modal(form, {"text": text})
        assert ":smile: Ask @Kitty on 01/01/1970." in await read_mind(evening, engine)


async def test_a_reply_that_was_not_shown_starts_again_without_a_deleted_line(
    evening: Evening,
) -> None:
    engine = await ready()
    async with evening.online(engine):
        await evening.begin()
        engine.gate.clear()
        deleted = evening.lizzy.say(evening.stage, "I like MARMALADE.")
        evening.kitty.say(evening.stage, "@Mr Bennet What does she like?")
        await evening.discord.until(lambda: engine.requests)
        evening.lizzy.delete(deleted)
        await evening.discord.until(lambda: len(engine.requests) == 2)
        engine.gate.set()
        await evening.answer()
        assert engine.cancelled == engine.requests[:1]
        assert "MARMALADE" not in engine.requests[1].prompt.text
