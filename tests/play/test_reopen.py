"""`/scene reopen`: ended scenes and terminal scenes continue in a channel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.scenes.scene import AT_TERMINAL, Place
from tests.loopback.actors import Person
from tests.play.harness import Evening, personas
from tests.play.test_scene import BENNET, ready
from tests.scenes.scene_harness import open_harness

if TYPE_CHECKING:
    from pathlib import Path


async def at_a_terminal(folder: Path) -> int:
    """Play a scene at a terminal and return its number."""
    async with open_harness(folder, BENNET) as harness:
        scene = await harness.start()
        await harness.theatre.end(scene, 1)
        desk = await harness.theatre.start(Place(AT_TERMINAL, -1), scene.scenario, AT_TERMINAL)
        desk = await harness.theatre.controls.join(desk, AT_TERMINAL, "Elizabeth")
        harness.ids = iter([-5])  # type: ignore[assignment]
        await harness.say(desk, "MARMALADE, Papa?", "Mr Bennet", author=AT_TERMINAL)
        await harness.wait_until_idle(desk)
        return desk.id


async def test_an_ended_scene_continues_in_another_channel_with_its_story(evening: Evening) -> None:
    engine = await ready()
    hall = evening.discord.text_channel(evening.guild, "hall")
    async with evening.online(engine):
        await evening.begin()
        evening.lizzy.say(evening.stage, "@Mr Bennet MARMALADE?")
        await evening.answer()
        none = await evening.gm.autocomplete(hall, "scene reopen", scene="")
        assert none == []
        await evening.discord.quiet()
        await evening.gm.slash(evening.stage, "scene end")
        (choice,) = await evening.gm.autocomplete(hall, "scene reopen", scene="study")
        evening.lizzy.say(hall, "@Mr Bennet PICKLES?")
        outcome = await evening.gm.slash(hall, "scene reopen", scene=choice.value)
        assert "you direct it" in outcome.text
        assert any(
            "continues after 2 turns" in text
            for message in hall.messages
            for text in message.now.texts()
        )
        evening.lizzy.say(hall, "@Mr Bennet And now?")
        assert (await evening.answer(hall)).content == "*smiles* Well, well."
        assert "MARMALADE" in engine.requests[-1].prompt.text
        assert len(personas(evening.stage)) == 1
    async with evening.online(engine):
        await evening.discord.quiet()
        assert len(personas(hall)) == 1, "a line from before the scene was answered"


async def test_a_player_can_not_reopen_a_scene(evening: Evening) -> None:
    async with evening.online(await ready()):
        await evening.begin()
        await evening.gm.slash(evening.stage, "scene end")
        assert await evening.lizzy.autocomplete(evening.stage, "scene reopen", scene="") == []
        for typed in ("1", "Mr Bennet's study", "9" * 40):
            outcome = await evening.lizzy.slash(evening.stage, "scene reopen", scene=typed)
            assert outcome.ephemeral
            assert "Choose one from the list" in outcome.text


async def test_the_bots_owner_can_reopen_a_scene_from_the_terminal(
    evening: Evening, tmp_path: Path
) -> None:
    played = await at_a_terminal(tmp_path)
    owner = Person(evening.discord, evening.guild.owner)
    engine = await ready()
    async with evening.online(engine):
        assert await evening.gm.autocomplete(evening.stage, "scene reopen", scene="") == []
        refused = await evening.gm.slash(evening.stage, "scene reopen", scene=str(played))
        assert "Choose one from the list" in refused.text
        (choice,) = await owner.autocomplete(evening.stage, "scene reopen", scene="")
        assert choice.value == str(played)
        await owner.slash(evening.stage, "scene reopen", scene=choice.value)
        listed = await owner.slash(evening.stage, "cast list")
        assert owner.mention in listed.text
        owner.say(evening.stage, "@Mr Bennet And now?")
        await evening.answer()
        prompt = engine.requests[-1].prompt.text
        assert "MARMALADE" in prompt
        assert "Elizabeth Bennet: @Mr Bennet And now?" in prompt
