"""Renders beats as Discord messages: speech plain, actions in italics, thoughts under spoilers.

The types enforce who may see what. A private beat is accepted only as a `Revealed`, together with
the decision that releases it, and only by the function for that audience.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from bot.her.beats import BeatKind, PublicBeat
from bot.library.normalise import is_blank
from bot.posting.escaping import escape_name, escape_text
from bot.posting.graphemes import utf16_length
from bot.posting.speech_markdown import parse_speech
from bot.posting.split import MESSAGE_LIMIT, FormattedRun, Markup, split_into_messages
from bot.scenes.reveal import Audience, Revealed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

EMBED_LIMIT = 4_096
"""The length that Discord allows for an embed's description."""

Shown: TypeAlias = PublicBeat | Revealed

_LABELS = {BeatKind.THOUGHT: "💭", BeatKind.PLANNING: "📝"}
HIDDEN_LABEL = "-# ✂️ not part of the story"
"""The first line of a reply that was taken out of the story."""

_COVER = Markup("||", "||")
_ITALICS = Markup("*", "*")
_SPOILERS = {kind: Markup(f"{label} ||", "||") for kind, label in _LABELS.items()}
_JOINED = re.compile(r"[,;:!?)”]|\.(?!\.)")


@dataclass(frozen=True, slots=True, repr=False)
class SpoilerFile:
    """A file whose name starts with SPOILER_, which Discord hides until it is clicked."""

    name: str
    content: bytes


@dataclass(frozen=True, slots=True, repr=False)
class Outgoing:
    """One message, ready to be sent.

    `text` is the message's text, or the description of an embed if there is an `author`. The repr
    does not contain the text.
    """

    text: str
    files: tuple[SpoilerFile, ...] = ()
    author: str | None = None

    def __repr__(self) -> str:
        return f"Outgoing({len(self.text)} characters, {len(self.files)} files)"


def render_public_messages(
    shown: Sequence[Shown], *, head: str = "", spare: int = 0
) -> list[Outgoing]:
    """Return the channel's messages for a take: the planning, then everything else in order.

    `shown` comes from `RevealPolicy.shown`. Each message starts with `head` and leaves room for
    `spare` UTF-16 units. Planning that is too long for one message becomes a file. Raises TypeError
    if a beat is neither public nor revealed, and ValueError if it was revealed to another audience.
    """
    plans = _select(
        [beat for beat in shown if not isinstance(beat, PublicBeat)],
        Audience.CHANNEL,
        BeatKind.PLANNING,
    )
    rest = [
        beat
        for beat in shown
        if isinstance(beat, PublicBeat) or beat.beat.kind is not BeatKind.PLANNING
    ]
    planned = list(_to_runs(plans))
    limit = MESSAGE_LIMIT - utf16_length(head) - spare
    files: tuple[SpoilerFile, ...] = ()
    if len(split_into_messages(planned, limit)) > 1:
        planned = []
        files = (_planning_file(plans),)
    texts = split_into_messages([*planned, FormattedRun("\n"), *_to_runs(rest)], limit)
    if files and not texts:
        texts = [_LABELS[BeatKind.PLANNING]]
    return [Outgoing(head + text, () if number else files) for number, text in enumerate(texts)]


def render_gm_messages(character: str, freed: Sequence[Revealed]) -> list[Outgoing]:
    """Return the private beats of a take as embeds for a game master.

    Raises TypeError if a beat is not revealed, and ValueError if it was revealed to another
    audience.
    """
    beats = [
        *_select(freed, Audience.GM, BeatKind.PLANNING),
        *_select(freed, Audience.GM, BeatKind.THOUGHT),
    ]
    runs = [
        FormattedRun(f"{_LABELS[one.beat.kind]} {escape_text(one.beat.text.strip())}\n\n")
        for one in beats
    ]
    return [Outgoing(text, author=character) for text in split_into_messages(runs, EMBED_LIMIT)]


def render_player_messages(
    character: str, freed: Sequence[Revealed], reader_id: int
) -> list[Outgoing]:
    """Return the thoughts that were opened to this player as messages.

    Raises TypeError if a beat is not revealed, and ValueError if it was revealed to another
    audience or to another player.
    """
    thoughts = _select(freed, Audience.PLAYER, BeatKind.THOUGHT)
    if any(one.reader_id != reader_id for one in freed):
        raise ValueError("revealed to another player")
    runs = [FormattedRun(f"**{escape_name(character)}**\n")]
    runs += [
        FormattedRun(f"{_LABELS[BeatKind.THOUGHT]} {escape_text(one.beat.text.strip())}\n\n")
        for one in thoughts
    ]
    return [Outgoing(text) for text in split_into_messages(runs, MESSAGE_LIMIT)]


def render_covered_messages(
    beats: Sequence[PublicBeat], *, head: str = "", count: int
) -> list[Outgoing]:
    """Return exactly `count` messages for a reply that was taken out of the story.

    They contain its public text under spoilers, as much of it as fits.
    """
    head += f"{HIDDEN_LABEL}\n"
    runs = (FormattedRun(run.text, (_COVER, *run.marks)) for run in _to_runs(beats))
    texts = split_into_messages(runs, MESSAGE_LIMIT - utf16_length(head))[:count]
    return [Outgoing(head + text) for text in (*texts, *[""] * (count - len(texts)))]


def render_runs(beats: Iterable[PublicBeat]) -> list[FormattedRun]:
    """Return public beats as runs, for texts such as a history."""
    return list(_to_runs(beats))


def plain_text(outgoing: Outgoing) -> str:
    """Return a message as one text for output outside Discord, with the names of its files."""
    files = (f"[{file.name}]" for file in outgoing.files)
    return "\n".join(part for part in (outgoing.author, outgoing.text, *files) if part)


def _select(freed: Sequence[Revealed], audience: Audience, kind: BeatKind) -> list[Revealed]:
    """Return the revealed beats of one kind that are not blank.

    Raises TypeError and ValueError if this audience may not see all of them.
    """
    for one in freed:
        if not isinstance(one, Revealed):
            raise TypeError(f"{type(one).__name__} is not a revealed beat")
        if one.audience is not audience:
            raise ValueError(f"revealed to {one.audience}, not to {audience}")
    return [one for one in freed if one.beat.kind is kind and not is_blank(one.beat.text)]


def _to_runs(shown: Iterable[Shown]) -> Iterator[FormattedRun]:
    """Yield beats as runs: speech and actions side by side, each thought on its own line."""
    before: Shown | None = None
    for one in shown:
        text = _text(one)
        if is_blank(text):
            continue
        if before is not None:
            yield FormattedRun(_gap(before, one))
        yield from _beat_runs(one, text.strip())
        before = one


def _beat_runs(one: Shown, text: str) -> Iterable[FormattedRun]:
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
    """Return the separator of two beats: their line breaks, a space, or an empty string."""
    if isinstance(before, Revealed) or isinstance(after, Revealed):
        return "\n"
    ending = before.text[len(before.text.rstrip()) :]
    beginning = after.text[: -len(after.text.lstrip())]
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
        raise TypeError(f"{type(one).__name__} is not a public beat")
    return one.text


def _planning_file(plans: Sequence[Revealed]) -> SpoilerFile:
    text = "\n\n".join(plan.beat.text.strip() for plan in plans)
    return SpoilerFile("SPOILER_planning.txt", text.encode("utf-8", "replace"))
