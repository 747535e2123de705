"""The scenario format: one YAML file, `personas/<id>/scenario.yaml`, with its pictures in the same
folder.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Annotated, Final

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    field_validator,
)

from bot.documents import NestedFault
from bot.library.normalise import normalise

MAX_CHARACTERS: Final = 40
"""The number of characters that a scenario can have."""

NARRATOR = "Environment"  # HER's name for the narrator, whom no user plays
_FORBIDDEN_IN_NAMES = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u2028\u2029:：<>@`]"
)  # these could forge a line, a tag or a mention
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_ADDRESS = re.compile(r"https://[^\s<>\"\\]+")
_LONGEST_ADDRESS = 2048


def _one_line(text: object) -> object:
    return " ".join(text.split()) if isinstance(text, str) else text


def _clean(text: str) -> str:
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if found := _CONTROL.search(text):
        raise ValueError(
            f"the text has the control character U+{ord(found.group()):04X}. Delete it"
        )
    return text


def _check_name(name: str) -> str:
    if found := _FORBIDDEN_IN_NAMES.search(name):
        raise ValueError(f"a name can't contain {found.group()!r}. Remove it from “{name}”")
    if not normalise(name):
        raise ValueError(f"“{name}” can't be addressed. Use a name with a letter in it")
    if normalise(name) == normalise(NARRATOR):
        raise ValueError(f"“{name}” is the narrator's name. Use another one")
    return name


def _check_address(face: str) -> str:
    if not _ADDRESS.fullmatch(face) or len(face) > _LONGEST_ADDRESS:
        raise ValueError(f"the face “{face[:80]}” must be an https:// address")
    return face


def _check_face(face: str) -> str:
    path = PurePosixPath(face)
    if _ADDRESS.fullmatch(face) and len(face) <= _LONGEST_ADDRESS:
        return face
    if (
        "://" in face
        or path.is_absolute()
        or ".." in path.parts
        or re.search(r"[\x00-\x1f\\:]", face)
    ):
        raise ValueError(
            f"the face “{face[:80]}” must be a file next to the scenario, or an https:// address"
        )
    return face


Line = Annotated[str, BeforeValidator(_one_line), StringConstraints(min_length=1, max_length=200)]
Prose = Annotated[
    str, StringConstraints(strip_whitespace=True, max_length=20_000), AfterValidator(_clean)
]
Note = Annotated[
    str,
    BeforeValidator(_one_line),
    StringConstraints(max_length=20_000),
    AfterValidator(_clean),
]
Name = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=80),
    AfterValidator(_check_name),
]
Face = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1), AfterValidator(_check_face)
]
FaceAddress = Annotated[
    str, StringConstraints(strip_whitespace=True), AfterValidator(_check_address)
]


class Document(BaseModel):
    """Base of the models read from YAML: immutable, and unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Example(Document):
    """A sample exchange in the character's voice.

    Stand-in models get two of them as earlier turns.
    """

    cue: Prose = Field(description="a line of another character, as `Name: words`")
    planning: Prose = Field(description="one sentence of planning, third person")
    thought: Prose = Field(description="the character's thought")
    action: Prose = Field(description="the character's action, visible to all")
    speech: Prose = Field(description="the character's words")

    @field_validator("cue")
    @classmethod
    def _has_speaker(cls, cue: str) -> str:
        speaker, colon, words = cue.partition(":")
        if not (colon and speaker.strip() and words.strip()):
            raise ValueError("a cue is a line of another character. Write `Name: words`, in quotes")
        return cue


class Character(Document):
    """One character of a scenario."""

    name: Name = Field(description="shown above the character's lines")
    profile: Prose = Field(default="", description="description of the character, for its own mind")
    description: Note = Field(
        default="",
        description="one line before the profile; only the character's own mind reads it",
    )
    experience: Note = Field(
        default="", description="one line after the profile; only the character's own mind reads it"
    )
    known_as: Prose = Field(
        default="", description="description for the other characters. Default: the profile"
    )
    motivation: Prose = Field(
        default="", description="the character's goal in this scene, for its own mind only"
    )
    aliases: tuple[Name, ...] = Field(
        default=(), max_length=20, description="other names that address it after `@`"
    )
    face: Face | None = Field(
        default=None, description="picture: a file next to the scenario, or an https address"
    )
    playable: bool = Field(default=True, description="whether players may take the part")
    talkativeness: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="how readily it speaks without being addressed in `auto` scenes, from 0 "
        "(never) to 1 (often)",
    )
    examples: tuple[Example, ...] = Field(default=(), max_length=8)


class Scenario(Document):
    """A playable scene of a book. Immutable: a running scene keeps the copy it started with."""

    id: str = Field(
        min_length=1,
        max_length=64,
        description="id of the scenario. Default: the folder's name",
    )
    title: Line = Field(description="title in lists")
    book: Line = Field(description="title of the book")
    author: str = Field(default="", max_length=200)
    language: str = Field(
        default="en", max_length=35, description="a language tag such as en or zh"
    )
    summary: Line = Field(description="one line for lists and autocomplete")
    background: Prose = Field(default="", description="events before the scene")
    setting: Prose = Field(min_length=1, description="the current scene: place, time and situation")
    opening: Prose = Field(
        default="", description="the first post of a scene. Default: the setting"
    )
    characters: tuple[Character, ...] = Field(min_length=1, max_length=MAX_CHARACTERS)

    @field_validator("id")
    @classmethod
    def _plain_id(cls, text: str) -> str:
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", text):
            raise ValueError(
                f"“{text}” is not an id. Use lower-case letters a to z and digits, separated "
                "by single hyphens"
            )
        return text

    @field_validator("characters")
    @classmethod
    def _names_differ(cls, characters: tuple[Character, ...]) -> tuple[Character, ...]:
        names = [normalise(character.name) for character in characters]
        for index, character in enumerate(characters):
            if names.index(names[index]) != index:
                raise NestedFault(
                    (index, "name"),
                    f"two characters are called {character.name}. Give each its own name",
                )
            for alias in character.aliases:
                if normalise(alias) in names and normalise(alias) != names[index]:
                    raise NestedFault(
                        (index, "aliases"),
                        f"{alias} is another character's name. Remove it from {character.name}'s "
                        "aliases",
                    )
        return characters

    def character(self, name: str) -> Character:
        """Return the character with exactly that name. Raise KeyError if it is missing."""
        for character in self.characters:
            if character.name == name:
                return character
        raise KeyError(name)


def add_character(scenario: Scenario, character: Character) -> Scenario:
    """Return the scenario with one more character, the last of the cast."""
    return scenario.model_copy(update={"characters": (*scenario.characters, character)})


def remove_character(scenario: Scenario, name: str) -> Scenario:
    """Return the scenario without the character of exactly that name."""
    others = tuple(one for one in scenario.characters if one.name != name)
    return scenario.model_copy(update={"characters": others})
