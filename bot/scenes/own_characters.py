"""People's own characters: keeps them, and brings them into scenes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Protocol

from bot.errors import NameNotFound, Refused, Remedy
from bot.her.sanitise import remove_speaker_labels, sanitise_name
from bot.library.name_matching import find_nearest
from bot.library.normalise import normalise
from bot.library.own_character import OwnCharacter, check_character
from bot.library.scenario import Character
from bot.scenes import cast
from bot.scenes.cast import require_gm
from bot.scenes.notices import Notice
from bot.scenes.scene import JoinPolicy, OwnCopy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.scenes.scene import Scene
    from bot.scenes.scene_store import SceneStore
    from bot.scenes.theatre import Theatre

MAX_PER_PERSON: Final = 20
"""The number of own characters that a person can have."""


@dataclass(frozen=True, slots=True, repr=False)
class StoredCharacter:
    """A person's own character as stored."""

    id: int
    owner_id: int  # Discord user id
    revision: int  # grows with every change
    sheet: OwnCharacter
    has_picture: bool = False  # an uploaded one, which wins over the sheet's address


class OwnCharacterStore(Protocol):
    """Stores people's own characters. Every method is one transaction and raises StoreError."""

    async def add_character(
        self, owner_id: int, sheet: OwnCharacter, picture: bytes | None, most: int
    ) -> StoredCharacter | None:
        """Store a character with its picture, a PNG.

        Return None if the person has `most` characters already.
        """
        ...

    async def change_character(
        self, own_id: int, sheet: OwnCharacter, picture: bytes | None = None
    ) -> StoredCharacter:
        """Replace a character's sheet and, if given, its picture."""
        ...

    async def characters_of(self, owner_id: int) -> list[StoredCharacter]:
        """Return a person's characters, the oldest first."""
        ...

    async def own_character(self, own_id: int) -> StoredCharacter | None:
        """Return a character, if it exists."""
        ...

    async def picture_of(self, own_id: int) -> bytes | None:
        """Return a character's uploaded picture as a PNG."""
        ...

    async def delete_character(self, own_id: int) -> None:
        """Delete a character, and its copies in all scenes."""
        ...


class PublicPictures(Protocol):
    """Gives pictures public addresses."""

    async def withdraw_picture(self, png: bytes) -> None:
        """Remove the public address of a picture. Raises no error."""
        ...


def build_character(sheet: OwnCharacter) -> Character:
    """Return the character as a scene's minds have it.

    Every mind has the pronouns and the description, and only the character's own mind has the
    rest. No line of the texts looks like another speaker's, or like the entry of another character.
    """
    pronouns = f"Pronouns: {sheet.pronouns}" if sheet.pronouns else ""
    public = "\n".join(filter(None, (pronouns, _clean(sheet.description))))
    voice = f"{sheet.name} sounds like this: {_clean(sheet.voice)}" if sheet.voice else ""
    # Without `known_as`, the other minds would read the profile.
    return Character(
        name=sheet.name,
        profile="\n".join(filter(None, (public, voice))),
        known_as=public or f"Nothing is known about {sheet.name} yet.",
        motivation=_clean(sheet.private),
        face=sheet.face,
    )


def _clean(text: str) -> str:
    return remove_speaker_labels(text).strip()


class OwnCharacters:
    """Keeps people's own characters, and brings them into scenes."""

    def __init__(
        self,
        theatre: Theatre,
        store: SceneStore,
        characters: OwnCharacterStore,
        pictures: PublicPictures,
    ) -> None:
        self._pictures = pictures
        self._theatre = theatre
        self._store = store
        self._characters = characters

    # The characters of a person

    async def list_of(self, owner_id: int) -> list[StoredCharacter]:
        """Return a person's characters, the oldest first."""
        return await self._characters.characters_of(owner_id)

    async def find(self, owner_id: int, name: str) -> StoredCharacter:
        """Return the person's character of that name. Raises NameNotFound."""
        own = await self._characters.characters_of(owner_id)
        for one in own:
            if normalise(one.sheet.name) == normalise(name):
                return one
        if not own:
            raise NameNotFound("You have no character of your own.")
        names = [one.sheet.name for one in own]
        listed = ", ".join(find_nearest(name, names) or names)
        raise NameNotFound(f"You have no character called “{name[:80]}”. Choose one of {listed}.")

    async def picture_of(self, one: StoredCharacter) -> bytes | None:
        """Return the character's uploaded picture as a PNG."""
        return await self._characters.picture_of(one.id) if one.has_picture else None

    async def create(
        self, owner_id: int, fields: Mapping[str, object], picture: bytes | None = None
    ) -> StoredCharacter:
        """Store a new character of a person. `picture` is a square PNG.

        Raises CharacterError, and Refused if the name is taken or the person has too many.
        """
        sheet = _check_fields(fields)
        await self._require_new_name(owner_id, sheet.name)
        added = await self._characters.add_character(owner_id, sheet, picture, MAX_PER_PERSON)
        if added is None:
            raise Refused(
                f"You have {MAX_PER_PERSON} characters, the most that a person can have.",
                Remedy.DELETE_OWN_CHARACTER,
            )
        return added

    async def change(
        self,
        owner_id: int,
        own_id: int,
        fields: Mapping[str, object],
        picture: bytes | None = None,
    ) -> StoredCharacter:
        """Replace some fields of a person's character. A new `picture` replaces the earlier one.

        Scenes keep the copy with which the character joined. Raises CharacterError and Refused.
        """
        earlier = await self.require_own(owner_id, own_id)
        sheet = _check_fields(earlier.sheet.model_dump() | dict(fields))
        if normalise(sheet.name) != normalise(earlier.sheet.name):
            await self._require_new_name(owner_id, sheet.name)
        former = await self.picture_of(earlier) if picture else None
        changed = await self._characters.change_character(own_id, sheet, picture)
        if former and former != picture:
            await self._pictures.withdraw_picture(former)
        return changed

    async def delete(self, owner_id: int, own_id: int) -> StoredCharacter:
        """Delete a person's character. It leaves every scene."""
        one = await self.require_own(owner_id, own_id)
        for scene in self._theatre.scenes():
            if (part := cast.find_own(scene, own_id)) is not None:
                await self._theatre.change(scene, lambda now: _without(now, own_id))
                await self._theatre.announce_quietly(
                    scene, Notice(f"{part.character} has left the scene.")
                )
        picture = await self.picture_of(one)
        await self._characters.delete_character(own_id)
        if picture:
            await self._pictures.withdraw_picture(picture)
        return one

    async def delete_all(self, owner_id: int) -> int:
        """Delete all characters of a person. Return their number."""
        own = await self._characters.characters_of(owner_id)
        for one in own:
            await self.delete(owner_id, one.id)
        return len(own)

    async def require_own(self, owner_id: int, own_id: int) -> StoredCharacter:
        """Return a person's character. Raises Refused if it is deleted or another person's."""
        one = await self._characters.own_character(own_id)
        if one is None or one.owner_id != owner_id:
            raise Refused("This character does not exist.", Remedy.LIST_OWN_CHARACTERS)
        return one

    async def _require_new_name(self, owner_id: int, name: str) -> None:
        own = await self._characters.characters_of(owner_id)
        if normalise(name) in {normalise(one.sheet.name) for one in own}:
            raise Refused(f"You already have a character called “{name}”. Choose another name.")

    # In scenes

    def list_in_play(self, guild_id: int, gm_id: int | None) -> list[tuple[Scene, OwnCopy]]:
        """Return the own characters in the scenes of a server, each with its scene.

        With `gm_id`, only the scenes that this game master directs count.
        """
        scenes = [scene for scene in self._theatre.scenes() if scene.place.guild_id == guild_id]
        return [
            (scene, part.own)
            for scene in scenes
            if gm_id is None or scene.is_gm(gm_id)
            for part in scene.parts
            if part.own is not None
        ]

    async def join(self, scene: Scene, one: StoredCharacter) -> Scene | None:
        """Let a person play a character of their own, or return None if a game master must agree.

        A character that is already in the scene, left to the model or at rest, is theirs again.
        Raises Refused.
        """
        if (part := cast.find_own(scene, one.id)) is not None:
            return await self._theatre.controls.join(scene, one.owner_id, part.character)
        self._require_can_join(scene, one)
        if scene.join_policy is JoinPolicy.ASK and not scene.is_gm(one.owner_id):
            return None
        return await self._admit(scene, one)

    async def approve(
        self, scene: Scene, own_id: int, owner_id: int, revision: int, by: int
    ) -> StoredCharacter:
        """Let a character that a person asked to play join. For game masters.

        Raises Refused if it has changed since.
        """
        require_gm(scene, by)
        one = await self.require_own(owner_id, own_id)
        if one.revision != revision:
            raise Refused("The character has changed since. Its player can ask again.")
        if cast.find_own(scene, own_id) is not None:
            raise Refused(f"{one.sheet.name} is already in the scene.")
        self._require_can_join(scene, one)
        await self._admit(scene, one)
        return one

    async def take_out(self, scene: Scene, name: str, by: int) -> str:
        """Take an own character out of a scene. Return its name. For game masters."""
        require_gm(scene, by)
        character = cast.find_part(scene, name).character
        await self._theatre.change(scene, lambda now: cast.take_out(now, character))
        return character

    async def set_policy(self, scene: Scene, policy: JoinPolicy, by: int) -> Scene:
        """Choose whether own characters may join. For game masters."""
        require_gm(scene, by)
        return await self._theatre.change(scene, lambda now: replace(now, join_policy=policy))

    def _require_can_join(self, scene: Scene, one: StoredCharacter) -> None:
        """Raise Refused if the character can't join now, whoever agrees."""
        if scene.join_policy is JoinPolicy.CLOSED and not scene.is_gm(one.owner_id):
            raise Refused(
                "The game master allows no characters of players' own in this scene. Take a part"
                " of the scenario instead.",
                Remedy.LIST_CAST,
            )
        cast.add_own(scene, one.owner_id, _copy(one))

    async def _admit(self, scene: Scene, one: StoredCharacter) -> Scene:
        own = _copy(one)
        joined = await self._theatre.change(scene, lambda now: cast.add_own(now, one.owner_id, own))
        if running := self._theatre.find_running(scene.id):
            async with running.lock:
                await self._share_owed(running.scene)
            running.runner.prefetch_minds()
        return joined

    async def _share_owed(self, scene: Scene) -> None:
        """Let the newcomer hear the replies that are still to come."""
        owed = await self._store.find_owed_turns(scene.id)
        new = [turn.id for turn in owed if turn.public and not turn.takes]
        await self._store.set_audience(new, scene.audience)


def _check_fields(fields: Mapping[str, object]) -> OwnCharacter:
    """Return the character with these fields. Its name is one that prompts can show."""
    sheet = check_character(fields)
    if (name := sanitise_name(sheet.name)) != sheet.name:
        return check_character(dict(fields) | {"name": name})
    return sheet


def _copy(one: StoredCharacter) -> OwnCopy:
    return OwnCopy(one.id, one.owner_id, build_character(one.sheet))


def _without(scene: Scene, own_id: int) -> Scene:
    part = cast.find_own(scene, own_id)
    return scene if part is None else cast.take_out(scene, part.character)
