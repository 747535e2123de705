"""A story as Markdown: its public part, and private beats on request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.errors import Refused, UserInputError
from bot.her.beats import BeatKind
from bot.scenes.reveal import Destination, Revealed, RevealPolicy
from bot.terminal.terminal_delivery import LABELS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    from bot.her.beats import PublicBeat
    from bot.library.scenario import Scenario
    from bot.scenes.turn import Turn


def format_transcript(
    scenario: Scenario, turns: Sequence[Turn], showing: Collection[BeatKind]
) -> str:
    """Return the story as Markdown. `showing` are the kinds of private beats to include."""
    policy = RevealPolicy(
        _where(shown=BeatKind.THOUGHT in showing), _where(shown=BeatKind.PLANNING in showing)
    )
    author = f", {scenario.author}" if scenario.author else ""
    head = [
        f"# {scenario.title}",
        f"*{scenario.book}{author}*",
        scenario.opening or scenario.setting,
        "---",
    ]
    return (
        "\n\n".join([*head, *filter(None, (_format_turn(turn, policy) for turn in turns))]) + "\n"
    )


def write_transcript(path: Path, text: str, *, overwrite: bool) -> None:
    """Write a transcript to a file.

    Raise Refused if the file exists and `overwrite` is False. Raise UserInputError if the file
    is not writable.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w" if overwrite else "x", encoding="utf-8", errors="replace") as file:
            file.write(text)
    except OSError as error:
        if isinstance(error, FileExistsError) and path.exists():
            raise Refused(f"{path} already exists. Name another file.") from None
        raise UserInputError(
            f"{path} is not writable ({error.strerror}). Name another file."
        ) from error


def _format_turn(turn: Turn, policy: RevealPolicy) -> str:
    if turn.take is None or not turn.public:
        return ""
    return (
        f"**{turn.speaker}**: {' '.join(_format_beats(policy.select_for_channel(turn.take.beats)))}"
    )


def _where(*, shown: bool) -> Destination:
    return Destination.SPOILER if shown else Destination.OFF


def _format_beats(shown: Iterable[PublicBeat | Revealed]) -> Iterator[str]:
    for beat in shown:
        if isinstance(beat, Revealed):
            yield f"({LABELS[beat.beat.kind]} {beat.beat.text})"
        else:
            yield f"*{beat.text}*" if beat.kind is BeatKind.ACTION else beat.text
