"""Who may change a turn: its scene's game masters, and in part the person whom it answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.errors import Refused, Remedy
from bot.scenes.cast import require_gm, require_not_muted

if TYPE_CHECKING:
    from bot.scenes.running_scenes import RunningScene, RunningScenes
    from bot.scenes.scene_store import SceneStore
    from bot.scenes.turn import Turn

SCENE_GONE = "That scene has ended or moved to another channel, so it can't be changed from here."


async def require_turn(
    scenes: RunningScenes, store: SceneStore, turn_id: int, by: int, *, answered: bool = False
) -> tuple[Turn, RunningScene]:
    """Return a turn and its scene under way. Wait if the turn is being delivered.

    Raises Refused unless the user is a game master, or, with `answered`, the person whom the turn
    answers. A muted person has no rights.
    """
    turn = await store.turn(turn_id)
    running = scenes.find_running(turn.scene_id) if turn else None
    if turn is None or running is None:
        raise Refused(SCENE_GONE)
    require_not_muted(running.scene, by)
    if not (answered and await _answers(store, turn, by)):
        require_gm(running.scene, by)
    await running.runner.wait_for_delivery(turn_id)
    return await store.turn(turn_id) or turn, running


async def _answers(store: SceneStore, turn: Turn, user_id: int) -> bool:
    lines = [await store.turn(line_id) for line_id in turn.answered]
    return any(line is not None and line.author_id == user_id for line in lines)


async def require_current_button(
    scenes: RunningScenes,
    store: SceneStore,
    turn_id: int,
    channel_id: int,
    message_id: int | None,
) -> None:
    """Raise Refused if a button that names this turn can't belong to it.

    Without a message, the button was pressed in a private answer in that channel.
    A new database counts ids from 1 again, but the buttons of the old one stay on Discord.
    """
    turn = await store.turn(turn_id)
    running = scenes.find_running(turn.scene_id) if turn else None
    if turn is None or running is None:
        raise Refused(SCENE_GONE)
    shown = await store.turn_by_message(message_id) if message_id else turn
    if shown is None or shown.id != turn_id:
        raise Refused("This button is out of date.", Remedy.USE_CURRENT_BUTTONS)
    if running.scene.place.channel_id != channel_id:
        raise Refused(SCENE_GONE)


async def require_place(store: SceneStore, turn: Turn, channel_id: int) -> None:
    """Raise Refused if the turn's scene is not in this channel.

    The posts of a scene that moved stay in the old channel, and no longer act on it.
    """
    scene = await store.scene(turn.scene_id)
    if scene is None or scene.place.channel_id != channel_id:
        raise Refused(SCENE_GONE)
