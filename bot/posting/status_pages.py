"""What people ask to see of a scene: how it stands, who plays whom, what was said. Only public beats are in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bot.her.beats import action, select_public
from bot.posting.escaping import escape_name, escape_text
from bot.posting.opening_post import format_part, join_lines
from bot.posting.permissions import join_names
from bot.posting.render import render_runs
from bot.posting.split import MESSAGE_LIMIT, FormattedRun, split_into_messages
from bot.scenes.reveal import Destination
from bot.scenes.scene import Mode, SceneState
from bot.scenes.turn import TurnKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bot.her.beats import PublicBeat
    from bot.scenes.interfaces import Note
    from bot.scenes.scene import Scene
    from bot.scenes.turn import Turn

MOST_PAGES: Final = 10
"""How many messages a history may fill; the latest are shown."""

_CAST_LIMIT = 1_200  # leaves room for the rest of a status
_STATES = {SceneState.PLAYING: "playing", SceneState.PAUSED: "paused", SceneState.ENDED: "ended"}
_PLACES = {
    Destination.SPOILER: "to everyone, as spoilers",
    Destination.GM: "to the game master, in private",
    Destination.OFF: "to nobody; it is kept",
}


def format_status(scene: Scene, turns: int) -> str:
    """Return how a scene stands, `turns` being how many turns its story has, as one message."""
    cast = join_lines([format_part(part) for part in scene.parts], _CAST_LIMIT, 1)
    return "\n".join(
        (
            f"**{escape_name(scene.scenario.title)}** · {_STATES[scene.state]}, {count_turns(turns)}",
            f"Directed by {join_names([f'<@{gm_id}>' for gm_id in scene.gm_ids])}",
            format_mode(scene),
            format_reveal(scene),
            *cast,
        )
    )


def count_turns(number: int) -> str:
    """Return so many turns, in words."""
    return "one turn" if number == 1 else f"{number} turns"


def format_reveal(scene: Scene) -> str:
    """Return where thoughts and planning of a scene go, in words."""
    thoughts, planning = scene.reveal.thoughts, scene.reveal.planning
    return f"💭 What characters think goes {_PLACES[thoughts]}.\n📝 How they are planned goes {_PLACES[planning]}."


def format_mode(scene: Scene) -> str:
    """Return who answers in a scene, in words."""
    if scene.mode is Mode.ADDRESSED:
        return "🎭 Characters answer when they are spoken to."
    return f"🎭 Characters speak unasked too, at most {count_turns(scene.budget)} after a person's."


def format_notes(standing: Sequence[Note]) -> list[str]:
    """Return a game master's standing notes with their numbers, as messages."""
    if not standing:
        return ["There are no standing notes: `/gm note` makes one."]
    lines = [
        FormattedRun(
            f"{number}. {escape_name(note.character) if note.character else 'All'}: {escape_text(note.text)}\n"
        )
        for number, note in enumerate(standing, start=1)
    ]
    return split_into_messages(lines)


def format_cast(scene: Scene) -> list[str]:
    """Return who plays whom, as messages."""
    return join_lines([format_part(part) for part in scene.parts], MESSAGE_LIMIT, len(scene.parts))


def format_history(turns: Sequence[Turn], most: int = MOST_PAGES) -> list[str]:
    """Return what was said and done in public, in order, as at most `most` messages, the latest ones."""
    latest = list(_latest(turns, most * MESSAGE_LIMIT))
    pages = split_into_messages(run for told_runs in reversed(latest) for run in told_runs)
    if not pages:
        return ["Nothing has been said here yet."]
    if len(latest) == len(turns) and len(pages) <= most:
        return pages
    return [
        "-# The story is longer than this; what follows is its latest part.",
        *pages[1 - most :],
    ]


def _latest(turns: Sequence[Turn], enough: int) -> Iterator[list[FormattedRun]]:
    """Give the turns as runs, the latest first, until there is more text than `enough`."""
    length = 0
    for turn in reversed(turns):
        if length > enough:
            return
        runs = render_runs(_read(turn)) if turn.take else []
        length += sum(len(run.text) for run in runs)
        yield (
            [FormattedRun(f"**{escape_name(turn.speaker)}** "), *runs, FormattedRun("\n\n")]
            if runs
            else []
        )


def _read(turn: Turn) -> list[PublicBeat]:
    """Return what is public of a turn as it is read: what the environment does in italics, and to the letter."""
    beats = select_public(turn.take.beats) if turn.take else ()
    tells = turn.kind in (TurnKind.NARRATION, TurnKind.SETTING)
    return [action(beat.text) if tells else beat for beat in beats]
