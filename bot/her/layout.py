"""One character's mind as messages: who it is, and what it has heard, in the layout that HER was trained with.

What enters a mind is decided by who made `heard`; what never enters one is decided here: no planning, no thoughts of
others, no tag or line that text could forge.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from bot.her.beats import BeatKind, select_public
from bot.her.sanitise import remove_headings, remove_speaker_labels, sanitise_name, sanitise_text
from bot.her.speaker_names import NARRATORS, normalise_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from bot.her.beats import Beat, PublicBeat

ENVIRONMENT = NARRATORS[0]
CONVERSATION_START = "===Conversation Start==="
PAUSE_LINE = "A moment passes."
"""What the environment says where the character is to go on right after its own turn."""

REQUIREMENTS = """\
You are to play {character}. Your reply has two parts, in strict order: system thinking, then the role's own part.
First, system thinking: inside <system_thinking> and </system_thinking>, analyse in the third person how to portray \
{character} here: what the character wants, knows and feels, and how to show it. Write it once, at the beginning.
Then the role's thought, speech and action. Put thoughts inside <role_thinking> and </role_thinking>: they are \
invisible to others. Put actions inside <role_action> and </role_action>: they are visible to others. Write speech \
without tags. Thoughts, actions and speech may be freely interleaved. All thinking is invisible to others.
Play only {character}, for one turn. Write no other names followed by a colon: never speak or act for anyone else. \
Stop when the turn is over. Keep it to about 200 words."""


class Role(StrEnum):
    """Whose message it is, in ChatML's words."""

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
    """Who a character is and where. Empty parts are left out of the prompt.

    `others` are the other characters with what this one knows of them, `motivation` is what it wants in this scene,
    `rules` are requirements beyond HER's own, one sentence or paragraph each.
    """

    character: str
    book: str = ""
    profile: str = ""
    background: str = ""
    scenario: str = ""
    others: tuple[tuple[str, str], ...] = ()
    motivation: str = ""
    rules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OwnTurn:
    """A turn of the character's own, with its thoughts."""

    beats: tuple[Beat, ...]


@dataclass(frozen=True, slots=True)
class HeardLine:
    """A turn of somebody else's, as everyone heard and saw it."""

    speaker: str
    beats: tuple[PublicBeat, ...]


@dataclass(frozen=True, slots=True)
class EnvironmentLine:
    """What the environment does or what is told by the narrator."""

    text: str


HeardItem: TypeAlias = OwnTurn | HeardLine | EnvironmentLine


def build_messages(sheet: CharacterSheet, heard: Sequence[HeardItem]) -> tuple[Message, ...]:
    """Return the chat that `sheet.character` answers next: one system message, then user and assistant by turns.

    It ends with a user message. Where the character has just spoken itself, that is a pause of the environment's;
    where nothing was said yet, there is only the system message, and the answer opens the scene.
    """
    return (
        Message(Role.SYSTEM, build_system_message(sheet)),
        *build_conversation(sheet, heard, marker=CONVERSATION_START),
    )


def build_system_message(sheet: CharacterSheet) -> str:
    """Return the system message: the sheet's sections in HER's order."""
    name = sanitise_name(sheet.character)
    book = f" from {_flat(sheet.book)}" if sheet.book.strip() else ""
    others = "\n".join(_other(*other) for other in sheet.others)
    rules = "\n".join(map(_section, sheet.rules))
    sections = (
        (f"{name}'s Profile", _section(sheet.profile)),
        ("Background", _section(sheet.background)),
        ("Current Scenario", _section(sheet.scenario)),
        ("Information about the other Characters", others),
        ("Your Inner Thoughts", _section(sheet.motivation)),
        ("Requirements", f"{REQUIREMENTS.format(character=name)}\n{rules}".strip()),
    )
    return f"You are {name}{book}.\n\n" + "\n".join(
        f"==={title}===\n{text}" for title, text in sections if text
    )


def build_conversation(
    sheet: CharacterSheet, heard: Sequence[HeardItem], *, marker: str = ""
) -> tuple[Message, ...]:
    """Return `heard` as messages of strictly alternating roles, `marker` at the head of the first user message."""
    names = _names(sheet, heard)
    turns: list[tuple[Role, str]] = []
    own: list[Beat] = []
    for item in heard:
        if isinstance(item, OwnTurn):
            own += item.beats
        elif line := _heard_line(item, names):
            _put_own(turns, sheet.character, own)
            _put(turns, Role.USER, line)
    _put_own(turns, sheet.character, own)
    if turns and turns[-1][0] is Role.ASSISTANT:
        _put(turns, Role.USER, f"{ENVIRONMENT}: {PAUSE_LINE}")
    return tuple(Message(role, text) for role, text in _marked(turns, marker))


def format_open_turn(character: str, beats: Sequence[Beat]) -> str:
    """Return a turn of the character's own as the model began it, planning and all, for it to go on with."""
    plans = " ".join(
        sanitise_text(beat.text).strip() for beat in beats if beat.kind is BeatKind.PLANNING
    )
    planned = f"<system_thinking>{plans}</system_thinking>" if plans else ""
    return planned + format_own_history(character, beats)


def format_own_history(character: str, beats: Sequence[Beat]) -> str:
    """Return a reply as it enters its own mind's history: with thoughts, without planning. Empty if nothing is left."""
    return _turn(
        character, [beat for beat in beats if beat.kind is not BeatKind.PLANNING], sanitise_text
    )


def format_others_history(character: str, beats: Sequence[Beat], names: Iterable[str] = ()) -> str:
    """Return a reply as it enters everyone else's history: speech and actions only. Empty if there are none.

    `names` are all who take part, whose lines it must not forge.
    """
    known = (character, *names)
    return _turn(
        character,
        select_public(tuple(beats)),
        lambda text: sanitise_text(remove_speaker_labels(text, known)),
    )


def _turn(character: str, beats: Iterable[Beat], guard: Callable[[str], str]) -> str:
    """A turn with its beats in tags, as in training: nothing but a space after speech stands between them."""
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


def _heard_line(item: HeardLine | EnvironmentLine, names: tuple[str, ...]) -> str:
    if isinstance(item, EnvironmentLine):
        text = sanitise_text(remove_speaker_labels(item.text, names))
        return f"{ENVIRONMENT}: {text}" if text else ""
    return format_others_history(_person(item.speaker), item.beats, names)


def _person(speaker: str) -> str:
    """The name before a line; nobody gets to speak as the environment by being called so."""
    return (
        f"“{speaker}”"
        if normalise_name(sanitise_name(speaker)) in map(normalise_name, NARRATORS)
        else speaker
    )


def _names(sheet: CharacterSheet, heard: Sequence[HeardItem]) -> tuple[str, ...]:
    names = [sheet.character, *(name for name, _ in sheet.others)]
    names += [item.speaker for item in heard if isinstance(item, HeardLine)]
    return tuple(dict.fromkeys(names))


def _put_own(turns: list[tuple[Role, str]], character: str, own: list[Beat]) -> None:
    """Write the beats of one or several turns of the character's own as one message, and forget them."""
    _put(turns, Role.ASSISTANT, format_own_history(character, own))
    own.clear()


def _put(turns: list[tuple[Role, str]], role: Role, text: str) -> None:
    if text and turns and turns[-1][0] is role:
        turns[-1] = (role, f"{turns[-1][1]}\n\n{text}")
    elif text:
        turns.append((role, text))


def _marked(turns: list[tuple[Role, str]], marker: str) -> list[tuple[Role, str]]:
    first = next((index for index, (role, _) in enumerate(turns) if role is Role.USER), None)
    if marker and first is not None:
        turns[first] = (Role.USER, f"{marker}\n\n{turns[first][1]}")
    return turns


def _section(text: str) -> str:
    return sanitise_text(remove_headings(text))


def _flat(text: str) -> str:
    return sanitise_text(" ".join(text.split()))


def _other(name: str, profile: str) -> str:
    told = _section(profile)
    return f"**{sanitise_name(name)}**: {told}" if told else f"**{sanitise_name(name)}**"
