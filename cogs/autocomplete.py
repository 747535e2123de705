"""What autocomplete offers: at most 25 choices of at most 100 characters, as Discord allows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discord import app_commands

from bot.library.name_matching import normal

if TYPE_CHECKING:
    from bot.scenes.scene import Scene

MAX_CHOICES = 25
_LONGEST = 100


def text_choice(name: str, value: str) -> app_commands.Choice[str]:
    """Return a choice shown as `name` and sent as `value`, both cut to what Discord takes."""
    shown = name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
    return app_commands.Choice(name=shown, value=value[:_LONGEST])


def scene_choice(one: Scene) -> app_commands.Choice[str]:
    """Return a stored scene as a choice: what is played in it, its number, and when it began."""
    begun = f"{one.started_at:%d %b %Y %H:%M} UTC"
    return text_choice(f"{one.scenario.title[:60]} · scene {one.id} · begun {begun}", str(one.id))


def matches_scene(typed: str, one: Scene) -> bool:
    """Whether `typed` may be the beginning of this scene's number, or a part of its title or book."""
    return str(one.id).startswith(typed.strip()) or normal(typed) in normal(
        f"{one.scenario.title} {one.scenario.book}"
    )


def numbered_choice(number: int, text: str) -> app_commands.Choice[int]:
    """Return a choice of something that has a number, shown with the beginning of its text."""
    shown = f"{number}. {' '.join(text.split())}"
    return app_commands.Choice(
        name=shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}…", value=number
    )


def character_choices(scene: Scene | None, typed: str) -> list[app_commands.Choice[str]]:
    """Return the scene's characters whose name has what was typed in it; none where no scene is under way."""
    names = [part.character for part in scene.parts] if scene else []
    return [text_choice(name, name) for name in names if normal(typed) in normal(name)][
        :MAX_CHOICES
    ]
