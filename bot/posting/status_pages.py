"""Pages about a scene: its status, its cast, its notes and its history.

They contain public beats only.
"""

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
    from bot.scenes.note import Note
    from bot.scenes.scene import Scene
    from bot.scenes.turn import Turn

MAX_PAGES: Final = 10

MAX_HISTORY_TURNS: Final = 1000
"""Turns that are read for the history. More rarely fit its pages."""
"""The number of messages in a history. If there are more, the latest are shown."""

_CAST_LIMIT = 1_200  # leaves room for the rest of a status
_STATES = {SceneState.PLAYING: "playing", SceneState.PAUSED: "paused", SceneState.ENDED: "ended"}
_PLACES = {
    Destination.SPOILER: "to everyone, as spoilers",
    Destination.GM: "to the game master in private",
    Destination.OFF: "to no one, but is stored",
}


def format_status(scene: Scene, turns: int) -> str:
    """Return the status of a scene as one message. `turns` is the length of its story."""
    cast = join_lines([format_part(part) for part in scene.parts], _CAST_LIMIT, 1)
    title = escape_name(scene.scenario.title)
    return "\n".join(
        (
            f"**{title}** · {_STATES[scene.state]}, {count_turns(turns)}",
            f"Directed by {join_names([f'<@{gm_id}>' for gm_id in scene.gm_ids]) or 'no one'}",
            format_mode(scene),
            format_reveal(scene),
            *([format_bots(scene)] if scene.bots else []),
            *cast,
        )
    )


def count_turns(number: int) -> str:
    """Return a number of turns in words."""
    return "one turn" if number == 1 else f"{number} turns"


def format_reveal(scene: Scene) -> str:
    """Return who gets a scene's thoughts and planning, as sentences."""
    thoughts, planning = scene.reveal.thoughts, scene.reveal.planning
    return (
        f"💭 The characters' thinking goes {_PLACES[thoughts]}.\n"
        f"📝 The model's planning goes {_PLACES[planning]}."
    )


def format_mode(scene: Scene) -> str:
    """Return who answers in a scene, as a sentence."""
    if scene.mode is Mode.ADDRESSED:
        return "🎭 Characters answer when they are addressed."
    turns = count_turns(scene.budget)
    return f"🎭 Characters also speak without being addressed, at most {turns} after a person's."


def format_bots(scene: Scene) -> str:
    """Return the bots that a scene hears, as a sentence."""
    names = join_names([f"<@{bot_id}>" for bot_id in scene.bots])
    return f"🎲 The characters hear what {names} posts, as events around them."


def format_notes(standing: Sequence[Note]) -> list[str]:
    """Return the standing notes of a scene with their numbers, as messages."""
    if not standing:
        return ["This scene has no standing notes. `/gm note` adds one."]
    return split_into_messages(
        FormattedRun(f"{number}. {_format_note(note)}\n")
        for number, note in enumerate(standing, start=1)
    )


def _format_note(note: Note) -> str:
    character = escape_name(note.character) if note.character else "All"
    return f"{character}: {escape_text(note.text)}"


def format_cast(scene: Scene) -> list[str]:
    """Return the cast as messages."""
    return join_lines([format_part(part) for part in scene.parts], MESSAGE_LIMIT, len(scene.parts))


def format_history(
    turns: Sequence[Turn], max_pages: int = MAX_PAGES, *, earlier: bool = False
) -> list[str]:
    """Return the public story in order, as at most `max_pages` messages.

    If the story is longer, or has `earlier` turns than these, its latest part is shown.
    """
    latest = list(_latest(turns, max_pages * MESSAGE_LIMIT))
    pages = split_into_messages(run for runs in reversed(latest) for run in runs)
    if not pages:
        return ["No one has spoken in this scene yet."]
    if not earlier and len(latest) == len(turns) and len(pages) <= max_pages:
        return pages
    return [
        "-# This is the latest part of the story.",
        *pages[1 - max_pages :],
    ]


def _latest(turns: Sequence[Turn], enough: int) -> Iterator[list[FormattedRun]]:
    """Yield the runs of each turn, the latest first, until the text is longer than `enough`."""
    length = 0
    for turn in reversed(turns):
        if length > enough:
            return
        runs = render_runs(_public_beats(turn)) if turn.take else []
        length += sum(len(run.text) for run in runs)
        yield (
            [FormattedRun(f"**{escape_name(turn.speaker)}** "), *runs, FormattedRun("\n\n")]
            if runs
            else []
        )


def _public_beats(turn: Turn) -> list[PublicBeat]:
    """Return the public beats of a turn. Those of a narration are actions, which read verbatim."""
    beats = select_public(turn.take.beats) if turn.take else ()
    narrated = turn.kind in (TurnKind.NARRATION, TurnKind.SETTING)
    return [action(beat.text) if narrated else beat for beat in beats]
