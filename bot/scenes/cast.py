"""Who plays what: the rules of joining and leaving a cast, as functions from scene to scene."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bot.errors import Refused, UnknownName
from bot.her.guards import plain_name
from bot.library.names import nearest, normal, spoken_names

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.scenes.scene import Part, Scene

_NARRATORS = {"environment", "narrator"}


def find(scene: Scene, name: str) -> Part:
    """Return the part that `name` means, in any spelling it may be called by.

    Raises UnknownName, naming the nearest.
    """
    spoken = spoken_names(scene.scenario.characters)
    if character := spoken.get(normal(name)):
        return scene.part(character)
    names = [part.character for part in scene.parts]
    listed = ", ".join(nearest(name, names) or names)
    raise UnknownName(f"Nobody in this scene is called “{name[:80]}”: choose one of {listed}.")


def join(scene: Scene, user_id: int, name: str) -> Scene:
    """Return the scene with this user playing that character and no other.

    Raises UnknownName, and Refused where another player has the part or players may not take it.
    """
    part = find(scene, name)
    if part.player_id == user_id:
        raise Refused(f"You play {part.character} already.")
    if part.player_id is not None:
        raise Refused(f"{part.character} is played by somebody else: ask them to `/cast leave`, or take another part.")
    if not scene.character(part.character).playable:
        raise Refused(f"{part.character} is not a part for players in this scenario: take another.")
    left = _without(scene, user_id)
    return _with(left, replace(left.part(part.character), player_id=user_id))


def leave(scene: Scene, user_id: int) -> tuple[Scene, str]:
    """Return the scene with the model playing this user's character again, and that character's name.

    Raises Refused where the user plays nobody.
    """
    part = scene.part_of(user_id)
    if part is None:
        raise Refused("You play nobody here, so there is nothing to leave; `/cast join` takes a part.")
    return _without(scene, user_id), part.character


def speaker(scene: Scene, user_id: int, display_name: str) -> str:
    """Return the name under which this user speaks: their character's, or their own.

    Somebody whose own name is a character's, or the environment's, is marked as a player, so that nobody can put
    words into a mouth that is not theirs.
    """
    if part := scene.part_of(user_id):
        return part.character
    name = plain_name(display_name)
    taken = _NARRATORS | spoken_names(scene.scenario.characters).keys()
    return f"{name} (player)" if normal(name) in taken else name


def with_roles(scene: Scene, roles: Mapping[str, int]) -> Scene:
    """Return the scene with these mentionable roles, character name to role id, in place of all earlier ones."""
    return replace(scene, parts=tuple(replace(part, role_id=roles.get(part.character)) for part in scene.parts))


def _without(scene: Scene, user_id: int) -> Scene:
    parts = (replace(part, player_id=None) if part.player_id == user_id else part for part in scene.parts)
    return replace(scene, parts=tuple(parts))


def _with(scene: Scene, changed: Part) -> Scene:
    parts = (changed if part.character == changed.character else part for part in scene.parts)
    return replace(scene, parts=tuple(parts))
