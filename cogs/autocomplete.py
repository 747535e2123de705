"""Autocomplete choices within Discord's limits: 25 choices of up to 100 characters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discord import app_commands

from bot.library.normalise import normalise

if TYPE_CHECKING:
    from bot.scenes.own_characters import StoredCharacter
    from bot.scenes.scene import Scene

MAX_CHOICES = 25
_LONGEST = 100
_OWN = "own:"  # a colon can't be in a character's name


def text_choice(name: str, value: str) -> app_commands.Choice[str]:
    """Return a choice that shows `name` and sends `value`, both cut to Discord's limit."""
    label = name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
    return app_commands.Choice(name=label, value=value[:_LONGEST])


def scene_choice(scene: Scene) -> app_commands.Choice[str]:
    """Return a choice for a stored scene: its title, its number and its start time."""
    start = f"{scene.started_at:%d %b %Y %H:%M} UTC"
    return text_choice(
        f"{scene.scenario.title[:60]} · scene {scene.id} · started {start}", str(scene.id)
    )


def matches_scene(typed: str, scene: Scene) -> bool:
    """Return whether the scene's number begins with `typed`, or its title or book contains it."""
    return str(scene.id).startswith(typed.strip()) or normalise(typed) in normalise(
        f"{scene.scenario.title} {scene.scenario.book}"
    )


def make_numbered_choice(number: int, text: str) -> app_commands.Choice[int]:
    """Return a choice that shows a number and the beginning of a text, and sends the number."""
    label = f"{number}. {' '.join(text.split())}"
    return app_commands.Choice(
        name=label if len(label) <= _LONGEST else f"{label[: _LONGEST - 1]}…", value=number
    )


def character_choices(scene: Scene | None, typed: str) -> list[app_commands.Choice[str]]:
    """Return choices for the scene's characters whose names contain `typed`."""
    names = [part.character for part in scene.parts] if scene else []
    return [text_choice(name, name) for name in names if normalise(typed) in normalise(name)][
        :MAX_CHOICES
    ]


def own_choice(one: StoredCharacter) -> app_commands.Choice[str]:
    """Return a choice for a person's own character. `read_own_id` reads its value."""
    return text_choice(f"{one.sheet.name} (your own)", f"{_OWN}{one.id}")


def read_own_id(value: str) -> int | None:
    """Return the id of the own character that was chosen, or None for a name."""
    number = value.removeprefix(_OWN)
    return int(number) if value.startswith(_OWN) and number.isdecimal() else None
