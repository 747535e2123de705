"""Pages of a chat that are not part of the story: opening, instructions, cast, help."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.errors import Refused
from bot.her.beats import BeatKind
from bot.terminal.screen import NAME, QUIET
from bot.terminal.typed_commands import HELP

if TYPE_CHECKING:
    from bot.scenes.scene import Part, Scene
    from bot.terminal.screen import Screen

_THOUGHTS = {
    "on": {BeatKind.THOUGHT},
    "all": {BeatKind.THOUGHT, BeatKind.PLANNING},
    "off": set[BeatKind](),
}


def show_opening(screen: Screen, scene: Scene) -> None:
    """Show the scenario's title and opening."""
    scenario = scene.scenario
    screen.line()
    screen.line(scenario.title, NAME)
    screen.line(f"{scenario.book}, {scenario.author}" if scenario.author else scenario.book, QUIET)
    screen.line()
    screen.line(scenario.opening or scenario.setting)
    screen.line()


def show_instructions(screen: Screen, speaker: str, partner: str) -> None:
    """Show how to speak and to act."""
    screen.line(
        f"You speak as {speaker}, and {partner} answers. `@Name` addresses another character.",
        QUIET,
    )
    screen.line("*sighs* is an action. `help` lists the commands. `quit` ends the chat.", QUIET)
    screen.line()


def show_cast(screen: Screen, scene: Scene, user_id: int, partner: str) -> None:
    """Show who plays whom."""
    for part in scene.parts:
        screen.write(part.character, NAME)
        note = ", answers lines without an addressee" if part.character == partner else ""
        screen.write(f": {_player(part, user_id)}{note}\n")


def show_help(screen: Screen) -> None:
    """Show the commands."""
    for word, description in HELP.items():
        screen.write(f"{word:<9}", NAME)
        screen.write(f"{description}\n")
    screen.line(
        "A slash before a command works too: `/help`. All other lines go to the scene.", QUIET
    )


def parse_thoughts_word(word: str) -> frozenset[BeatKind]:
    """Return the kinds of private beats that `thoughts WORD` shows.

    Raise Refused for an unknown word.
    """
    if word not in _THOUGHTS:
        raise Refused("Use `thoughts`, `thoughts on`, `thoughts all` or `thoughts off`.")
    return frozenset(_THOUGHTS[word])


def describe_showing(showing: frozenset[BeatKind]) -> str:
    """Return a sentence about the private beats that are shown from now on."""
    if not showing:
        return "Thoughts are hidden from now on. `thoughts` shows those of the last reply."
    return "Thoughts are shown from now on" + (
        ", planning too." if BeatKind.PLANNING in showing else "."
    )


def _player(part: Part, user_id: int) -> str:
    if part.absent:
        return "off stage"
    if part.player_id is None:
        return "at rest" if part.rests else "the model"
    return "you" if part.player_id == user_id else "a player on Discord"
