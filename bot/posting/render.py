"""How beats read on Discord: speech plain, actions in italics, thoughts in spoilers, and all of it in messages.

The types carry who may see what: a private beat is taken only together with the decision that frees it, and only
by the function for that audience.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from bot.her.beats import BeatKind, PublicBeat
from bot.library.normalise import is_blank
from bot.posting.escaping import escape_text
from bot.posting.graphemes import utf16_length
from bot.posting.speech_markdown import parse_speech
from bot.posting.split import MESSAGE_LIMIT, FormattedRun, Markup, split_into_messages
from bot.scenes.reveal import Audience, Revealed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

EMBED_LIMIT = 4_096
"""How wide an embed's description may be."""

Shown: TypeAlias = PublicBeat | Revealed

_LABELS = {BeatKind.THOUGHT: "💭", BeatKind.PLANNING: "📝"}
TAKEN_OUT = "-# ✂️ not part of the story"
"""What stands above a reply that was taken out of the story."""

_COVER = Markup("||", "||")
_ITALICS = Markup("*", "*")
_SPOILERS = {kind: Markup(f"{label} ||", "||") for kind, label in _LABELS.items()}
_JOINED = re.compile(r"[,;:!?)”]|\.(?!\.)")


@dataclass(frozen=True, slots=True, repr=False)
class SpoilerFile:
    """A file that Discord covers until it is clicked, since its name says so."""

    name: str
    content: bytes


@dataclass(frozen=True, slots=True, repr=False)
class Outgoing:
    """One message, ready to be sent: its text, or the description of an embed by `author`. Its repr shows no text."""

    text: str
    files: tuple[SpoilerFile, ...] = ()
    author: str | None = None

    def __repr__(self) -> str:
        return f"Outgoing({len(self.text)} characters, {len(self.files)} files)"


def render_public_messages(
    shown: Sequence[Shown], *, head: str = "", spare: int = 0
) -> list[Outgoing]:
    """Return a take as it stands in the channel: the planning first, then the rest in the order it happened.

    `shown` is what `RevealPolicy.shown` gives. Each message begins with `head`, and has room for `spare` more in width.
    Planning too long for one message becomes a file. Raises TypeError for anything but public and revealed beats,
    ValueError for what was revealed to somebody else.
    """
    plans = _freed(
        [beat for beat in shown if not isinstance(beat, PublicBeat)],
        Audience.CHANNEL,
        BeatKind.PLANNING,
    )
    rest = [
        beat
        for beat in shown
        if isinstance(beat, PublicBeat) or beat.beat.kind is not BeatKind.PLANNING
    ]
    planned = list(_flow(plans))
    limit = MESSAGE_LIMIT - utf16_length(head) - spare
    files: tuple[SpoilerFile, ...] = ()
    if len(split_into_messages(planned, limit)) > 1:
        planned, files = [], (_planning_file(plans),)
    texts = split_into_messages([*planned, FormattedRun("\n"), *_flow(rest)], limit)
    if files and not texts:
        texts = [_LABELS[BeatKind.PLANNING]]
    return [Outgoing(head + text, () if number else files) for number, text in enumerate(texts)]


def render_gm_messages(character: str, freed: Sequence[Revealed]) -> list[Outgoing]:
    """Return what a game master reads of a take in private, as embeds by the character.

    Raises TypeError for anything but revealed beats, ValueError for what was not revealed to game masters.
    """
    beats = [
        *_freed(freed, Audience.GM, BeatKind.PLANNING),
        *_freed(freed, Audience.GM, BeatKind.THOUGHT),
    ]
    runs = [
        FormattedRun(f"{_LABELS[one.beat.kind]} {escape_text(one.beat.text.strip())}\n\n")
        for one in beats
    ]
    return [Outgoing(text, author=character) for text in split_into_messages(runs, EMBED_LIMIT)]


def render_covered_messages(
    beats: Sequence[PublicBeat], *, head: str = "", most: int
) -> list[Outgoing]:
    """Return what is left to see of a reply that was taken out of the story, as exactly `most` messages: its public
    text under a spoiler, as much of it as they hold."""
    head += f"{TAKEN_OUT}\n"
    runs = (FormattedRun(run.text, (_COVER, *run.marks)) for run in _flow(beats))
    texts = split_into_messages(runs, MESSAGE_LIMIT - utf16_length(head))[:most]
    return [Outgoing(head + text) for text in (*texts, *[""] * (most - len(texts)))]


def render_runs(beats: Iterable[PublicBeat]) -> list[FormattedRun]:
    """Return public beats as runs, for what is read later: a history, say."""
    return list(_flow(beats))


def plain_text(outgoing: Outgoing) -> str:
    """Return a message as one text, for output that is no Discord: its files by name only."""
    files = (f"[{file.name}]" for file in outgoing.files)
    return "\n".join(part for part in (outgoing.author, outgoing.text, *files) if part)


def _freed(freed: Sequence[Revealed], audience: Audience, kind: BeatKind) -> list[Revealed]:
    """Return the revealed beats of one kind that can be seen, once it is certain that this audience may see all."""
    for one in freed:
        if not isinstance(one, Revealed):
            raise TypeError(f"{type(one).__name__} is no beat that was revealed to anybody")
        if one.audience is not audience:
            raise ValueError(f"revealed to {one.audience}, not to {audience}")
    return [one for one in freed if one.beat.kind is kind and not is_blank(one.beat.text)]


def _flow(shown: Iterable[Shown]) -> Iterator[FormattedRun]:
    """Give beats as runs: speech and action side by side, each thought on a line of its own."""
    before: Shown | None = None
    for one in shown:
        text = _text(one)
        if is_blank(text):
            continue
        if before is not None:
            yield FormattedRun(_gap(before, one))
        yield from _runs(one, text.strip())
        before = one


def _runs(one: Shown, text: str) -> Iterable[FormattedRun]:
    if isinstance(one, Revealed):
        return [FormattedRun(escape_text(text), (_SPOILERS[one.beat.kind],))]
    if one.kind is BeatKind.SPEECH:
        return parse_speech(text)
    return _action_runs(text)


def _action_runs(text: str) -> Iterator[FormattedRun]:
    lines = [line.strip() for line in text.splitlines()]
    for number, line in enumerate(lines):
        if number:
            yield FormattedRun("\n")
        if not is_blank(line):
            yield FormattedRun(escape_text(line), (_ITALICS,))


def _gap(before: Shown, after: Shown) -> str:
    """Return what stands between two beats: the line breaks that stood there, or a space where one is due."""
    if isinstance(before, Revealed) or isinstance(after, Revealed):
        return "\n"
    ending, beginning = (
        before.text[len(before.text.rstrip()) :],
        after.text[: -len(after.text.lstrip())],
    )
    breaks = (ending + beginning).count("\n")
    if breaks or before.text.rstrip().endswith("```"):
        return "\n" * min(max(breaks, 1), 2)
    joined = (
        after.kind is BeatKind.SPEECH and not (ending or beginning) and _JOINED.match(after.text)
    )
    return "" if joined else " "


def _text(one: Shown) -> str:
    if isinstance(one, Revealed):
        return one.beat.text
    if not isinstance(one, PublicBeat):
        raise TypeError(f"{type(one).__name__} is no public beat")
    return one.text


def _planning_file(plans: Sequence[Revealed]) -> SpoilerFile:
    text = "\n\n".join(plan.beat.text.strip() for plan in plans)
    return SpoilerFile("SPOILER_planning.txt", text.encode("utf-8", "replace"))
