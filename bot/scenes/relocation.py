"""Moves a scene from a terminal to Discord, back, or to another channel."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bot.errors import NameNotFound, Refused, Remedy
from bot.scenes.cast import release_players
from bot.scenes.scene import AT_TERMINAL, SceneState

if TYPE_CHECKING:
    from datetime import datetime

    from bot.scenes.scene import Place, Scene
    from bot.scenes.scene_store import SceneStore

_MAX_LISTED = 8  # scenes listed if the requested one does not exist


def relocate(scene: Scene, place: Place, by: int) -> Scene:
    """Return the scene playing at `place`, with `by` in the roles of the person at the terminal."""
    gm_ids = dict.fromkeys(by if gm_id == AT_TERMINAL else gm_id for gm_id in scene.gm_ids)
    parts = tuple(
        replace(part, player_id=by) if part.player_id == AT_TERMINAL else part
        for part in scene.parts
    )
    return replace(
        scene,
        place=place,
        gm_ids=tuple(gm_ids) or (by,),
        parts=parts,
        state=SceneState.PLAYING,
    )


async def open_at_terminal(
    store: SceneStore, scene_id: int, terminal: Place, now: datetime
) -> Scene:
    """Return a stored scene as it plays at a terminal, and store it so.

    See `Theatre.open_at_terminal`. Raises NameNotFound and Refused.
    """
    scene = await store.scene(scene_id)
    if scene is None:
        raise NameNotFound(f"Scene {scene_id} does not exist here. {await _list_scenes(store)}")
    if scene.state is SceneState.ENDED:
        by = next(iter(scene.gm_ids), AT_TERMINAL)
        moved = relocate(scene, replace(terminal, guild_id=scene.place.guild_id), by)
        alone = release_players(moved, keep=by)
        await store.move_scene(alone, 0, now)
        return alone
    if not scene.place.at_terminal and await _owes_the_channel(store, scene):
        raise Refused(
            f"Scene {scene_id} still has an unfinished reply in its channel.", Remedy.RUN_BOT
        )
    playing = replace(scene, state=SceneState.PLAYING)
    await store.save_scene(playing, now)
    return playing


async def _list_scenes(store: SceneStore) -> str:
    scenes = await store.latest_scenes(_MAX_LISTED)
    if not scenes:
        return "No scene is stored."
    listed = ", ".join(f"{one.id} ({one.scenario.title[:40]})" for one in scenes)
    return f"Stored scenes: {listed}."


async def _owes_the_channel(store: SceneStore, scene: Scene) -> bool:
    """Return whether a reply is owed that does not answer a line from a terminal."""
    for turn in await store.find_owed_turns(scene.id):
        answered = [await store.turn(number) for number in turn.answered]
        if not any(line is not None and (line.message_id or 0) < 0 for line in answered):
            return True
    return False
