"""Who plays what, who is on stage and who directs: the rules of it, as functions from scene to scene."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bot.errors import NameNotFound, Refused, Remedy
from bot.her.sanitise import sanitise_name
from bot.library.name_matching import nearest, normal, spoken_names

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.scenes.scene import Part, Scene

_NARRATORS = {"environment", "narrator"}


def find_part(scene: Scene, name: str) -> Part:
    """Return the part that `name` means, in any spelling it may be called by.

    Raises UnknownName, naming the nearest.
    """
    spoken = spoken_names(scene.scenario.characters)
    if character := spoken.get(normal(name)):
        return scene.part(character)
    names = [part.character for part in scene.parts]
    listed = ", ".join(nearest(name, names) or names)
    raise NameNotFound(
        f"No character of this scene is called “{name[:80]}”. Choose one of {listed}."
    )


def join(scene: Scene, user_id: int, name: str) -> Scene:
    """Return the scene with this user playing that character and no other.

    Raises UnknownName, and Refused where another player has the part or players may not take it.
    """
    require_not_muted(scene, user_id)
    part = find_part(scene, name)
    if part.player_id == user_id:
        raise Refused(f"You already play {part.character}.")
    if part.player_id is not None:
        raise Refused(
            f"Another player has the part of {part.character}.", Remedy.ASK_PLAYER_TO_LEAVE
        )
    if not scene.character(part.character).playable:
        raise Refused(
            f"Players can't take the part of {part.character} in this scenario. Choose another one."
        )
    return _given(scene, part.character, user_id)


def leave(scene: Scene, user_id: int, *, rest: bool = False) -> tuple[Scene, str]:
    """Return the scene without this user in the cast, and the name of their character: the model plays it again, or it
    rests.

    Raises Refused where the user plays nobody.
    """
    part = _own(scene, user_id, "so there is no part to leave")
    return _with(
        _without(scene, user_id), replace(part, player_id=None, rests=rest)
    ), part.character


def rest(scene: Scene, name: str, *, rests: bool) -> Scene:
    """Return the scene with nobody playing that character, or with the model playing it again.

    Raises UnknownName, and Refused where a player has it or it is so already.
    """
    part = find_part(scene, name)
    if part.player_id is not None:
        raise Refused(f"A player has the part of {part.character}.", Remedy.GIVE_PART_TO_MODEL)
    if part.rests is rests:
        raise Refused(
            f"{part.character} already rests."
            if rests
            else f"The model already plays {part.character}."
        )
    return _with(scene, replace(part, rests=rests))


def hand(scene: Scene, name: str, user_id: int | None) -> Scene:
    """Return the scene with this user playing that character, whoever played it before; None gives it to the model.

    Raises UnknownName, and Refused where it is so already or the user isn't heard in this scene.
    """
    part = find_part(scene, name)
    if part.player_id == user_id and not part.rests:
        raise Refused(
            f"They already play {part.character}."
            if user_id
            else f"The model already plays {part.character}."
        )
    if user_id is not None and user_id in scene.muted:
        raise Refused("They are muted in this scene.", Remedy.UNMUTE)
    return _given(scene, part.character, user_id)


def move(scene: Scene, user_id: int, name: str | None, *, absent: bool) -> tuple[Scene, str]:
    """Return the scene with a character gone off stage or come back, and its name: one's own where none is named.

    Anybody moves the character they play, game masters move every one. Raises UnknownName and Refused.
    """
    part = find_part(scene, name) if name else _own(scene, user_id, "so name a character")
    if part.player_id != user_id and not scene.is_gm(user_id):
        raise Refused(f"Only the game master and the player of {part.character} can do that.")
    if part.absent is absent:
        raise Refused(f"{part.character} is already {'off stage' if absent else 'on stage'}.")
    return _with(scene, replace(part, absent=absent)), part.character


def add_gm(scene: Scene, user_id: int) -> Scene:
    """Return the scene with this user among its game masters. Raises Refused where they are."""
    if scene.is_gm(user_id):
        raise Refused("They are already a game master of this scene.")
    kicked = tuple(one for one in scene.muted if one != user_id)
    return replace(scene, gm_ids=(*scene.gm_ids, user_id), muted=kicked)


def remove_gm(scene: Scene, user_id: int) -> Scene:
    """Return the scene without this user among its game masters. Raises Refused where nobody would be left."""
    if not scene.is_gm(user_id):
        raise Refused("They are not a game master of this scene.")
    left = tuple(one for one in scene.gm_ids if one != user_id)
    if not left:
        raise Refused("A scene needs at least one game master.", Remedy.HAND_OVER)
    return replace(scene, gm_ids=left)


def mute(scene: Scene, user_id: int) -> Scene:
    """Return the scene in which this user isn't heard any more; the model plays their character again.

    Raises Refused for game masters, and where it is so already.
    """
    if scene.is_gm(user_id):
        raise Refused("They are a game master of this scene.", Remedy.REMOVE_GM)
    if user_id in scene.muted:
        raise Refused("They are already muted.", Remedy.UNMUTE)
    return replace(_without(scene, user_id), muted=(*scene.muted, user_id))


def unmute(scene: Scene, user_id: int) -> Scene:
    """Return the scene in which this user is heard again. Raises Refused where they are."""
    if user_id not in scene.muted:
        raise Refused("They are not muted in this scene.")
    return replace(scene, muted=tuple(one for one in scene.muted if one != user_id))


def require_not_muted(scene: Scene, user_id: int) -> None:
    """Raise Refused where this user was sent out of the scene."""
    if user_id in scene.muted:
        raise Refused("The game master has muted you in this scene.")


def speaker_name(scene: Scene, user_id: int, display_name: str) -> str:
    """Return the name under which this user speaks: their character's, or their own.

    Somebody whose own name is a character's, or the environment's, is marked as a player, so that nobody can put
    words into a mouth that is not theirs.
    """
    if part := scene.part_of(user_id):
        return part.character
    name = sanitise_name(display_name)
    taken = _NARRATORS | spoken_names(scene.scenario.characters).keys()
    return f"{name} (player)" if normal(name) in taken else name


def assign_roles(scene: Scene, roles: Mapping[str, int]) -> Scene:
    """Return the scene with these mentionable roles, character name to role id, in place of all earlier ones."""
    return replace(
        scene, parts=tuple(replace(part, role_id=roles.get(part.character)) for part in scene.parts)
    )


def _own(scene: Scene, user_id: int, consequence: str) -> Part:
    if (part := scene.part_of(user_id)) is None:
        raise Refused(f"You don't play a character here, {consequence}.", Remedy.JOIN_CAST)
    return part


def _given(scene: Scene, character: str, user_id: int | None) -> Scene:
    left = scene if user_id is None else _without(scene, user_id)
    return _with(left, replace(left.part(character), player_id=user_id, rests=False))


def _without(scene: Scene, user_id: int) -> Scene:
    parts = (
        replace(part, player_id=None) if part.player_id == user_id else part for part in scene.parts
    )
    return replace(scene, parts=tuple(parts))


def _with(scene: Scene, changed: Part) -> Scene:
    parts = (changed if part.character == changed.character else part for part in scene.parts)
    return replace(scene, parts=tuple(parts))
