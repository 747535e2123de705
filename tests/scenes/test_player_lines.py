"""Lines of people: who answers them, under which name they speak, edits and deletions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from bot.scenes.gm_actions import GmActions
from bot.scenes.player_lines import IncomingLine, read_beats, read_typed_text
from bot.scenes.turn import Take
from tests.scenes.scene_harness import ALICE, BOB, GM, open_harness, reply
from tests.wait_until import until

if TYPE_CHECKING:
    from pathlib import Path


BENNET = reply("Mr Bennet", says="You refuse him, then?")
MADAM = reply("Mrs Bennet", says="My nerves!")


async def test_an_addressed_character_answers(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        scene = await harness.start()
        await harness.say(scene, "You sent for me, Papa?", "Mr Bennet")
        await harness.wait_until_idle(scene)
        assert await harness.read_story(scene) == [
            ("Alice", "You sent for me, Papa?"),
            ("Mr Bennet", "smiles You refuse him, then?"),
        ]
        assert harness.delivery.shown == [("Mr Bennet", "smiles You refuse him, then?")]


async def test_a_line_without_an_addressee_is_heard_and_not_answered(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        scene = await harness.start()
        await harness.say(scene, "What weather.")
        await harness.wait_until_idle(scene)
        assert await harness.read_story(scene) == [("Alice", "What weather.")]
        assert harness.engine.requests == []


async def test_two_addressed_characters_answer_in_the_order_of_mention(tmp_path: Path) -> None:
    async with open_harness(tmp_path, MADAM, BENNET) as harness:
        scene = await harness.start()
        await harness.say(scene, "Mama, Papa!", "Mrs Bennet", "Mr Bennet")
        await harness.wait_until_idle(scene)
        assert [speaker for speaker, _ in harness.delivery.shown] == ["Mrs Bennet", "Mr Bennet"]
        assert "My nerves!" in harness.engine.requests[1].prompt.text


async def test_a_player_speaks_as_their_character(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        scene = await harness.theatre.controls.join(await harness.start(), ALICE, "elizabeth")
        await harness.say(scene, "*curtsies* Papa.", "Mr Bennet")
        await harness.wait_until_idle(scene)
        assert (await harness.read_story(scene))[0] == ("Elizabeth Bennet", "curtsies Papa.")
        assert (
            "Elizabeth Bennet: <role_action>curtsies</role_action>"
            in harness.engine.requests[0].prompt.text
        )


async def test_the_model_does_not_answer_for_a_players_character(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        scene = await harness.theatre.controls.join(await harness.start(), BOB, "Mr Bennet")
        await harness.say(scene, "Papa?", "Mr Bennet")
        await harness.wait_until_idle(scene)
        assert harness.engine.requests == []


async def test_a_display_name_cannot_imitate_a_character(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        scene = await harness.start()
        await harness.say(scene, "I have changed my mind.", name="MR. BENNET")
        assert (await harness.read_story(scene))[0][0] == "MR. BENNET (player)"


async def test_a_mention_of_the_bot_addresses_the_last_speaker(tmp_path: Path) -> None:
    async with open_harness(tmp_path, MADAM) as harness:
        scene = await harness.start()
        await harness.say(scene, "Mama?", "Mrs Bennet")
        await harness.wait_until_idle(scene)
        await harness.say(scene, "And then?", bot=True)
        await harness.wait_until_idle(scene)
        assert [speaker for speaker, _ in harness.delivery.shown] == ["Mrs Bennet", "Mrs Bennet"]


async def test_lines_out_of_character_are_ignored(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        scene = await harness.start()
        await harness.say(scene, "((brb, tea))", "Mr Bennet")
        await harness.say(scene, "// so good", "Mr Bennet")
        await harness.say(scene, "   ", "Mr Bennet")
        assert await harness.read_story(scene) == []


async def test_a_message_delivered_twice_is_heard_once(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        scene = await harness.start()
        for _ in range(2):
            harness.ids = iter([5])  # type: ignore[assignment]
            await harness.say(scene, "Papa?", "Mr Bennet")
        await harness.wait_until_idle(scene)
        assert len(harness.engine.requests) == 1


async def test_a_deleted_message_leaves_the_story_and_is_not_answered(
    tmp_path: Path,
) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        scene = await harness.start()
        harness.engine.gate.clear()
        message = await harness.say(scene, "MARMALADE", "Mr Bennet")
        await harness.line_changes.withdraw(message, 10)
        harness.engine.gate.set()
        await harness.say(scene, "Papa?", "Mr Bennet")
        await harness.wait_until_idle(scene)
        assert await harness.read_story(scene) == [
            ("Alice", "Papa?"),
            ("Mr Bennet", "smiles You refuse him, then?"),
        ]
        assert "MARMALADE" not in harness.engine.requests[-1].prompt.text


async def test_an_edited_line_is_not_answered_again(
    tmp_path: Path,
) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        scene = await harness.start()
        message = await harness.say(scene, "Papa?", "Mr Bennet")
        await harness.wait_until_idle(scene)
        await harness.edit(scene, message, "Dear Papa?", "Mr Bennet")
        assert (await harness.read_story(scene))[0] == ("Alice", "Dear Papa?")
        assert len(harness.engine.requests) == 1


async def test_a_character_that_missed_a_line_does_not_answer_its_edit(tmp_path: Path) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        actions = GmActions(harness.theatre, harness.store)
        scene = await harness.start()
        await actions.leave_stage(scene, "Mr Bennet", GM)
        message = await harness.say(scene, "Well.")
        await actions.enter_stage(scene, "Mr Bennet", GM)
        await harness.edit(scene, message, "Well, Papa?", "Mr Bennet")
        await harness.wait_until_idle(scene)
        assert harness.engine.requests == []


async def test_a_line_that_is_edited_before_its_answer_shows_is_answered_as_edited(
    tmp_path: Path,
) -> None:
    async with open_harness(tmp_path, BENNET) as harness:
        harness.engine.gate.clear()
        scene = await harness.start()
        message = await harness.say(scene, "MARMALADE?", "Mr Bennet")
        await until(lambda: harness.engine.running == 1)
        await harness.edit(scene, message, "Papa?", "Mr Bennet")
        harness.engine.gate.set()
        await harness.wait_until_idle(scene)
        first, second = harness.engine.requests
        assert harness.engine.cancelled == [first]
        assert "MARMALADE" not in second.prompt.text
        assert harness.delivery.shown == [("Mr Bennet", "smiles You refuse him, then?")]


@given(
    text=st.text(max_size=60),
    shown=st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n"), min_size=1)),
)
def test_the_words_of_a_stored_line_are_told_apart_from_what_it_shows(
    text: str, shown: list[str]
) -> None:
    line = IncomingLine(ALICE, "Alice", 1, text, shown=tuple(shown))
    beats = read_beats(line, "Alice")
    if beats:
        assert read_typed_text(Take(1, 1, beats, line.raw)) == text
