"""What a scenario says. One YAML file a scenario, `personas/<id>/scenario.yaml`, pictures beside it."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator, model_validator

Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
Prose = Annotated[str, StringConstraints(strip_whitespace=True, max_length=20_000)]
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=80, pattern=r"^[^:\r\n]+$")]


class Document(BaseModel):
    """Base of what is read from YAML: immutable, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Example(Document):
    """A worked exchange in the character's voice: stand-in models get two of them as earlier turns."""

    cue: Prose = Field(description="what another says, as `Name: words`")
    planning: Prose = Field(description="one sentence of planning, third person")
    thought: Prose
    action: Prose
    speech: Prose


class Character(Document):
    """One character of a scenario."""

    name: Name
    profile: Prose = Field(default="", description="who this is, as the one who plays it must know")
    known_as: Prose = Field(default="", description="what the others know of it; empty: they get the profile")
    motivation: Prose = Field(default="", description="what it wants in this scene; only its own mind reads this")
    aliases: tuple[Name, ...] = ()
    face: str | None = Field(default=None, description="picture: a file beside the scenario, or an https address")
    playable: bool = Field(default=True, description="whether players may take this part")
    examples: tuple[Example, ...] = ()


class Scenario(Document):
    """A book's scene, ready to be played. Immutable: a scene keeps its own copy from its start."""

    id: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=64, description="the folder's name")
    title: Line
    book: Line
    author: str = ""
    language: str = "en"
    summary: Line = Field(description="one line for lists and autocomplete")
    background: Prose = Field(default="", description="what happened before")
    setting: Prose = Field(description="the current scene: where, when, what is going on")
    opening: Prose = Field(default="", description="what is posted when the scene starts; empty: the setting")
    characters: tuple[Character, ...] = Field(min_length=1, max_length=40)

    @field_validator("characters")
    @classmethod
    def _names_differ(cls, characters: tuple[Character, ...]) -> tuple[Character, ...]:
        seen: set[str] = set()
        for character in characters:
            if (key := character.name.casefold()) in seen:
                raise ValueError(f"two characters are called {character.name}: give each its own name")
            seen.add(key)
        return characters

    @model_validator(mode="after")
    def _has_opening(self) -> Scenario:
        if not (self.setting or self.opening):
            raise ValueError("a scenario needs a setting: say where and when it plays")
        return self

    def character(self, name: str) -> Character:
        """Return the character of exactly that name. Raises KeyError."""
        for character in self.characters:
            if character.name == name:
                return character
        raise KeyError(name)
