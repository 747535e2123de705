"""The rules of the cast, the stage and the direction, as functions from scene to scene."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bot.errors import NameNotFound, Refused, Remedy
from bot.her.sanitise import sanitise_name
from bot.library.name_matching import addressable_names, find_nearest, map_spoken_names
from bot.library.normalise import normalise
from bot.library.scenario import MAX_CHARACTERS, NARRATOR, add_character, remove_character
from bot.scenes.scene import Part

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.scenes.scene import OwnCopy, Scene

_NARRATORS = {"environment", "narrator"}


def find_part(scene: Scene, name: str) -> Part:
    """Return the part of the character that `name` means, in any spelling the character has.

    Raises NameNotFound, which suggests the nearest names.
    """
    spoken = map_spoken_names(scene.scenario.characters)
    if character := spoken.get(normalise(name)):
        return scene.part(character)
    if several := addressable_names(scene.scenario.characters).get(normalise(name)):
        raise NameNotFound(
            f"“{name[:80]}” fits several characters of this scene. Choose one of "
            f"{', '.join(several)}."
        )
    names = [part.character for part in scene.parts]
    listed = ", ".join(find_nearest(name, names) or names)
    raise NameNotFound(
        f"No character of this scene is called “{name[:80]}”. Choose one of {listed}."
    )


def join(scene: Scene, user_id: int, name: str) -> Scene:
    """Return the scene in which this user plays that character and no other.

    Raises NameNotFound. Raises Refused if another player has the part, if players may not take it,
    or if the user is muted.
    """
    require_not_muted(scene, user_id)
    part = find_part(scene, name)
    if part.player_id == user_id:
        raise Refused(f"You already play {part.character}.")
    _require_owner(part, user_id)
    if part.player_id is not None:
        raise Refused(
            f"Another player has the part of {part.character}.", Remedy.ASK_PLAYER_TO_LEAVE
        )
    if not scene.character(part.character).playable:
        raise Refused(
            f"Players can't take the part of {part.character} in this scenario. Choose another one."
        )
    return _give_part(scene, part.character, user_id)


def leave(
    scene: Scene, user_id: int, *, rest: bool = False, stay: bool = False
) -> tuple[Scene, str]:
    """Return the scene in which this user plays no character, and the name of their former one.

    The model plays that character again, or with `rest` it rests. The user's own character leaves
    the scene, unless it should rest or `stay` for the model. Raises Refused if the user plays no
    character.
    """
    part = _require_own_part(scene, user_id, "so you can't leave a part")
    if part.own is not None and not (rest or stay):
        return take_out(scene, part.character), part.character
    return _replace_part(scene, replace(part, player_id=None, rests=rest)), part.character


def rest(scene: Scene, name: str, *, rests: bool) -> Scene:
    """Return the scene in which that character rests, or in which the model plays it again.

    Raises NameNotFound. Raises Refused if a player has the part, or if the part would not change.
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
    return _replace_part(scene, replace(part, rests=rests))


def hand(scene: Scene, name: str, user_id: int | None) -> Scene:
    """Return the scene in which this user plays that character; without a user, the model.

    Raises NameNotFound. Raises Refused if the part would not change, or if the user is muted.
    """
    part = find_part(scene, name)
    if part.player_id == user_id and not part.rests:
        raise Refused(
            f"They already play {part.character}."
            if user_id
            else f"The model already plays {part.character}."
        )
    if part.own is not None and part.player_id is not None:
        raise Refused(
            f"Only its player can leave {part.character} to the model.",
            Remedy.TAKE_OUT_OWN_CHARACTER,
        )
    if user_id is not None:
        _require_owner(part, user_id)
    if user_id is not None and user_id in scene.muted:
        raise Refused("They are muted in this scene.", Remedy.UNMUTE)
    return _give_part(scene, part.character, user_id)


def move(scene: Scene, user_id: int, name: str | None, *, absent: bool) -> tuple[Scene, str]:
    """Return the scene in which a character has left or entered the stage, and its name.

    Without a name, it is the user's own character. Players may move their own character, game
    masters every one. Raises NameNotFound and Refused.
    """
    part = (
        find_part(scene, name) if name else _require_own_part(scene, user_id, "so name a character")
    )
    if part.player_id != user_id and not scene.is_gm(user_id):
        raise Refused(f"Only the game master and the player of {part.character} can do that.")
    if part.absent is absent:
        raise Refused(f"{part.character} is already {'off stage' if absent else 'on stage'}.")
    return _replace_part(scene, replace(part, absent=absent)), part.character


def add_gm(scene: Scene, user_id: int) -> Scene:
    """Return the scene with this user as a game master. Raises Refused if they are one."""
    if scene.is_gm(user_id):
        raise Refused("They are already a game master of this scene.")
    muted = tuple(one for one in scene.muted if one != user_id)
    return replace(scene, gm_ids=(*scene.gm_ids, user_id), muted=muted)


def remove_gm(scene: Scene, user_id: int) -> Scene:
    """Return the scene without this game master. Raises Refused if no other one is left."""
    if not scene.is_gm(user_id):
        raise Refused("They are not a game master of this scene.")
    others = tuple(one for one in scene.gm_ids if one != user_id)
    if not others:
        raise Refused("A scene needs at least one game master.", Remedy.HAND_OVER)
    return replace(scene, gm_ids=others)


def mute(scene: Scene, user_id: int) -> Scene:
    """Return the scene in which this user is not heard.

    The model plays their character again. Their own character leaves the scene. Raises Refused if
    the user is a game master or already muted.
    """
    if scene.is_gm(user_id):
        raise Refused("They are a game master of this scene.", Remedy.REMOVE_GM)
    if user_id in scene.muted:
        raise Refused("They are already muted.", Remedy.UNMUTE)
    return replace(_remove_player(scene, user_id), muted=(*scene.muted, user_id))


def listen(scene: Scene, bot_id: int, *, heard: bool) -> Scene:
    """Return the scene that hears this bot as the environment, or does so no longer.

    Raises Refused if that would not change.
    """
    if heard is (bot_id in scene.bots):
        raise Refused(
            "The scene already hears that bot." if heard else "The scene does not hear that bot."
        )
    others = tuple(one for one in scene.bots if one != bot_id)
    return replace(scene, bots=(*others, bot_id) if heard else others)


def unmute(scene: Scene, user_id: int) -> Scene:
    """Return the scene in which this user is heard again. Raises Refused if they are not muted."""
    if user_id not in scene.muted:
        raise Refused("They are not muted in this scene.")
    return replace(scene, muted=tuple(one for one in scene.muted if one != user_id))


def require_gm(scene: Scene, user_id: int) -> None:
    """Raise Refused if this user is not a game master of the scene."""
    if not scene.is_gm(user_id):
        raise Refused("Only the game master of this scene can do that.")


def require_not_muted(scene: Scene, user_id: int) -> None:
    """Raise Refused if this user is muted in the scene."""
    if user_id in scene.muted:
        raise Refused("The game master has muted you in this scene.")


def speaker_name(scene: Scene, user_id: int, display_name: str) -> str:
    """Return the name under which this user speaks: their character's, or their own.

    A user whose own name is that of a character or of the environment is marked as a player.
    Otherwise they could speak in a character's name. A bot that the scene hears is the environment.
    """
    if user_id in scene.bots:
        return NARRATOR
    if part := scene.part_of(user_id):
        return part.character
    name = sanitise_name(display_name)
    reserved = _NARRATORS | map_spoken_names(scene.scenario.characters).keys()
    return f"{name} (player)" if normalise(name) in reserved else name


def assign_roles(scene: Scene, roles: Mapping[str, int]) -> Scene:
    """Return the scene with these mentionable roles, character name to role id, and no others."""
    parts = (replace(part, role_id=roles.get(part.character)) for part in scene.parts)
    return replace(scene, parts=tuple(parts))


def add_own(scene: Scene, user_id: int, own: OwnCopy) -> Scene:
    """Return the scene in which this user plays a character of their own and no other.

    Raises Refused if the user is muted, if the scene has as many characters as a scenario can, or
    if people could mean another character by the name.
    """
    require_not_muted(scene, user_id)
    name = own.character.name
    taken = addressable_names(scene.scenario.characters).keys() | _NARRATORS
    if normalise(name) in taken or normalise(sanitise_name(name)) in taken:
        raise Refused(
            f"In this scene, the name “{name}” already means somebody else. Choose another name "
            "for your character."
        )
    scene = _remove_player(scene, user_id)
    if len(scene.parts) >= MAX_CHARACTERS:
        raise Refused(f"This scene already has {MAX_CHARACTERS} characters, the most it can have.")
    part = Part(name, player_id=user_id, own=own)
    return replace(
        scene, scenario=add_character(scene.scenario, own.character), parts=(*scene.parts, part)
    )


def take_out(scene: Scene, name: str) -> Scene:
    """Return the scene without a person's own character. Raises NameNotFound and Refused."""
    part = find_part(scene, name)
    if part.own is None:
        raise Refused(
            f"{part.character} belongs to the scenario. Only players' own characters can leave it."
        )
    return replace(
        scene,
        scenario=remove_character(scene.scenario, part.character),
        parts=tuple(one for one in scene.parts if one is not part),
    )


def choose_voice(scene: Scene, user_id: int, *, as_persona: bool) -> Scene:
    """Return the scene in which this player's lines appear as their character's, or as typed.

    Raises Refused if the user plays no character or is muted.
    """
    require_not_muted(scene, user_id)
    part = _require_own_part(scene, user_id, "so your lines appear under your own name")
    return _replace_part(scene, replace(part, persona_of=user_id if as_persona else None))


def find_own(scene: Scene, own_id: int) -> Part | None:
    """Return the part of the stored own character with this id, if it is in the scene."""
    return next((one for one in scene.parts if one.own and one.own.own_id == own_id), None)


def release_players(scene: Scene, keep: int) -> Scene:
    """Return the scene without all players but this one."""
    for part in scene.parts:
        if part.player_id not in (None, keep):
            scene = _remove_player(scene, part.player_id)
    return scene


def _require_owner(part: Part, user_id: int) -> None:
    if part.own is not None and part.own.owner_id != user_id:
        raise Refused(f"{part.character} is another player's own character.")


def _require_own_part(scene: Scene, user_id: int, consequence: str) -> Part:
    if (part := scene.part_of(user_id)) is None:
        raise Refused(f"You don't play a character here, {consequence}.", Remedy.JOIN_CAST)
    return part


def _give_part(scene: Scene, character: str, user_id: int | None) -> Scene:
    without = scene if user_id is None else _remove_player(scene, user_id)
    part = replace(without.part(character), player_id=user_id, rests=False)
    return _replace_part(without, part)


def _remove_player(scene: Scene, user_id: int) -> Scene:
    """Return the scene in which this user plays nothing. Their own character leaves the scene.

    Only its owner may leave it to the model.
    """
    part = scene.part_of(user_id)
    if part is None:
        return scene
    if part.own is not None:
        return take_out(scene, part.character)
    return _replace_part(scene, replace(part, player_id=None))


def _replace_part(scene: Scene, changed: Part) -> Scene:
    parts = (changed if part.character == changed.character else part for part in scene.parts)
    return replace(scene, parts=tuple(parts))
