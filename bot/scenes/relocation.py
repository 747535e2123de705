"""How a scene comes from one place to another: from a terminal to Discord, from there to a terminal or a channel."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bot.errors import NameNotFound, Refused, Remedy
from bot.scenes.scene import AT_TERMINAL, SceneState

if TYPE_CHECKING:
    from bot.scenes.interfaces import SceneStore
    from bot.scenes.scene import Part, Place, Scene

_NAMED = 8  # scenes named where another one was asked for


def relocate(scene: Scene, place: Place, by: int) -> Scene:
    """Return the scene going on at `place`. Who sat at the terminal as its director or player is `by` from now on."""
    gm_ids = tuple(
        dict.fromkeys(by if gm_id == AT_TERMINAL else gm_id for gm_id in scene.gm_ids)
    ) or (by,)
    parts = tuple(_moved(part, by) for part in scene.parts)
    return replace(scene, place=place, gm_ids=gm_ids, parts=parts, state=SceneState.PLAYING)


def _moved(part: Part, by: int) -> Part:
    return replace(part, player_id=by if part.player_id == AT_TERMINAL else part.player_id)


def _left_by_others(part: Part, by: int) -> Part:
    return part if part.player_id == by else replace(part, player_id=None)


async def open_at_terminal(store: SceneStore, scene_id: int, terminal: Place) -> Scene:
    """Return a stored scene as it plays at a terminal, stored so; see `Theatre.visit`."""
    scene = await store.scene(scene_id)
    if scene is None:
        listed = ", ".join(
            f"{one.id} ({one.scenario.title[:40]})" for one in await store.latest_scenes(_NAMED)
        )
        raise NameNotFound(
            f"Scene {scene_id} does not exist here. "
            + (f"Stored scenes: {listed}." if listed else "No scene is stored.")
        )
    if scene.state is SceneState.ENDED:
        by = next(iter(scene.gm_ids), AT_TERMINAL)
        there = relocate(scene, replace(terminal, guild_id=scene.place.guild_id), by)
        alone = replace(there, parts=tuple(_left_by_others(part, by) for part in there.parts))
        await store.move_scene(alone, 0)
        return alone
    if not scene.place.at_terminal and await _owes_the_channel(store, scene):
        raise Refused(f"Scene {scene_id} still owes its channel a reply.", Remedy.RUN_BOT)
    playing = replace(scene, state=SceneState.PLAYING)
    await store.save_scene(playing)
    return playing


async def _owes_the_channel(store: SceneStore, scene: Scene) -> bool:
    """Whether somebody on Discord waits for a reply: one that answers nothing that was said at a terminal."""
    for turn in await store.owed(scene.id):
        answered = [await store.turn(number) for number in turn.answered]
        if not any(line is not None and (line.message_id or 0) < 0 for line in answered):
            return True
    return False
