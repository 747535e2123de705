"""A scene that a program plays."""

from __future__ import annotations

import pytest

from bot.errors import EmptyReply, NameNotFound, UserInputError
from bot.her.beats import BeatKind, PublicBeat, speech
from bot.scenes.rehearsal import Rehearsal
from bot.scenes.turn import TurnKind
from tests.engine.scripted_engine import Script, ScriptedEngine
from tests.scenes.scene_harness import STUDY, reply

BENNET = reply("Mr Bennet", plan="PLAN", thinks="SECRET", says="You refuse him, then?")


async def an_engine(*script: Script) -> ScriptedEngine:
    engine = ScriptedEngine(list(script))
    await engine.start()
    return engine


async def test_a_character_replies_with_all_its_beats() -> None:
    engine = await an_engine(BENNET)
    scene = Rehearsal(STUDY, engine)
    scene.say("elizabeth", "*curtsies* You sent for me?")
    beats = await scene.reply("Papa")
    assert [beat.kind for beat in beats] == [
        BeatKind.PLANNING,
        BeatKind.THOUGHT,
        BeatKind.ACTION,
        BeatKind.SPEECH,
    ]
    assert "Elizabeth Bennet: <role_action>curtsies</role_action>" in engine.requests[0].prompt.text
    assert [(turn.speaker, turn.kind) for turn in scene.story] == [
        ("Elizabeth Bennet", TurnKind.LINE),
        ("Mr Bennet", TurnKind.REPLY),
    ]


async def test_characters_play_with_each_other_and_keep_their_secrets() -> None:
    engine = await an_engine(BENNET, reply("Mrs Bennet", says="My nerves!"))
    scene = Rehearsal(STUDY, engine)
    scene.say("A narrator of sorts", "The door opens.")
    await scene.reply("Mr Bennet")
    await scene.reply("Mrs Bennet")
    prompt = engine.requests[1].prompt.text
    assert "You refuse him, then?" in prompt
    assert "SECRET" not in prompt
    assert "PLAN" not in prompt


async def test_the_same_seed_makes_the_same_requests() -> None:
    engine = await an_engine(BENNET)
    for seed in (7, 7, 8):
        await Rehearsal(STUDY, engine, seed=seed).reply("Mr Bennet")
    first, again, other = (request.seed for request in engine.requests)
    assert first == again != other
    assert all(request.reproducible for request in engine.requests)
    await Rehearsal(STUDY, engine).reply("Mr Bennet")
    assert not engine.requests[-1].reproducible


async def test_public_beats_are_reported_as_they_come() -> None:
    heard: list[tuple[PublicBeat, ...]] = []

    async def progress(beats: tuple[PublicBeat, ...]) -> None:
        heard.append(beats)

    await Rehearsal(STUDY, await an_engine(BENNET)).reply("Mr Bennet", progress=progress)
    assert speech("You refuse him, then?") not in heard[0]


async def test_unknown_characters_and_empty_lines_are_refused() -> None:
    scene = Rehearsal(STUDY, await an_engine("only planning"))
    with pytest.raises(NameNotFound, match="Mr Bennet"):
        await scene.reply("Mr Benet")
    with pytest.raises(UserInputError, match="is empty"):
        scene.say("Alice", "  ")
    with pytest.raises(EmptyReply):
        await scene.reply("Mr Bennet")
    assert scene.story == ()
