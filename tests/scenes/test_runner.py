"""The runner of a scene: retries, failures, restarts and a history that is too long."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.errors import EngineBusy, MissingPermission, Refused
from bot.scenes.reply_generation import ReplyLimits
from bot.scenes.turn import TurnState
from tests.scenes.scene_harness import ALICE, BOB, GM, open_harness, reply

if TYPE_CHECKING:
    from pathlib import Path


BENNET = reply("Mr Bennet", says="You refuse him, then?")


async def test_only_the_addressed_person_and_the_gm_try_a_failed_reply_again(
    tmp_path: Path,
) -> None:
    async with open_harness(
        tmp_path, EngineBusy("Too many wait."), EngineBusy("Too many wait."), BENNET
    ) as harness:
        scene = await harness.start()
        for person in (ALICE, GM):
            await harness.wait_until_idle(scene)
            if person == ALICE:
                await harness.say(scene, "Papa?", "Mr Bennet")
                await harness.wait_until_idle(scene)
            (turn,) = [
                turn
                for turn in await harness.store.turns(scene.id)
                if turn.state is TurnState.FAILED
            ]
            with pytest.raises(Refused):
                await harness.takes.retry(turn.id, BOB)
            await harness.takes.retry(turn.id, person)
        await harness.wait_until_idle(scene)
        assert (
            harness.delivery.faults
            == ["The model has too many replies to write. Try again later."] * 2
        )
        assert len(harness.delivery.shown) == 1
        with pytest.raises(Refused):
            await harness.takes.retry(turn.id, GM)


async def test_a_rejected_reply_is_kept_and_posted_by_the_next_attempt(
    tmp_path: Path,
) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        scene = await harness.start()
        harness.delivery.refusal = MissingPermission("Aside lacks Send Messages in #study.")
        await harness.say(scene, "Papa?", "Mr Bennet")
        await harness.wait_until_idle(scene)
        assert harness.delivery.faults == ["Aside lacks Send Messages in #study."]
        harness.delivery.refusal = None
        (turn,) = [
            turn for turn in await harness.store.turns(scene.id) if turn.state is TurnState.FAILED
        ]
        await harness.takes.retry(turn.id, ALICE)
        await harness.wait_until_idle(scene)
        assert len(harness.delivery.shown) == 1
        assert len(harness.engine.requests) == 1


async def test_owed_replies_survive_a_restart(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        harness.engine.gate.clear()
        scene = await harness.start()
        await harness.say(scene, "Papa?", "Mr Bennet")
    async with open_harness(tmp_path, BENNET) as harness:
        assert harness.theatre.require_scene(10).id == scene.id
        harness.theatre.play_owed()
        await harness.wait_until_idle(scene)
        assert len(harness.delivery.shown) == 1


async def test_the_channel_gets_one_notice_if_the_history_outgrows_the_context(
    tmp_path: Path,
) -> None:
    async with open_harness(
        tmp_path, BENNET, limits=ReplyLimits(max_tokens=256), context=1400
    ) as harness:
        scene = await harness.start()
        for number in range(40):
            await harness.say(
                scene,
                f"Line {number} of a long and winding evening in the library at Longbourn. " * 3,
            )
        for _ in range(2):
            await harness.say(scene, "Papa?", "Mr Bennet")
            await harness.wait_until_idle(scene)
        assert len(harness.delivery.notices) == 1
        prompt = harness.engine.requests[0].prompt.text
        assert "You are Mr Bennet" in prompt
        assert "Line 0 of" not in prompt
        assert "Papa?" in prompt


async def test_only_final_public_beats_stream(
    tmp_path: Path,
) -> None:
    async with open_harness(
        tmp_path, reply("Mr Bennet", plan="PLAN", thinks="SECRET", says="Well, well.")
    ) as harness:
        scene = await harness.start()
        await harness.say(scene, "Papa?", "Mr Bennet")
        await harness.wait_until_idle(scene)
        texts = [beat.text for beats in harness.delivery.progressed for beat in beats]
        assert any("smiles" in text for text in texts)
        assert not any("SECRET" in text or "PLAN" in text for text in texts)
