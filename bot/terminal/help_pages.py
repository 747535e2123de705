"""What is told on the screen besides the play: how a scene begins, who plays whom, which commands there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.errors import Refused
from bot.her.beats import BeatKind
from bot.terminal.screen import NAME, QUIET
from bot.terminal.typed_commands import HELP

if TYPE_CHECKING:
    from bot.scenes.scene import Part, Scene
    from bot.terminal.screen import Screen

_SHOWN = {
    "on": {BeatKind.THOUGHT},
    "all": {BeatKind.THOUGHT, BeatKind.PLANNING},
    "off": set[BeatKind](),
}


def show_opening(screen: Screen, scene: Scene) -> None:
    """Show what is played and where the scene stands when it begins."""
    scenario = scene.scenario
    screen.line()
    screen.line(scenario.title, NAME)
    screen.line(f"{scenario.book}, {scenario.author}" if scenario.author else scenario.book, QUIET)
    screen.line()
    screen.line(scenario.opening or scenario.setting)
    screen.line()


def show_instructions(screen: Screen, speaker: str, partner: str) -> None:
    """Say who speaks to whom, and how."""
    screen.line(
        f"You speak as {speaker}, and {partner} answers; `@Name` addresses somebody else.", QUIET
    )
    screen.line("*sighs* is something you do. `help` lists the commands, `quit` ends.", QUIET)
    screen.line()


def show_cast(screen: Screen, scene: Scene, user_id: int, partner: str) -> None:
    """Show who plays whom."""
    for part in scene.parts:
        screen.write(part.character, NAME)
        note = ", and answers where nobody is addressed" if part.character == partner else ""
        screen.write(f": {_player(part, user_id)}{note}\n")


def show_help(screen: Screen) -> None:
    """Show the commands."""
    for word, told_of in HELP.items():
        screen.write(f"{word:<9}", NAME)
        screen.write(f"{told_of}\n")
    screen.line(
        "Each also with a slash before it: `/help`. Anything else is said in the scene.", QUIET
    )


def parse_thoughts_word(word: str) -> frozenset[BeatKind]:
    """Return which private beats `thoughts WORD` asks to see. Raises Refused for another word."""
    if word not in _SHOWN:
        raise Refused("Say `thoughts`, or `thoughts` with on, all or off behind it.")
    return frozenset(_SHOWN[word])


def describe_showing(showing: frozenset[BeatKind]) -> str:
    """Return what is shown from now on, in words."""
    if not showing:
        return "Thoughts are not shown from now on; `thoughts` shows those behind the last reply."
    return "Thoughts are shown from now on" + (
        ", planning too." if BeatKind.PLANNING in showing else "."
    )


def _player(part: Part, user_id: int) -> str:
    if part.absent:
        return "off stage"
    if part.player_id is None:
        return "nobody now" if part.rests else "the model"
    return "you" if part.player_id == user_id else "a player on Discord"
