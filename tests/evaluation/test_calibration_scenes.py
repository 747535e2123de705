"""The text for an importance matrix is that of play: prompts, thoughts and speech."""

from __future__ import annotations

from bot.evaluation.calibration_scenes import play_calibration_scenes
from bot.library.library import Library
from bot.package_data import find_shipped_folder
from tests.engine.scripted_engine import ScriptedEngine
from tests.scenes.scene_harness import reply


async def test_each_reply_is_kept_with_its_prompt() -> None:
    library = Library([find_shipped_folder("personas")])
    scenario = library.scenario("pride-and-prejudice")
    names = [character.name for character in scenario.characters]
    engine = ScriptedEngine(
        [reply(names[0], thinks="A thought.", says="A letter?"), reply(names[1], says="Papa!")]
    )
    await engine.start()
    heard: list[tuple[int, int]] = []
    text = await play_calibration_scenes(
        engine,
        [scenario],
        replies=2,
        progress=lambda done, total: heard.append((done, total)),
    )
    assert heard == [(1, 2), (2, 2)]
    assert text.count("<|im_start|>system\nYou are ") == 2
    for words in ("===Requirements===", "A thought.", "A letter?", "Papa!", "<system_thinking>"):
        assert words in text
    assert text.count("A letter?") == 2  # in the first reply and in the second prompt


async def test_a_reply_without_speech_counts_too() -> None:
    library = Library([find_shipped_folder("personas")])
    scenario = library.scenario("pride-and-prejudice")
    engine = ScriptedEngine(
        ["A plan.</system_thinking><role_thinking>Only a thought.</role_thinking>"]
    )
    await engine.start()
    text = await play_calibration_scenes(engine, [scenario], replies=1)
    assert text.count("Only a thought.") == 2  # the second attempt as well
