"""`aside eval` as a program: tables, JSON, journals and mistakes."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import TYPE_CHECKING

import pytest

from tests.cli.conftest import complaint, put
from tests.engine.completions_server import CompletionsServer
from tests.evaluation.acting import write_scenes
from tests.scenes.scene_harness import reply

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Aside

ANSWER = reply("Mr Bennet", thinks="SECRET", says="A letter?")


async def run(*arguments: str) -> tuple[int | None, str, str]:
    """Run `aside eval` in a process of its own; return its status, output and error output."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "bot",
        "eval",
        *arguments,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    return process.returncode, out.decode(), err.decode()


def use(server: CompletionsServer) -> None:
    engine = f"{{kind: remote, base_url: '{server.url}', model: HER-32B}}"
    put("aside.yaml", f"library: {{folders: [books]}}\nengine: {engine}\n")


async def test_form_prints_a_table_and_a_second_run_reads_the_journal(elsewhere: Path) -> None:
    journal = str(elsewhere / "journal.jsonl")
    async with CompletionsServer([ANSWER]) as server:
        use(server)
        status, out, err = await run("form", "morning-call", "--rounds", "3", "--journal", journal)
        assert status == 0, err
        asked = len(server.requests)
        again = await run("form", "morning-call", "--rounds", "3", "--journal", journal, "--json")
        assert again[0] == 0, again[2]
        assert len(server.requests) == asked
    assert "HER-32B" in out
    assert "with speech" in out
    assert "1 of 1 scenes" in err
    (result,) = json.loads(again[1])
    # Mr Bennet speaks once. The two others are asked twice each, and speak for him every time.
    assert (result["report"]["replies"], result["empty_replies"]) == (5, 2)
    assert result["report"]["no_other_lines"] == pytest.approx(1 / 5)
    assert "SECRET" not in out


async def test_coser_acts_the_scenes_and_counts_a_judge_that_fails(elsewhere: Path) -> None:
    scenes = write_scenes(elsewhere / "set.json")
    async with CompletionsServer([ANSWER]) as server:
        use(server)
        status, out, err = await run("coser", str(scenes), "--rounds", "2", "--json")
    assert status == 0, err
    report = json.loads(out)
    assert report["judge_failures"] == {"The answer is not JSON.": 4}
    assert len(report["scenes"][0]["conversation"]["lines"]) == 2
    assert "judges itself" in err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("form", "morning-cal"), "morning-call"),
        (("coser", "nowhere.json"), "nowhere.json"),
        (("coser", "aside.yaml"), "aside.yaml"),
    ],
)
def test_a_mistake_gets_one_sentence(
    aside: Aside, arguments: tuple[str, ...], sentence: str
) -> None:
    assert sentence in complaint(aside("eval", *arguments))


def test_half_of_a_judge_is_refused(aside: Aside, elsewhere: Path) -> None:
    scenes = write_scenes(elsewhere / "set.json")
    result = aside("eval", "coser", str(scenes), "--judge-url", "http://127.0.0.1:9/v1")
    assert result.exit_code == 2
    assert "--judge-model" in result.stderr
