"""`aside chat` on a pseudo-terminal, with a completions server."""

from __future__ import annotations

import asyncio
import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from bot.scenes import cast
from tests.engine.completions_server import Answer, CompletionsServer
from tests.scenes.scene_harness import ALICE, GM, open_harness, reply
from tests.terminal.pseudo_terminal import CTRL_C, CTRL_D, UP, Typist, at_a_terminal
from tests.wait_until import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.engine.completions_server import Answers

BENNET = reply("Mr Bennet", plan="PLAN", thinks="SECRET", says="Well, well.")
OTHER = reply("Mr Bennet", plan="PLAN", thinks="SECRET", says="Not at all.")
MADAM = reply("Mrs Bennet", says="My nerves!")
STUDY = ("--scenario", "pride-and-prejudice", "--character", "0", "--as", "elizabeth")
PROMPT = "Elizabeth Bennet> "


@asynccontextmanager
async def chatting(
    folder: Path, *arguments: str, answers: list[Answers] | None = None, **environ: str
) -> AsyncIterator[tuple[Typist, CompletionsServer]]:
    async with CompletionsServer(answers or [BENNET], context=8192) as server:
        settings = f"engine: {{kind: remote, base_url: '{server.url}', model: HER-32B}}\n"
        (folder / "aside.yaml").write_text(settings)
        async with at_a_terminal(folder, "chat", *arguments, **environ) as typist:
            yield typist, server


async def test_without_arguments_the_person_chooses_from_lists_and_plays(tmp_path: Path) -> None:
    async with chatting(tmp_path, answers=[BENNET, MADAM], TERM="xterm-256color", NO_COLOR="1") as (
        typist,
        server,
    ):
        assert "Mr Bennet's study" in await typist.reads("> ")
        typist.types("study")
        await typist.reads("> ")
        typist.types("pride and prejudice")
        assert "0  Mr Bennet" in await typist.reads("\n> ")
        typist.types("Papa")
        assert "yourself" in await typist.reads("\n> ")
        typist.types("Lizzy")
        assert "Rain runs down the library window" in await typist.reads(PROMPT)
        typist.types("You sent for me?")
        shown = await typist.reads(PROMPT)
        assert "Mr Bennet: *smiles* Well, well.\n" in shown
        assert "SECRET" not in shown
        typist.types("@Mrs Bennet Mama!")
        assert "Mrs Bennet: *smiles* My nerves!\n" in await typist.reads(PROMPT)
        typist.types("quit")
        assert await typist.ends() == 0
        assert "Elizabeth Bennet: You sent for me?" in server.requests[0]["prompt"]
        assert not re.search(r"\x1b\[[0-9;]*m", typist.shown), "colours in spite of NO_COLOR"
    assert not (tmp_path / "aside.db").exists()


async def test_words_appear_while_the_model_writes_them(tmp_path: Path) -> None:
    slow = Answer(
        reply("Mr Bennet", says="One word, <role_action>waits</role_action> and another."),
        pause=0.05,
    )
    async with chatting(tmp_path, *STUDY, answers=[slow]) as (typist, _):
        await typist.reads(PROMPT)
        typist.types("Papa?")
        await typist.reads("Mr Bennet is thinking …")
        await typist.reads("Mr Bennet: *smiles*")
        assert "another." not in typist.shown
        await typist.reads("*waits* and another.")


async def test_lines_can_be_edited_and_recalled(tmp_path: Path) -> None:
    async with chatting(tmp_path, *STUDY, answers=[BENNET, BENNET, MADAM]) as (typist, server):
        await typist.reads(PROMPT)
        typist.types("Papo\x7fa?")
        await typist.reads("Well, well.")
        await typist.reads(PROMPT)
        typist.types(UP, end="\n")
        await typist.reads("Well, well.")
        await typist.reads(PROMPT)
        typist.types("@Mrs\t", end="")
        await typist.reads("@Mrs Bennet")
        typist.types("Mama?")
        await typist.reads("My nerves!")
        assert server.requests[1]["prompt"].count("Elizabeth Bennet: Papa?") == 2
        assert "@Mrs Bennet Mama?" in server.requests[2]["prompt"]


@pytest.mark.parametrize("moment", ["choosing", "typing", "a reply"])
async def test_ctrl_c_ends_the_chat_at_any_time(tmp_path: Path, moment: str) -> None:
    slow = Answer(BENNET * 20, pause=0.2)
    async with chatting(tmp_path, *(() if moment == "choosing" else STUDY), answers=[slow]) as (
        typist,
        server,
    ):
        await typist.reads("> ")
        if moment == "typing":
            typist.types("Half a li", end="")
            await typist.reads("Half a li")
        elif moment == "a reply":
            typist.types("Papa?")
            await until(lambda: bool(server.requests))
        await typist.pauses()
        typist.types(CTRL_C, end="")
        assert await typist.ends() == 130
        assert "Traceback" not in typist.shown
        assert typist.left_behind() == []
        if moment == "a reply":
            await until(lambda: server.interrupted == 1)


async def test_the_end_of_the_input_ends_the_chat(tmp_path: Path) -> None:
    async with chatting(tmp_path, *STUDY) as (typist, _):
        await typist.reads(PROMPT)
        typist.types(CTRL_D, end="")
        assert await typist.ends() == 0


async def test_a_closed_terminal_ends_the_chat(tmp_path: Path) -> None:
    async with chatting(tmp_path, *STUDY) as (typist, _):
        await typist.reads(PROMPT)
        await typist.pauses()
        typist.process.terminate()
        assert await typist.ends() == 143
        assert "Traceback" not in typist.shown


async def test_a_line_of_5000_characters_is_heard_in_full(tmp_path: Path) -> None:
    async with chatting(tmp_path, *STUDY, TERM="xterm-256color") as (typist, server):
        await typist.reads(PROMPT)
        words = " ".join(f"word{number}" for number in range(650))
        assert len(words) > 5000
        typist.types(words)
        await typist.reads("Well, well.")
        assert words in server.requests[0]["prompt"]
        assert "\x1b[1;36mMr Bennet: " in typist.shown, "no colours on a colour terminal"


async def test_a_saved_chat_continues(tmp_path: Path) -> None:
    async with chatting(tmp_path, *STUDY, "--store", "kept.db", "--show-rolethink") as (typist, _):
        await typist.reads(PROMPT)
        typist.types("MARMALADE?")
        assert "💭 SECRET" in await typist.reads(PROMPT)
        async with at_a_terminal(tmp_path, "chat", *STUDY, "--store", "kept.db") as another:
            await another.reads("Another Aside is running on kept.db")
            assert await another.ends() == 1
        typist.types("quit")
        await typist.reads("--store kept.db --continue 1")
        assert await typist.ends() == 0
    going_on = ("--store", "kept.db", "--continue", "1", "--character", "Mr Bennet")
    async with chatting(tmp_path, *going_on, answers=[OTHER]) as (typist, server):
        shown = await typist.reads(PROMPT)
        assert "Elizabeth Bennet: MARMALADE?" in shown
        assert "SECRET" not in shown
        typist.types("retry")
        assert "Not at all." in await typist.reads(PROMPT)
        typist.types("save story.md")
        await typist.reads("Saved to")
        assert "MARMALADE" in server.requests[0]["prompt"]
    assert "Not at all." in (tmp_path / "story.md").read_text()


async def test_the_persons_character_enters_and_other_players_parts_are_not_offered(
    tmp_path: Path,
) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        scene = await harness.theatre.controls.join(await harness.start(), GM, "Elizabeth Bennet")
        await harness.theatre.controls.join(scene, ALICE, "Mrs Bennet")
        await harness.theatre.change(scene, lambda now: cast.move(now, GM, None, absent=True)[0])
    going_on = ("--store", "aside.db", "--continue", "1", "--character", "Mr Bennet")
    async with chatting(tmp_path, *going_on) as (typist, _):
        await typist.reads("Elizabeth Bennet enters the scene.")
        await typist.reads(PROMPT)
        typist.types("Papa?")
        await typist.reads("Well, well.")
    async with open_harness(tmp_path, BENNET) as harness:
        await harness.theatre.controls.leave(harness.theatre.require_scene(10), GM)
    async with chatting(tmp_path, *going_on) as (typist, _):
        shown = await typist.reads("yourself")
        assert "Elizabeth Bennet" in shown
        assert "  Mrs Bennet" not in shown


@pytest.mark.model
@pytest.mark.timeout(300)
async def test_the_real_model_plays_and_leaves_no_process_behind(tmp_path: Path) -> None:
    async with at_a_terminal(tmp_path, "chat", *STUDY, "--seed", "7") as typist:
        assert "stand-in" in await typist.reads(PROMPT, within=120)
        typist.types("*closes the door* You sent for me, Papa?")
        shown = await typist.reads(PROMPT, within=120)
        assert "Mr Bennet: *" in shown
        assert len(typist.left_behind()) > 1, "the worker is not running"
        typist.types("And Mr Collins?")
        await typist.reads("Mr Bennet: ", within=120)
        typist.types(CTRL_C, end="")
        assert await typist.ends() == 130
        await until(lambda: typist.left_behind() == [])
        assert "Traceback" not in typist.shown


@pytest.mark.model
async def test_ctrl_c_during_model_loading_leaves_no_process_behind(tmp_path: Path) -> None:
    async with at_a_terminal(tmp_path, "chat", *STUDY) as typist:
        await typist.reads("Loading the model", within=60)
        await asyncio.sleep(0.3)
        typist.types(CTRL_C, end="")
        assert await typist.ends() == 130
        await until(lambda: typist.left_behind() == [])
        assert "Traceback" not in typist.shown
