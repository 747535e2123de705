"""Removes people from scenes whose place they can no longer read."""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Protocol

from bot.errors import AsideError, NameNotFound, PostingError, Refused, Remedy
from bot.scenes import cast
from bot.scenes.notices import Notice

if TYPE_CHECKING:
    from bot.scenes.scene import Place, Scene
    from bot.scenes.theatre import Theatre

_log = logging.getLogger(__name__)

CHECK_INTERVAL: Final = 60.0
"""Seconds between two checks of the same player in the same place."""

_MAX_CHECKS = 10_000  # remembered checks; all are dropped when there are more


class PlaceAccess(Protocol):
    """Knows who can read the places of scenes."""

    async def is_reader(self, place: Place, user_id: int) -> bool:
        """Return whether a user can read a place now. Raises PostingError."""
        ...


class Departures:
    """Checks people's access to scenes, and removes those who lost it.

    A game master stops being one, and a player's character goes back to the model. A character of
    the player's own leaves the scene. A notice in the channel says so.
    """

    def __init__(self, theatre: Theatre, access: PlaceAccess) -> None:
        self._theatre = theatre
        self._access = access
        self._checked: dict[tuple[int, int], float] = {}  # by channel and user, when

    async def check_players(self, scene: Scene) -> Scene:
        """Release the players who can't read the scene any more. Return the scene as it is then.

        Each player is checked at most once in CHECK_INTERVAL. If a check fails, the player stays.
        """
        for part in scene.parts:
            if part.player_id is not None and self._is_due(scene.place, part.player_id):
                scene = await self._check(scene, part.player_id)
        return scene

    async def check_part(self, scene: Scene, name: str) -> Scene:
        """Release the player of this character if they can't read the scene any more.

        Call this before somebody is refused because a player has the part. Return the scene as it
        is then, also if no character has the name.
        """
        try:
            player_id = cast.find_part(scene, name).player_id
        except NameNotFound:
            return scene
        return scene if player_id is None else await self._check(scene, player_id)

    async def _check(self, scene: Scene, player_id: int) -> Scene:
        try:
            if not await self._access.is_reader(scene.place, player_id):
                return await self.release(scene, player_id)
        except AsideError as error:
            _log.warning("Scene %d: a player could not be checked: %s", scene.id, error)
        return scene

    async def release(self, scene: Scene, user_id: int) -> Scene:
        """Take the direction and the part from a user who can't read the scene. Tell the channel.

        Return the scene as it is then.
        """
        notices: list[Notice] = []

        def release(now: Scene) -> Scene:
            notices[:] = _describe_departure(now, user_id)
            return _remove(now, user_id)

        try:
            changed = await self._theatre.change(scene, release)
        except Refused:  # the scene has ended
            return scene
        for notice in notices:
            try:
                await self._theatre.announce(changed, notice)
            except PostingError as error:
                _log.warning("Scene %d: a departure can't be announced: %s", scene.id, error)
        return changed

    def _is_due(self, place: Place, user_id: int) -> bool:
        key = (place.channel_id, user_id)
        now = time.monotonic()
        if key in self._checked and now - self._checked[key] < CHECK_INTERVAL:
            return False
        if len(self._checked) >= _MAX_CHECKS:
            self._checked.clear()
        self._checked[key] = now
        return True


def _remove(scene: Scene, user_id: int) -> Scene:
    if scene.part_of(user_id) is not None:
        scene, _ = cast.leave(scene, user_id)
    return replace(scene, gm_ids=tuple(one for one in scene.gm_ids if one != user_id))


def _describe_departure(scene: Scene, user_id: int) -> list[Notice]:
    notices = []
    if part := scene.part_of(user_id):
        then = (
            f"{part.character} leaves the scene with them."
            if part.own
            else f"The model plays {part.character} now."
        )
        notices.append(
            Notice(f"The player of {part.character} can't read this channel any more. {then}")
        )
    if scene.is_gm(user_id):
        notices.append(
            Notice(
                "A game master can't read this channel any more and no longer directs the scene."
            )
            if len(scene.gm_ids) > 1
            else Notice(
                "The game master can't read this channel any more. The scene has no game master"
                " now, and the characters' thoughts are only stored.",
                Remedy.ADD_GM,
            )
        )
    return notices
