"""Lines typed in a chat and their effect on the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.errors import EngineBusy
from bot.scenes import cast
from tests.engine.scripted_engine import Scripted
from tests.scenes.scene_harness import ALICE, GM, open_harness, reply
from tests.terminal.chat_harness import an_evening

if TYPE_CHECKING:
    from pathlib import Path

BENNET = reply("Mr Bennet", plan="PLAN", thinks="SECRET", says="You refuse him?")
OTHER = reply("Mr Bennet", plan="PLOT", thinks="HIDDEN", says="You take him?")
MADAM = reply("Mrs Bennet", says="My nerves!")
SPOKEN = "Mr Bennet: *smiles* You refuse him?\n"


async def test_the_chosen_character_answers_a_line_without_an_addressee(tmp_path: Path) -> None:
    async with an_evening(tmp_path, BENNET) as evening:
        assert await evening.types("*curtsies* You sent for me?") == SPOKEN
        assert (
            "Elizabeth Bennet: <role_action>curtsies</role_action>"
            in evening.engine.requests[0].prompt.text
        )


async def test_addressed_characters_answer_in_order(tmp_path: Path) -> None:
    async with an_evening(tmp_path, MADAM, BENNET) as evening:
        shown = await evening.types("@Mrs Bennet and @Papa, hear me!")
        assert shown == f"Mrs Bennet: *smiles* My nerves!\n{SPOKEN}"


async def test_a_line_to_oneself_gets_a_notice_instead_of_a_reply(tmp_path: Path) -> None:
    async with an_evening(tmp_path, BENNET) as evening:
        assert "No reply" in await evening.types("@Elizabeth, be brave.")
        assert "Out of character" in await evening.types("((brb))")
        assert await evening.types("   ") == ""
        assert evening.engine.requests == []


async def test_a_notice_about_an_absent_reply_names_no_discord_command(
    tmp_path: Path,
) -> None:
    async with an_evening(tmp_path, BENNET) as evening:
        scene, theatre = evening.chat.scene, evening.services.theatre
        await theatre.change(scene, lambda now: cast.rest(now, "Mrs Bennet", rests=True))
        assert await evening.types("@Mrs Bennet Mama?") == "Mrs Bennet rests and does not answer.\n"
        assert "No reply" in await evening.types("@Mrs Bennet Mama!")
        await theatre.change(scene, lambda now: cast.rest(now, "Mrs Bennet", rests=False))
        await evening.types("@Papa?")
        await theatre.change(scene, lambda now: cast.rest(now, "Mr Bennet", rests=True))
        assert (
            await evening.types("retry") == "The model does not speak for Mr Bennet at the moment. "
            "`cast` shows who plays whom.\n"
        )


async def test_thoughts_are_shown_beneath_a_reply_on_request(tmp_path: Path) -> None:
    async with an_evening(tmp_path, BENNET) as evening:
        assert await evening.types("thoughts") == "There is no reply yet.\n"
        await evening.types("Papa?")
        assert await evening.types("thoughts") == "  📝 PLAN\n  💭 SECRET\n"
        await evening.types("thoughts on")
        assert await evening.types("Papa!") == f"{SPOKEN}  💭 SECRET\n"
        await evening.types("thoughts all")
        assert await evening.types("Papa!") == f"{SPOKEN}  📝 PLAN\n  💭 SECRET\n"
        await evening.types("thoughts off")
        assert await evening.types("Papa!") == SPOKEN
        assert "`thoughts off`" in await evening.types("/thoughts please")


async def test_retry_writes_another_version_of_the_last_reply(tmp_path: Path) -> None:
    async with an_evening(tmp_path, BENNET, OTHER, MADAM, BENNET) as evening:
        await evening.types("Papa?")
        assert await evening.types("retry") == "Mr Bennet: *smiles* You take him?\n"
        await evening.types("@Mrs Bennet Mama?")
        assert await evening.types("retry papa") == SPOKEN
        assert await evening.types("retry @Mr Bennet") == SPOKEN
        assert "You are Mrs Bennet" in await evening.types("prompt @Mrs Bennet")
        assert "No character of this scene is called “Wickham”" in await evening.types(
            "/retry Wickham"
        )
        assert await evening.types("/retry Elizabeth") == "Elizabeth Bennet has not replied yet.\n"
        assert (await evening.types("history")).splitlines() == [
            "Elizabeth Bennet: Papa?",
            "Mr Bennet: *smiles* You refuse him?",
            "Elizabeth Bennet: @Mrs Bennet Mama?",
            "Mrs Bennet: *smiles* My nerves!",
        ]


async def test_a_failed_reply_names_retry_and_retry_works(tmp_path: Path) -> None:
    async with an_evening(tmp_path, EngineBusy("Too many wait."), BENNET) as evening:
        assert await evening.types("Papa?") == "⚠ Too many wait. Use `retry` to try again.\n"
        assert await evening.types("/retry") == SPOKEN


async def test_clear_removes_everything_from_the_story(tmp_path: Path) -> None:
    async with an_evening(tmp_path, BENNET) as evening:
        assert await evening.types("clear") == "The story is still empty.\n"
        await evening.types("MARMALADE?")
        assert "2 turns were removed" in await evening.types("clear")
        assert "still empty" in await evening.types("history")
        assert "MARMALADE" not in await evening.types("prompt")


async def test_prompt_shows_the_exact_prompt_of_a_character(tmp_path: Path) -> None:
    async with an_evening(tmp_path, BENNET) as evening:
        assert "You are Mr Bennet" in await evening.types("prompt")
        assert "You are Mrs Bennet" in await evening.types("prompt mrs. bennet")
        assert "No character of this scene" in await evening.types("/prompt Wickham")


async def test_cast_and_help_list_parts_and_commands(tmp_path: Path) -> None:
    async with an_evening(tmp_path, BENNET) as evening:
        assert (await evening.types("cast")).splitlines() == [
            "Mr Bennet: the model, answers lines without an addressee",
            "Mrs Bennet: the model",
            "Elizabeth Bennet: you",
        ]
        page = await evening.types("/help")
        assert all(word in page for word in ("history", "save FILE", "quit"))
        assert "Unknown command “hepl”. Try: help" in await evening.types("/hepl")


async def test_save_includes_thoughts_only_if_they_are_shown(
    tmp_path: Path,
) -> None:
    async with an_evening(tmp_path, BENNET) as evening:
        await evening.types("Papa?")
        target = tmp_path / "new" / "story.md"
        assert str(target) in await evening.types(f"save {target}")
        assert "**Mr Bennet**: *smiles* You refuse him?" in target.read_text()
        assert "SECRET" not in target.read_text()
        await evening.types("thoughts on")
        await evening.types(f"save {target}")
        assert "SECRET" in target.read_text()
        assert "PLAN" not in target.read_text()
        assert "Name a file" in await evening.types("save")


async def test_save_never_overwrites_another_file(tmp_path: Path) -> None:
    letter = tmp_path / "letter.txt"
    letter.write_text("Dear sir")
    async with an_evening(tmp_path, BENNET) as evening:
        assert "already exists" in await evening.types(f"save {letter}")
        assert "not writable" in await evening.types(f"save {letter}/story.md")
    assert letter.read_text() == "Dear sir"


async def test_quit_exit_and_q_end_the_chat(tmp_path: Path) -> None:
    async with an_evening(tmp_path, BENNET) as evening:
        for word in ("quit", "exit", "q", "/quit", "Q"):
            await evening.types(word)
            assert not evening.stays
        await evening.types("quit the house, sir!")
        assert evening.stays


async def test_a_reply_interrupted_by_a_dead_engine_visibly_starts_over(tmp_path: Path) -> None:
    from bot.errors import EngineDied

    async with an_evening(tmp_path, BENNET) as evening:
        half = Scripted(
            "P</system_thinking>Mr Bennet: <role_action>nods</role_action>So"
            "<role_action>turns</role_action>"
        )
        evening.engine.script.insert(0, Scripted(half.text, error=EngineDied("gone")))
        shown = await evening.types("Papa?")
        assert shown.endswith(f"(starts over)\n{SPOKEN}")
        assert "nods" in shown


async def test_a_reopened_scene_continues_and_plays_its_pending_reply(
    tmp_path: Path,
) -> None:
    async with an_evening(tmp_path, BENNET) as evening:
        await evening.types("MARMALADE, Papa?")
        number = evening.chat.scene.id
        turn = (await evening.store.turns(number))[-1]
        await evening.store.retake(turn.id)
    async with an_evening(tmp_path, OTHER, scene_id=number) as evening:
        await evening.chat.catch_up()
        assert evening.out.getvalue() == "Mr Bennet: *smiles* You take him?\n"
        assert evening.chat.speaker == "Elizabeth Bennet"
        assert "MARMALADE" in await evening.types("history")


async def test_a_channels_scene_keeps_terminal_lines_but_drops_pending_replies(
    tmp_path: Path,
) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        scene = await harness.start()
        await harness.say(scene, "Papa?", "Mr Bennet")
        await harness.wait_until_idle(scene)
    async with an_evening(tmp_path, BENNET, scene_id=scene.id) as evening:
        await evening.types("MARMALADE, sir?")
        turn = (await evening.store.turns(scene.id))[-1]
        await evening.store.rethink(turn.id)
        await evening.store.retake((await evening.store.turns(scene.id))[1].id)
    async with open_harness(tmp_path, BENNET) as harness:
        assert await harness.store.find_owed_turns(scene.id) == []
        assert await harness.player_lines.last_heard(scene) == 1000
        texts = [text for _, text in await harness.read_story(harness.theatre.require_scene(10))]
        assert texts[:3] == ["Papa?", "smiles You refuse him?", "MARMALADE, sir?"]
        assert [line.text for line in await harness.store.lines_of(GM)] == ["MARMALADE, sir?"]
        assert [line.text for line in await harness.store.lines_of(ALICE)] == ["Papa?"]
