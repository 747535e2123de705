"""Choose the scenario and the parts from options, or ask the person."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rapidfuzz import fuzz

from bot.cli.lookup import find_character, find_scenario
from bot.errors import NameNotFound, UserInputError
from bot.her.sanitise import sanitise_name
from bot.library.name_matching import map_spoken_names
from bot.library.normalise import normalise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.library.library import Library
    from bot.library.scenario import Scenario
    from bot.terminal.choice_prompt import ChoicePrompt
    from bot.terminal.keyboard import Keyboard

VISITOR = "A visitor"
_ALIKE = 80  # similarity (0 to 100) at which a name counts as a misspelt character


def choose_scenario(chooser: ChoicePrompt, library: Library, given: str | None) -> Scenario:
    """Return the scenario to play. Raises UserInputError or ScenarioError."""
    listed = [
        (f"{one.title} · {one.book}", library.scenario(one.id)) for one in library.summaries()
    ]
    if not listed and given is None:
        raise UserInputError(
            "The library has no scenarios. Run `aside scenarios check` to see why."
        )
    return chooser.choose(
        "Which scenario?", "--scenario", listed, lambda name: find_scenario(name, library), given
    )


def choose_partner(
    chooser: ChoicePrompt, scenario: Scenario, free: Sequence[str], given: str | None
) -> str:
    """Return the character of `free` who answers by default."""

    def find_free_character(name: str) -> str:
        if (character := find_character(scenario, name)) in free:
            return character
        raise UserInputError(
            f"The model does not play {character} here. Choose one of {', '.join(free)}."
        )

    if not free:
        raise UserInputError(
            "The model plays no character in this scene. Free one on Discord first."
        )
    return chooser.choose(
        "Who answers you?",
        "--character",
        [(name, name) for name in free],
        find_free_character,
        given,
    )


def choose_person(
    chooser: ChoicePrompt,
    keyboard: Keyboard,
    scenario: Scenario,
    others: Sequence[str],
    given: str | None,
) -> str:
    """Return the person's name: a character outside `others`, or a name of their own.

    The first of `others` is the character who answers.
    """
    playable = [one.name for one in scenario.characters if one.playable and one.name not in others]
    if given is None and not keyboard.interactive:
        return VISITOR
    listed = [*((name, name) for name in playable), ("yourself, under your own name", "")]
    found = chooser.choose(
        "Who are you?", "--as", listed, lambda name: _find_person(scenario, others, name), given
    )
    return found or sanitise_name((keyboard.ask("Your name: ") or "").strip() or VISITOR)


def _find_person(scenario: Scenario, others: Sequence[str], name: str) -> str:
    names = map_spoken_names(scenario.characters)
    if character := names.get(normalise(name)):
        if character in others[1:]:
            raise UserInputError(
                f"{character} is played by a person on Discord. Choose another character."
            )
        if character in others:
            raise UserInputError(
                f"{character} answers you, so you can't play {character}. Choose another character."
            )
        if not scenario.character(character).playable:
            raise UserInputError(
                f"{character} can't be played by people in this scenario. Choose another character."
            )
        return character
    for known in names:
        if fuzz.ratio(normalise(name), known) >= _ALIKE:
            raise NameNotFound(
                f"No character is called “{name[:80]}”. Did you mean {names[known]}?"
            )
    return sanitise_name(name)
