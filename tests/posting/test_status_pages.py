"""The opening post and the pages about a scene."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from itertools import count

from bot.her.beats import Beat, action, planning, speech, thought
from bot.library.scenario import Character, Scenario
from bot.posting import opening_post, status_pages
from bot.posting.graphemes import utf16_length
from bot.posting.split import MESSAGE_LIMIT
from bot.scenes.reveal import Destination, RevealPolicy
from bot.scenes.scene import Part, Place, Scene, SceneState
from bot.scenes.turn import Take, Turn, TurnKind, TurnState
from tests.posting.conftest import SCENARIO
from tests.posting.markdown_reader import everything, kinds

NOW = datetime(2026, 1, 1, tzinfo=UTC)
numbers = count(1)


def scene(scenario: Scenario = SCENARIO, **changes: object) -> Scene:
    parts = tuple(Part(character.name) for character in scenario.characters)
    return replace(Scene(1, Place(1, 2), scenario, (7,), parts, NOW), **changes)  # type: ignore[arg-type]


def turn(speaker: str, *beats: Beat) -> Turn:
    take = Take(next(numbers), 1, beats, "")
    return Turn(next(numbers), 1, TurnKind.REPLY, speaker, TurnState.DONE, NOW, take)


def crowd(size: int) -> Scenario:
    characters = tuple(Character(name=f"{number} " + "_" * 76) for number in range(size))
    long = "It rains, and everyone is in. " * 600
    return SCENARIO.model_copy(
        update={"characters": characters, "opening": long, "title": "_" * 200, "book": "*" * 200}
    )


def test_the_opening_shows_the_setting_the_cast_and_how_to_play() -> None:
    (embed,) = opening_post.build_embeds(
        scene(parts=(Part("Mr Bennet"), Part("Elizabeth", player_id=9)))
    )
    assert embed.title == "The Study"
    assert (
        embed.description
        == "-# Pride and Prejudice · Jane Austen\n\nMr Bennet sits in his study. *Rain.*"
    )
    cast, how = embed.fields
    assert cast.value == "**Mr Bennet**\n**Elizabeth** · played by <@9>"
    assert "`@Mr Bennet Good evening!`" in str(how.value)
    assert "`/cast join`" in str(how.value)


def test_a_scenarios_opening_replaces_its_setting() -> None:
    (embed,) = opening_post.build_embeds(
        scene(SCENARIO.model_copy(update={"opening": "The door opens."}))
    )
    assert str(embed.description).endswith("The door opens.")


def test_an_opening_of_any_size_is_within_the_limits_of_embeds() -> None:
    posts = opening_post.build_embeds(scene(crowd(40)))
    assert len(posts) > 1
    for embed in posts:
        assert len(embed) <= 6000
        assert utf16_length(embed.description or "") <= 4096
        assert all(utf16_length(str(field.value)) <= 1024 for field in embed.fields)
    assert "more" in str(posts[-1].fields[1].value)
    assert utf16_length(str(posts[0].title)) <= 256


def test_an_opening_has_no_mentions() -> None:
    nasty = SCENARIO.model_copy(
        update={"opening": "@everyone <@1> ||x||", "title": "<#1>", "book": "<t:1>"}
    )
    for embed in opening_post.build_embeds(scene(nasty, parts=(Part("@everyone <@1>"),))):
        texts = [
            str(embed.title),
            str(embed.description),
            *(str(field.value) for field in embed.fields),
        ]
        assert not {"mention", "spoiler"} & {kind for text in texts for kind in kinds(text)}


def test_a_status_shows_the_state_the_game_master_and_the_reveal_policy() -> None:
    text = status_pages.format_status(
        scene(state=SceneState.PAUSED, reveal=RevealPolicy(Destination.SPOILER, Destination.OFF)), 1
    )
    assert text.startswith("**The Study** · paused, one turn\nDirected by <@7>")
    assert "The characters' thinking goes to everyone, as spoilers." in text
    assert "The model's planning goes to no one, but is stored." in text
    assert "**Mr Bennet**" in text


def test_a_status_and_a_cast_of_any_size_fit() -> None:
    big = scene(crowd(40), gm_ids=tuple(range(10**18, 10**18 + 5)))
    assert utf16_length(status_pages.format_status(big, 3)) <= MESSAGE_LIMIT
    listed = status_pages.format_cast(big)
    assert all(utf16_length(page) <= MESSAGE_LIMIT for page in listed)
    assert sum(page.count("\n") + 1 for page in listed) == 40


def test_a_history_has_only_public_beats() -> None:
    story = [
        turn("||Lizzy||", speech("You sent for me?")),
        turn("Mr Bennet", planning("Dry."), thought("At last."), action("smiles"), speech("Sit.")),
    ]
    (page,) = status_pages.format_history(story)
    assert everything(page) == "||Lizzy|| You sent for me?\n\nMr Bennet smiles Sit."
    assert kinds(page) == {"bold", "italics"}


def test_a_turn_without_public_beats_is_left_out_of_the_history() -> None:
    assert status_pages.format_history(
        [turn("Mr Bennet", thought("Hm.")), replace(turn("Elizabeth"), take=None)]
    ) == ["No one has spoken in this scene yet."]


def test_a_long_history_shows_its_latest_part_and_says_so() -> None:
    story = [
        turn("Mr Bennet", speech(f"Number {number}. " + "So it goes. " * 100))
        for number in range(60)
    ]
    shown = status_pages.format_history(story)
    assert len(shown) == status_pages.MAX_PAGES
    assert "latest part" in shown[0]
    assert "Number 59." in shown[-1]
    assert all(utf16_length(page) <= MESSAGE_LIMIT for page in shown)
