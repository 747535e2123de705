"""A newcomer plays in a real browser: starts a scene, speaks, and reads replies and thoughts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.engine.scripted_engine import Scripted, ScriptedEngine
from tests.scenes.scene_harness import reply
from tests.tryout.browser_visit import WINDOW, Newcomer
from tests.tryout.chromium import PROGRAM, browser
from tests.tryout.test_page_session import serve_site

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(
    PROGRAM is None, reason="no Chromium is installed (Debian: apt install chromium)"
)

FIRST = reply(
    "Mr Bennet",
    plan="He hides behind wit.",
    thinks="My dear Lizzy.",
    does="smiles",
    says="I hear you refused.",
)
SECOND = reply(
    "Mr Bennet", plan="He is pleased.", thinks="Thank heaven.", does="nods", says="I am glad of it."
)


async def test_a_newcomer_plays_a_scene_in_the_browser(tmp_path: Path) -> None:
    engine = ScriptedEngine([Scripted(FIRST, pause=0.02), SECOND])
    async with serve_site(tmp_path, engine) as site, browser(tmp_path / "browser") as page:
        newcomer = Newcomer(page)
        await newcomer.arrive(site.address)
        await page.reads("stand-in" if engine.info.stand_in else "scripted")

        await newcomer.commands("scene start", choice="Mr Bennet")
        await newcomer.reads("Rain runs down the library window")
        assert "-#" not in await page.evaluate(
            f"document.querySelector('{WINDOW}').contentDocument.body.innerText"
        )

        await newcomer.become("ada")
        await newcomer.commands("cast join", choice="Elizabeth Bennet")
        await newcomer.reads("Ada plays Elizabeth Bennet")
        engine.gate.clear()
        await newcomer.says("@Mr Bennet You sent for me, Papa?")
        await page.reads("Mr Bennet is thinking")
        engine.gate.set()
        await newcomer.reads("I hear you refused.")
        await page.until("!document.querySelector('#status').innerText")

        await newcomer.become("grace")
        await newcomer.go_to("Aside")
        await newcomer.reads("My dear Lizzy.")

        await newcomer.go_to("mr-bennets-study")
        await newcomer.commands("reveal thoughts")
        await newcomer.become("ada")
        await newcomer.says("@Mr Bennet I did, Papa.")
        await newcomer.reads("I am glad of it.")
        await newcomer.uncovers("Thank heaven.")

        steps = (
            "[...document.querySelectorAll('#steps li.done')].map((one) => one.dataset.step).join()"
        )
        await page.until(f"{steps} === 'start,join,speak,answer,talk,reveal,spoiler'")
