"""The replies that are owed to a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.scenes.scene_store import SceneStore
    from bot.scenes.turn import Turn


async def give_up_answers(store: SceneStore, line: Turn) -> None:
    """Give up the replies that are owed only to this line. Others answer one line less."""
    for answer in await store.find_owed_turns(line.scene_id):
        if line.id in answer.answered and not await store.drop_answered_line(answer.id, line.id):
            await store.give_up([answer.id])
