"""Turn one character's mind into chat messages, in the layout that HER was trained with.

The caller decides what a mind has heard. This module keeps out what must never enter a prompt:
planning, the thoughts of others, and tags or speaker labels forged by text.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

from bot.her.beats import BeatKind, select_public
from bot.her.player_text import read_environment
from bot.her.sanitise import remove_headings, remove_speaker_labels, sanitise_name, sanitise_text
from bot.her.speaker_names import NARRATORS, normalise_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from bot.her.beats import Beat, PublicBeat

ENVIRONMENT = NARRATORS[0]
CONVERSATION_START = "===Conversation Start==="
PAUSE_LINE = "A moment passes."
"""The environment's line if the character has just spoken and is to speak again."""

OTHERS_HEADING = "Information about other Characters"
"""As in the final training data. Earlier steps of the authors' pipeline have "the other"."""

REQUIREMENTS = """\
Your reply has two parts, in strict order: system thinking, then the role-play response.
1. System thinking: exactly one block at the very beginning, inside <system_thinking> and \
</system_thinking>. It analyses in the third person how to portray {character}.
2. Role-play response: {character}'s thought, speech and action. Put thoughts inside \
<role_thinking> and </role_thinking> (invisible to others) and actions inside <role_action> and \
</role_action> (visible to others). Write speech without tags. Thought, speech and action may be \
interleaved freely and repeated.
(System thinking and role thinking are invisible to others.)
Play only {character}, for one turn. Never write another name followed by a colon. Stop when the \
turn is over. Write about 200 words."""
"""The Requirements section if the model's own is unknown.

It follows the structure of the training data, with one line of rules for inference at the end. The
wording is Aside's, not that of HER's authors.
"""


class Role(StrEnum):
    """The author of a message, as ChatML names it."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class CharacterSheet:
    """The contents of a character's system message. The prompt leaves out empty parts.

    `description` and `experience` are single lines around the profile. `others` holds the names of
    the other characters and the facts that this one knows about them. `memory` is what the
    character remembers of turns that are not in the conversation. It ends the Background section.
    `motivation` is the character's aim in the scene. `requirements` is the text of the Requirements
    section, in which `{character}` is replaced by the character's name. It comes from the operator,
    so that it keeps its tags.
    """

    character: str
    book: str = ""
    description: str = ""
    profile: str = ""
    experience: str = ""
    background: str = ""
    memory: str = ""
    scenario: str = ""
    others: tuple[tuple[str, str], ...] = ()
    motivation: str = ""
    requirements: str = REQUIREMENTS


@dataclass(frozen=True, slots=True)
class OwnTurn:
    """One of the character's own turns, with its thoughts."""

    beats: tuple[Beat, ...]


@dataclass(frozen=True, slots=True)
class HeardLine:
    """Another speaker's turn, as everyone heard and saw it."""

    speaker: str
    beats: tuple[PublicBeat, ...]


@dataclass(frozen=True, slots=True)
class EnvironmentLine:
    """A line of the environment or the narrator."""

    text: str


HeardItem: TypeAlias = OwnTurn | HeardLine | EnvironmentLine


def build_messages(sheet: CharacterSheet, heard: Sequence[HeardItem]) -> tuple[Message, ...]:
    """Return the chat that `sheet.character` answers next.

    It is one system message, then user and assistant messages that alternate strictly. The last one
    is a user message. If the character itself spoke last, that message is a pause of the
    environment's. If `heard` is empty, there is only the system message, and the character opens
    the scene.
    """
    return (
        Message(Role.SYSTEM, build_system_message(sheet)),
        *build_conversation(sheet, heard, marker=CONVERSATION_START),
    )


def build_system_message(sheet: CharacterSheet) -> str:
    """Return the system message: the sheet's sections in HER's order."""
    name = sanitise_name(sheet.character)
    book = f" from {_join_lines(sheet.book)}" if sheet.book.strip() else ""
    others = "\n\n".join(_format_other(*other) for other in sheet.others)
    sections = (
        (f"{name}'s Profile", _format_profile(sheet)),
        ("Background", _clean_section(f"{sheet.background}\n\n{sheet.memory}")),
        ("Current Scenario", _clean_section(sheet.scenario)),
        (OTHERS_HEADING, others),
        ("Your Inner Thoughts", _clean_section(sheet.motivation)),
        ("Requirements", sheet.requirements.strip().replace("{character}", name)),
    )
    blocks = (f"==={title}===\n{text}" for title, text in sections if text)
    return "\n\n".join((f"You are {name}{book}.", *blocks))


def build_conversation(
    sheet: CharacterSheet, heard: Sequence[HeardItem], *, marker: str = ""
) -> tuple[Message, ...]:
    """Return `heard` as alternating messages. The first user message begins with `marker`."""
    names = _collect_names(sheet, heard)
    turns: list[tuple[Role, str]] = []
    own: list[Beat] = []
    for item in heard:
        if isinstance(item, OwnTurn):
            own += item.beats
        elif line := _format_heard(item, names):
            _append_own(turns, sheet.character, own)
            _append(turns, Role.USER, line)
    _append_own(turns, sheet.character, own)
    if turns and turns[-1][0] is Role.ASSISTANT:
        _append(turns, Role.USER, f"{ENVIRONMENT}: {PAUSE_LINE}")
    return tuple(Message(role, text) for role, text in _add_marker(turns, marker))


def format_open_turn(character: str, beats: Sequence[Beat]) -> str:
    """Return the character's unfinished turn, planning included, for the model to continue."""
    plans = " ".join(
        sanitise_text(beat.text).strip() for beat in beats if beat.kind is BeatKind.PLANNING
    )
    planned = f"<system_thinking>{plans}</system_thinking>" if plans else ""
    return planned + format_own_history(character, beats)


def format_own_history(character: str, beats: Sequence[Beat]) -> str:
    """Return a reply as it enters the character's own history: with thoughts, without planning.

    The text is empty if the reply holds only planning.
    """
    return _format_turn(
        character, [beat for beat in beats if beat.kind is not BeatKind.PLANNING], sanitise_text
    )


def format_others_history(character: str, beats: Sequence[Beat], names: Iterable[str] = ()) -> str:
    """Return a reply as it enters everyone else's history: speech and actions only.

    The text is empty if the reply has neither. `names` are all participants. The reply can't forge
    a line of theirs.
    """
    known = (character, *names)
    return _format_turn(
        character,
        select_public(tuple(beats)),
        lambda text: sanitise_text(remove_speaker_labels(text, known)),
    )


def _format_turn(character: str, beats: Iterable[Beat], guard: Callable[[str], str]) -> str:
    """Return a turn with its beats in tags, as in training. A space follows speech only."""
    turn = ""
    for beat in beats:
        if text := guard(beat.text).strip():
            turn += " " * (bool(turn) and not turn.endswith(">")) + _TAGGED[beat.kind].format(text)
    return f"{sanitise_name(character)}: {turn}" if turn else ""


_TAGGED = {
    BeatKind.THOUGHT: "<role_thinking>{}</role_thinking>",
    BeatKind.ACTION: "<role_action>{}</role_action>",
    BeatKind.SPEECH: "{}",
}


def _format_heard(item: HeardLine | EnvironmentLine, names: tuple[str, ...]) -> str:
    if isinstance(item, EnvironmentLine):
        text = sanitise_text(remove_speaker_labels(item.text, names))
        return f"{ENVIRONMENT}: {text}" if text else ""
    speaker = _quote_narrator(item.speaker)
    parts: list[str] = []
    for is_event, group in groupby(item.beats, lambda beat: read_environment(beat) is not None):
        beats = tuple(group)
        if not is_event:
            parts.append(format_others_history(speaker, beats, names))
            continue
        events = (EnvironmentLine(read_environment(beat) or "") for beat in beats)
        parts += [_format_heard(event, names) for event in events]
    return "\n\n".join(filter(None, parts))


def _quote_narrator(speaker: str) -> str:
    """Return the name to put before a line, in quotation marks if it is a narrator's."""
    return (
        f"“{speaker}”"
        if normalise_name(sanitise_name(speaker)) in map(normalise_name, NARRATORS)
        else speaker
    )


def _collect_names(sheet: CharacterSheet, heard: Sequence[HeardItem]) -> tuple[str, ...]:
    names = [sheet.character, *(name for name, _ in sheet.others)]
    names += [item.speaker for item in heard if isinstance(item, HeardLine)]
    return tuple(dict.fromkeys(names))


def _append_own(turns: list[tuple[Role, str]], character: str, own: list[Beat]) -> None:
    """Append the beats of one or several own turns as one message, then clear `own`."""
    _append(turns, Role.ASSISTANT, format_own_history(character, own))
    own.clear()


def _append(turns: list[tuple[Role, str]], role: Role, text: str) -> None:
    if text and turns and turns[-1][0] is role:
        turns[-1] = (role, f"{turns[-1][1]}\n\n{text}")
    elif text:
        turns.append((role, text))


def _add_marker(turns: list[tuple[Role, str]], marker: str) -> list[tuple[Role, str]]:
    first = next((index for index, (role, _) in enumerate(turns) if role is Role.USER), None)
    if marker and first is not None:
        turns[first] = (Role.USER, f"{marker}\n\n{turns[first][1]}")
    return turns


def _clean_section(text: str) -> str:
    return sanitise_text(remove_headings(text))


def _format_profile(sheet: CharacterSheet) -> str:
    description, experience = map(_join_lines, (sheet.description, sheet.experience))
    lines = (
        f"description: {description}" if description else "",
        _clean_section(sheet.profile),
        f"experience: {experience}" if experience else "",
    )
    return "\n".join(filter(None, lines))


def _join_lines(text: str) -> str:
    return sanitise_text(" ".join(text.split()))


def _format_other(name: str, profile: str) -> str:
    text = _clean_section(profile)
    return f"**{sanitise_name(name)}**: {text}" if text else f"**{sanitise_name(name)}**"
