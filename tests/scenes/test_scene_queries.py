"""Reading prompts and thoughts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.errors import Refused
from bot.her.beats import BeatKind, PrivateBeat
from bot.scenes.reveal import Destination
from tests.scenes.scene_harness import ALICE, GM, open_harness, reply

if TYPE_CHECKING:
    from pathlib import Path


BENNET = reply("Mr Bennet", says="You refuse him, then?")
MADAM = reply("Mrs Bennet", says="My nerves!")


async def test_no_mind_reads_the_thoughts_or_planning_of_another(tmp_path: Path) -> None:
    secretive = reply("Mr Bennet", plan="PLAN-1", thinks="SECRET-1", says="Well.")
    async with open_harness(tmp_path, secretive, MADAM, BENNET) as harness:
        scene = await harness.start()
        await harness.say(scene, "Papa?", "Mr Bennet")
        await harness.wait_until_idle(scene)
        await harness.say(scene, "Mama?", "Mrs Bennet", "Mr Bennet")
        await harness.wait_until_idle(scene)
        madam, bennet = (request.prompt.text for request in harness.engine.requests[1:])
        assert "SECRET-1" not in madam
        assert "He will not lose Lizzy." not in madam
        assert "SECRET-1" in bennet
        assert "PLAN-1" not in madam + bennet


async def test_thoughts_are_the_gms_unless_the_scene_reveals_them(
    tmp_path: Path,
) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        scene = await harness.start()
        line = await harness.say(scene, "Papa?", "Mr Bennet")
        await harness.wait_until_idle(scene)
        turn = (await harness.theatre.queries.read_history(scene))[1]
        await harness.post(turn, 77)
        assert {
            freed.beat
            for freed in (await harness.theatre.queries.read_thoughts(77, 10, GM)).released
        } == {
            beat for beat in (turn.take.beats if turn.take else ()) if isinstance(beat, PrivateBeat)
        }
        with pytest.raises(Refused):
            await harness.theatre.queries.read_thoughts(77, 10, ALICE)
        await harness.theatre.controls.reveal(scene, BeatKind.THOUGHT, Destination.SPOILER, GM)
        with pytest.raises(Refused):  # the decision applies to later replies
            await harness.theatre.queries.read_thoughts(77, 10, ALICE)
        await harness.takes.retake(turn.id, GM)
        await harness.wait_until_idle(scene)
        assert [
            freed.beat.kind
            for freed in (await harness.theatre.queries.read_thoughts(77, 10, ALICE)).released
        ] == [BeatKind.THOUGHT]
        with pytest.raises(Refused, match="not a finished reply"):
            await harness.theatre.queries.read_thoughts(line, 10, GM)
