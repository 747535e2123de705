"""The reveal decision is stored with a take when it is posted, and stays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.errors import DiscordNotResponding, Refused
from bot.her.beats import BeatKind, action, planning, speech, thought
from bot.scenes.reveal import (
    Audience,
    Destination,
    Revealed,
    RevealPolicy,
)
from bot.scenes.scene import Place
from bot.scenes.take_destinations import carry_destinations, decide, redirect
from bot.scenes.turn import Take
from tests.scenes.replied_scene import answered
from tests.scenes.scene_harness import ALICE, BOB, GM, open_harness, reply
from tests.wait_until import until

if TYPE_CHECKING:
    from pathlib import Path

    from bot.scenes.turn import Turn
    from tests.scenes.scene_harness import TheatreHarness

BEATS = (planning("PLAN"), thought("SECRET"), action("smiles"), speech("You refuse him?"))
TAKE = Take(1, 1, BEATS, "")
PUBLIC = RevealPolicy(thoughts=Destination.SPOILER)
FIRST = reply("Mr Bennet", says="You refuse him?")
SECOND = reply("Mr Bennet", says="You take him?")
POSTED_GM = (Destination.GM, Destination.GM)


async def current(harness: TheatreHarness, turn: Turn) -> Take:
    after = await harness.store.turn(turn.id)
    assert after
    assert after.take
    return after.take


def private(take: Take) -> tuple[Destination | None, ...]:
    """Return the destinations of the private beats."""
    pairs = zip(take.beats, take.destinations, strict=True)
    return tuple(
        destination
        for beat, destination in pairs
        if beat.kind in (BeatKind.THOUGHT, BeatKind.PLANNING)
    )


def test_a_decision_is_made_once() -> None:
    decided = decide(TAKE, RevealPolicy())
    assert decided.destinations == (Destination.GM, Destination.GM, None, None)
    assert decide(decided, PUBLIC) == decided
    assert PUBLIC.release(BEATS, Audience.CHANNEL, decided.destinations) == ()
    assert PUBLIC.select_for_channel(BEATS, decided.destinations) == BEATS[2:]


def test_the_policy_decides_for_beats_without_a_decision() -> None:
    assert PUBLIC.release(BEATS, Audience.CHANNEL) == (Revealed(BEATS[1], Audience.CHANNEL),)
    assert PUBLIC.select_for_channel(BEATS)[1:] == BEATS[2:]


def test_an_edit_carries_the_decisions_in_order() -> None:
    decided = decide(TAKE, PUBLIC)
    assert carry_destinations(decided, (BEATS[0], BEATS[1], speech("No."))) == (
        Destination.GM,
        Destination.SPOILER,
        None,
    )


def test_a_redirect_changes_one_kind() -> None:
    changed = redirect(decide(TAKE, RevealPolicy()), BeatKind.THOUGHT, Destination.SPOILER)
    assert private(changed) == (Destination.GM, Destination.SPOILER)


async def test_a_reply_keeps_the_decision_it_was_posted_with(tmp_path: Path) -> None:
    async with open_harness(tmp_path, FIRST, SECOND) as harness:
        scene, turn = await answered(harness)
        await harness.post(turn, 5000)
        await harness.theatre.controls.reveal(scene, BeatKind.THOUGHT, Destination.SPOILER, GM)
        with pytest.raises(Refused, match="Only the game master"):
            await harness.theatre.queries.read_thoughts(5000, 10, ALICE)
        await harness.takes.align(scene, turn.id)
        assert private(await current(harness, turn)) == POSTED_GM
        await harness.takes.retake(turn.id, ALICE)
        await harness.wait_until_idle(scene)
        assert private(await current(harness, turn)) == (Destination.GM, Destination.SPOILER)
        await harness.takes.step(turn.id, ALICE, -1)
        assert private(await current(harness, turn)) == POSTED_GM
        with pytest.raises(Refused, match="Only the game master"):
            await harness.theatre.queries.read_thoughts(5000, 10, ALICE)


async def test_thoughts_that_were_public_stay_public(tmp_path: Path) -> None:
    async with open_harness(tmp_path, FIRST) as harness:
        scene = await harness.start()
        await harness.theatre.controls.reveal(scene, BeatKind.THOUGHT, Destination.SPOILER, GM)
        await harness.say(scene, "Papa?", "Mr Bennet")
        await harness.wait_until_idle(scene)
        turn = (await harness.theatre.queries.read_history(scene))[-1]
        await harness.post(turn, 5000)
        await harness.theatre.controls.reveal(scene, BeatKind.THOUGHT, Destination.GM, GM)
        thoughts = await harness.theatre.queries.read_thoughts(5000, 10, BOB)
        assert [one.beat.text for one in thoughts.released] == ["Poor child."]


async def test_a_continuation_decides_only_for_its_new_thoughts(tmp_path: Path) -> None:
    more = " And why?<role_thinking>NEW</role_thinking> Well?"
    async with open_harness(tmp_path, FIRST, more) as harness:
        scene, turn = await answered(harness)
        await harness.theatre.controls.reveal(scene, BeatKind.THOUGHT, Destination.SPOILER, GM)
        await harness.takes.retake(turn.id, ALICE, lengthen=True)
        await harness.wait_until_idle(scene)
        take = await current(harness, turn)
        assert private(take) == (*POSTED_GM, Destination.SPOILER)


async def test_an_edit_keeps_the_decision(tmp_path: Path) -> None:
    async with open_harness(tmp_path, FIRST) as harness:
        scene, turn = await answered(harness)
        take, _ = await harness.takes.read_text(turn.id, GM)
        await harness.theatre.controls.reveal(scene, BeatKind.THOUGHT, Destination.SPOILER, GM)
        assert await harness.takes.rewrite(turn.id, take.id, "Never!", GM)
        assert private(await current(harness, turn)) == POSTED_GM


async def test_a_branch_keeps_the_decisions(tmp_path: Path) -> None:
    async with open_harness(tmp_path, FIRST) as harness:
        scene, turn = await answered(harness)
        await harness.theatre.controls.reveal(scene, BeatKind.THOUGHT, Destination.SPOILER, GM)
        branch = await harness.branching.branch(turn.id, Place(1, 20, 10), GM)
        copy = (await harness.theatre.queries.read_history(branch))[-1]
        assert copy.take
        assert private(copy.take) == POSTED_GM


async def test_a_reply_that_discord_delays_has_the_latest_decision(tmp_path: Path) -> None:
    async with open_harness(tmp_path, FIRST) as harness:
        scene = await harness.start()
        harness.delivery.refusal = DiscordNotResponding("Discord does not answer.")
        scene = await harness.theatre.controls.reveal(
            scene, BeatKind.THOUGHT, Destination.SPOILER, GM
        )
        await harness.say(scene, "Papa?", "Mr Bennet")
        await until(lambda: harness.delivery.refused > 0)
        await harness.theatre.controls.reveal(scene, BeatKind.THOUGHT, Destination.GM, GM)
        harness.delivery.refusal = None
        await harness.wait_until_idle(scene)
        turn = (await harness.theatre.queries.read_history(scene))[-1]
        assert private(await current(harness, turn)) == POSTED_GM


async def test_a_gm_releases_the_thoughts_of_an_earlier_reply(tmp_path: Path) -> None:
    async with open_harness(tmp_path, FIRST) as harness:
        _, turn = await answered(harness)
        await harness.post(turn, 5000)
        with pytest.raises(Refused, match="Only the game master"):
            await harness.takes.redirect(turn.id, BeatKind.THOUGHT, Destination.SPOILER, ALICE)
        shown = len(harness.delivery.shown)
        await harness.takes.redirect(turn.id, BeatKind.THOUGHT, Destination.SPOILER, GM)
        assert len(harness.delivery.shown) == shown + 1
        thoughts = await harness.theatre.queries.read_thoughts(5000, 10, BOB)
        assert [one.beat.text for one in thoughts.released] == ["Poor child."]
