"""Evenings after which people keep the story as a file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.engine.scripted_engine import ScriptedEngine
from tests.scenes.scene_harness import reply

if TYPE_CHECKING:
    from typing import Any

    from tests.loopback import Outcome, Person
    from tests.play.harness import Evening

THOUGHT = "SECRET thought"


async def ready() -> ScriptedEngine:
    engine = ScriptedEngine(
        [
            reply("Mr Bennet", thinks=THOUGHT, says="You refuse him?"),
            reply("Mr Bennet", thinks="SECRET whisper", says="He is a fool."),
        ]
    )
    await engine.start()
    return engine


async def test_everyone_gets_the_part_of_the_story_that_is_for_them(evening: Evening) -> None:
    async with evening.online(await ready()):
        await evening.begin()
        evening.lizzy.say(evening.stage, "@Mr Bennet *curtsies* Papa?")
        await evening.answer()
        whispered = await evening.lizzy.slash(
            evening.stage, "whisper", character="Mr Bennet", text="And Mr Collins?"
        )
        await evening.discord.until(lambda: "He is a fool." in whispered.text)

        hers = story(evening, await ask(evening, evening.lizzy, format="json"))
        assert texts(hers) == [
            ("Lizzy (player)", "@Mr Bennet"),
            ("Lizzy (player)", "curtsies"),
            ("Lizzy (player)", "Papa?"),
            ("Mr Bennet", "smiles"),
            ("Mr Bennet", "You refuse him?"),
            ("Lizzy (player)", "And Mr Collins?"),
            ("Mr Bennet", "smiles"),
            ("Mr Bennet", "He is a fool."),
        ]
        kittys = await ask(evening, evening.kitty, format="json")
        assert kittys.ephemeral
        assert texts(story(evening, kittys)) == texts(hers)[:5]

        refused = await ask(evening, evening.lizzy, thoughts=True)
        assert "game master" in refused.text
        assert files(evening, refused) == []
        everything = await ask(evening, evening.gm, format="json", thoughts=True)
        assert ("Mr Bennet", THOUGHT) in texts(story(evening, everything))
        assert ("Mr Bennet", "SECRET whisper") not in texts(story(evening, everything))
        assert "SECRET" not in evening.lizzy.ever_saw() + evening.kitty.ever_saw()


async def test_an_ended_scene_is_kept_for_its_game_master(evening: Evening) -> None:
    async with evening.online(await ready()):
        await evening.begin()
        empty = await ask(evening, evening.kitty)
        assert empty.text == "No one has spoken in this scene yet."
        evening.lizzy.say(evening.stage, "@Mr Bennet Papa?")
        await evening.answer()
        await evening.discord.quiet()
        await evening.gm.slash(evening.stage, "scene end")
        none = await ask(evening, evening.kitty, scene="1")
        assert "Choose one of your ended scenes" in none.text
        kept = await ask(evening, evening.gm, scene="1")
        (page,) = files(evening, kept)
        assert page.startswith(b"<!doctype html>")
        assert b"You refuse him?" in page
        assert b"SECRET" not in page


async def ask(evening: Evening, person: Person, **options: object) -> Outcome:
    """Ask for a transcript and wait for the last answer."""
    outcome = await person.slash(evening.stage, "scene transcript", **options)
    await evening.discord.until(
        lambda: not outcome.thinking and "Reading the story" not in outcome.text
    )
    return outcome


def files(evening: Evening, outcome: Outcome) -> list[bytes]:
    return [
        evening.discord.world.files[number]
        for message in outcome.messages
        for number in sorted(message.files())
    ]


def story(evening: Evening, outcome: Outcome) -> Any:
    (content,) = files(evening, outcome)
    return json.loads(content)


def texts(story: Any) -> list[tuple[str, str]]:
    return [(turn["speaker"], beat["text"]) for turn in story["turns"] for beat in turn["beats"]]
