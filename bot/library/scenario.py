"""What a scenario says. One YAML file a scenario, `personas/<id>/scenario.yaml`, pictures beside it."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Annotated

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
from bot.library.normalise import normal

NARRATOR = "Environment"  # speaks for nobody; HER knows narration under this name
_FORBIDDEN_IN_NAMES = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u2028\u2029:：<>@`]"
)  # would forge a line, a tag, a mention
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_ADDRESS = re.compile(r"https://[^\s<>\"\\]+")


def _one_line(text: object) -> object:
    return " ".join(text.split()) if isinstance(text, str) else text


def _clean(text: str) -> str:
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if found := _CONTROL.search(text):
        raise ValueError(
            f"the control character U+{ord(found.group()):04X} stands in this text: delete it"
        )
    return text


def _fit_name(name: str) -> str:
    if found := _FORBIDDEN_IN_NAMES.search(name):
        raise ValueError(f"a name can't hold {found.group()!r}: leave it out of “{name}”")
    if not normal(name):
        raise ValueError(f"“{name}” can't be spoken: give a name with a letter in it")
    if normal(name) == normal(NARRATOR):
        raise ValueError(f"“{name}” is the narrator's own name: choose another")
    return name


def _fit_face(face: str) -> str:
    path = PurePosixPath(face)
    if _ADDRESS.fullmatch(face) and len(face) <= 2048:
        return face
    if (
        "://" in face
        or path.is_absolute()
        or ".." in path.parts
        or re.search(r"[\x00-\x1f\\:]", face)
    ):
        raise ValueError(
            f"the face “{face[:80]}” must be a file beside the scenario, or an https:// address"
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
    AfterValidator(_fit_name),
]
Face = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1), AfterValidator(_fit_face)
]


class Document(BaseModel):
    """Base of what is read from YAML: immutable, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Example(Document):
    """A worked exchange in the character's voice: stand-in models get two of them as earlier turns."""

    cue: Prose = Field(description="what another says, as `Name: words`")
    planning: Prose = Field(description="one sentence of planning, third person")
    thought: Prose = Field(description="what the character thinks")
    action: Prose = Field(description="what it does, for all to see")
    speech: Prose = Field(description="what it says")

    @field_validator("cue")
    @classmethod
    def _has_speaker(cls, cue: str) -> str:
        speaker, colon, words = cue.partition(":")
        if not (colon and speaker.strip() and words.strip()):
            raise ValueError("a cue is what another says: write `Name: words`, in quotes")
        return cue


class Character(Document):
    """One character of a scenario."""

    name: Name = Field(description="as it stands over what the character says")
    profile: Prose = Field(default="", description="who this is, as the one who plays it must know")
    description: Note = Field(
        default="",
        description="one line before the profile; only the character's own mind reads it",
    )
    experience: Note = Field(
        default="", description="one line after the profile; only the character's own mind reads it"
    )
    known_as: Prose = Field(
        default="", description="what the others know of it; empty: they get the profile"
    )
    motivation: Prose = Field(
        default="", description="what it wants in this scene; only its own mind reads this"
    )
    aliases: tuple[Name, ...] = Field(
        default=(), max_length=20, description="what else it may be called after `@`"
    )
    face: Face | None = Field(
        default=None, description="picture: a file beside the scenario, or an https address"
    )
    playable: bool = Field(default=True, description="whether players may take this part")
    talkativeness: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="how readily it speaks unasked where a scene is in `auto`: 0 never, 1 gladly",
    )
    examples: tuple[Example, ...] = Field(default=(), max_length=8)


class Scenario(Document):
    """A book's scene, ready to be played. Immutable: a scene keeps its own copy from its start."""

    id: str = Field(
        min_length=1,
        max_length=64,
        description="the folder's name, which it is taken from where left out",
    )
    title: Line = Field(description="what people call the scenario")
    book: Line = Field(description="the book it is from")
    author: str = Field(default="", max_length=200)
    language: str = Field(
        default="en", max_length=35, description="a language tag such as en or zh"
    )
    summary: Line = Field(description="one line for lists and autocomplete")
    background: Prose = Field(default="", description="what happened before")
    setting: Prose = Field(
        min_length=1, description="the current scene: where, when, what is going on"
    )
    opening: Prose = Field(
        default="", description="what is posted when the scene starts; empty: the setting"
    )
    characters: tuple[Character, ...] = Field(min_length=1, max_length=40)

    @field_validator("id")
    @classmethod
    def _plain_id(cls, text: str) -> str:
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", text):
            raise ValueError(
                f"“{text}” is no id: use small letters a to z and digits, with single hyphens between"
            )
        return text

    @field_validator("characters")
    @classmethod
    def _names_differ(cls, characters: tuple[Character, ...]) -> tuple[Character, ...]:
        names = [normal(character.name) for character in characters]
        for index, character in enumerate(characters):
            if names.index(names[index]) != index:
                raise NestedFault(
                    (index, "name"),
                    f"two characters are called {character.name}. Give each its own name",
                )
            for alias in character.aliases:
                if normal(alias) in names and normal(alias) != names[index]:
                    raise NestedFault(
                        (index, "aliases"),
                        f"{alias} is another character's name. Remove it from {character.name}'s "
                        "aliases",
                    )
        return characters

    def character(self, name: str) -> Character:
        """Return the character of exactly that name. Raises KeyError."""
        for character in self.characters:
            if character.name == name:
                return character
        raise KeyError(name)
