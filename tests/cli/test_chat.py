"""`aside chat` without a terminal."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import TYPE_CHECKING

import pytest

from tests.cli.conftest import complaint
from tests.engine.completions_server import CompletionsServer
from tests.scenes.scene_harness import reply

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Aside

CALL = ("--scenario", "morning-call", "--character", "Mr Bennet")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "--scenario"),
        (("--scenario", "morning-call"), "--character"),
        (("--scenario", "morning-cal"), "morning-call"),
        (("--scenario", "99"), "99"),
        (("--scenario", "morning-call", "--character", "Wickham"), "Mr Darcy"),
        ((*CALL, "--as", "papa"), "Mr Bennet answers you"),
        ((*CALL, "--as", "Mr Darcy"), "can't be played by people"),
        ((*CALL, "--as", "Elizabet Benett"), "Did you mean Elizabeth Bennet?"),
        (("--continue", "3", "--scenario", "morning-call"), "--continue"),
        (("--continue", "3"), "Scene 3 does not exist here. No scene is stored."),
    ],
)
def test_invalid_options_are_explained_in_one_sentence(
    aside: Aside, arguments: tuple[str, ...], message: str
) -> None:
    assert message in complaint(aside("chat", *arguments))


async def test_numbers_of_scenario_and_character_count_from_0(elsewhere: Path) -> None:
    async with CompletionsServer([reply("Elizabeth Bennet", says="Papa?")]) as server:
        engine = f"engine: {{kind: remote, base_url: '{server.url}', model: HER-32B}}\n"
        (elsewhere / "aside.yaml").write_text("library: {folders: [books]}\n" + engine)
        listed = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "bot",
            "scenarios",
            "list",
            "--json",
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            stdout=asyncio.subprocess.PIPE,
        )
        out, _ = await listed.communicate()
        ids = [one["id"] for one in json.loads(out)]
        chat = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "bot",
            "chat",
            "--scenario",
            str(ids.index("morning-call")),
            "--character",
            "1",
            "--as",
            "Anne",
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        out, _ = await chat.communicate(b"A letter has come.")
    assert out.decode().endswith("Elizabeth Bennet: *smiles* Papa?\n")


def test_an_invalid_database_is_reported(aside: Aside, elsewhere: Path) -> None:
    (elsewhere / "poem.db").write_text(
        "Shall I compare thee to a summer's day? Thou art more lovely. " * 20
    )
    assert "not a database of Aside" in complaint(aside("chat", *CALL, "--store", "poem.db"), 2)
    (elsewhere / "folder.db").mkdir()
    assert "is a folder" in complaint(aside("chat", *CALL, "--store", "folder.db"), 2)


async def test_a_chat_from_a_pipe_is_plain_text_and_ends_at_the_end_of_input(
    elsewhere: Path,
) -> None:
    async with CompletionsServer([reply("Mr Bennet", thinks="SECRET", says="A letter?")]) as server:
        engine = f"engine: {{kind: remote, base_url: '{server.url}', model: HER-32B}}\n"
        settings = "library: {folders: [books]}\n" + engine
        (elsewhere / "aside.yaml").write_text(settings)
        chat = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "bot",
            "chat",
            *CALL,
            "--as",
            "Anne",
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await chat.communicate(b"A letter has come.\nsave me!\nHalf \xff a line")
    assert (chat.returncode, err) == (0, b"")
    shown = out.decode()
    assert shown.endswith("Mr Bennet: *smiles* A letter?\n" * 3)
    assert "\x1b" not in shown
    assert "\r" not in shown
    assert "Anne: A letter has come." in server.requests[0]["prompt"]
