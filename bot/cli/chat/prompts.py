"""Who plays what at the terminal: from options, or from lists where nobody said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rapidfuzz import fuzz

from bot.cli.lookup import find_character, find_scenario
from bot.errors import NameNotFound, UserInputError
from bot.her.sanitise import sanitise_name
from bot.library.name_matching import spoken_names
from bot.library.normalise import normal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.library.library import Library
    from bot.library.scenario import Scenario
    from bot.terminal.choice_prompt import ChoicePrompt
    from bot.terminal.keyboard import Keyboard

VISITOR = "A visitor"
_ALIKE = 80  # of 100, from which on a name is a character's misspelt rather than another one


def choose_scenario(chooser: ChoicePrompt, library: Library, given: str | None) -> Scenario:
    """Return the scenario to play. Raises UserInputError and ScenarioError."""
    listed = [
        (f"{one.title} · {one.book}", library.scenario(one.id)) for one in library.summaries()
    ]
    if not listed and given is None:
        raise UserInputError("The library is empty: `aside scenarios check` tells why.")
    return chooser.one(
        "Which scenario?", "--scenario", listed, lambda name: find_scenario(name, library), given
    )


def choose_partner(
    chooser: ChoicePrompt, scenario: Scenario, free: Sequence[str], given: str | None
) -> str:
    """Return the character, one of those that are `free`, who answers where nobody is addressed."""

    def named(name: str) -> str:
        if (character := find_character(scenario, name)) in free:
            return character
        raise UserInputError(
            f"{character} is not played by the model here: choose one of {', '.join(free)}."
        )

    if not free:
        raise UserInputError("The model plays nobody in this scene, so nobody would answer.")
    return chooser.one(
        "Who answers you?", "--character", [(name, name) for name in free], named, given
    )


def choose_person(
    chooser: ChoicePrompt,
    keyboard: Keyboard,
    scenario: Scenario,
    others: Sequence[str],
    given: str | None,
) -> str:
    """Return who the person is: a character's name, none of those of `others`, the first of whom answers, or their
    own."""
    playable = [one.name for one in scenario.characters if one.playable and one.name not in others]
    if given is None and not keyboard.interactive:
        return VISITOR
    listed = [*((name, name) for name in playable), ("yourself, under your own name", "")]
    found = chooser.one(
        "Who are you?", "--as", listed, lambda name: _person(scenario, others, name), given
    )
    return found or sanitise_name((keyboard.ask("Your name: ") or "").strip() or VISITOR)


def _person(scenario: Scenario, others: Sequence[str], name: str) -> str:
    names = spoken_names(scenario.characters)
    if character := names.get(normal(name)):
        if character in others[1:]:
            raise UserInputError(
                f"{character} is played by somebody on Discord: choose another one."
            )
        if character in others:
            raise UserInputError(
                f"{character} answers you, so you can't be {character}: choose another one."
            )
        if not scenario.character(character).playable:
            raise UserInputError(
                f"{character} is not a part for players in this scenario: choose another one."
            )
        return character
    for known in names:
        if fuzz.ratio(normal(name), known) >= _ALIKE:
            raise NameNotFound(f"Nobody is called “{name[:80]}” here: did you mean {names[known]}?")
    return sanitise_name(name)
