"""Who may do what with a turn: its scene's game masters everything, whom a reply answers some of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.errors import Refused, Remedy
from bot.scenes.theatre import require_gm

if TYPE_CHECKING:
    from bot.scenes.interfaces import SceneStore
    from bot.scenes.theatre import RunningScene, Theatre
    from bot.scenes.turn import Turn

SCENE_GONE = "That scene has ended or moved to another channel, so it can't be changed from here."


async def require_turn(
    theatre: Theatre, store: SceneStore, turn_id: int, by: int, *, answered: bool = False
) -> tuple[Turn, RunningScene]:
    """Return a turn and its scene under way, for a game master; `answered`: for whom the reply answers too. A reply
    that is just being delivered is waited for.

    Raises Refused.
    """
    turn = await store.turn(turn_id)
    running = theatre.running(turn.scene_id) if turn else None
    if turn is None or running is None:
        raise Refused(SCENE_GONE)
    if not (answered and await _answers(store, turn, by)):
        require_gm(running.scene, by)
    await running.runner.delivered(turn_id)
    return await store.turn(turn_id) or turn, running


async def _answers(store: SceneStore, turn: Turn, user_id: int) -> bool:
    lines = [await store.turn(line_id) for line_id in turn.answered]
    return any(line is not None and line.author_id == user_id for line in lines)


async def require_current_button(
    theatre: Theatre, store: SceneStore, turn_id: int, channel_id: int, message_id: int | None
) -> None:
    """Raise Refused unless a button that names this turn may have been put up by us, where it was pressed: under that
    message, or where None is given in a private answer in that channel.

    Ids begin anew in a new database, and buttons stand for ever.
    """
    turn = await store.turn(turn_id)
    running = theatre.running(turn.scene_id) if turn else None
    if turn is None or running is None:
        raise Refused(SCENE_GONE)
    shown = await store.turn_by_message(message_id) if message_id else turn
    if running.scene.place.channel_id != channel_id or shown is None or shown.id != turn_id:
        raise Refused("This button is out of date.", Remedy.USE_CURRENT_BUTTONS)
