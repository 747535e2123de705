"""The times during which a scene was paused, users were not heard and characters did not hear."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bot.scenes.silences import Silences, current_silences
from bot.store.column_values import to_microseconds
from bot.store.repository import Repository

if TYPE_CHECKING:
    from datetime import datetime

    from bot.scenes.scene import Scene
    from bot.store.transaction import Transaction

_PAUSE: Final = ("pause", "")
_USER: Final = "user"
_CHARACTER: Final = "character"


class SilenceRepository(Repository):
    """Reads silences, as `bot.scenes.scene_store.SceneStore` describes."""

    async def silences_at(self, scene_id: int, moment: datetime) -> Silences:
        at = to_microseconds(moment)
        async with self._database.read() as reading:
            rows = await reading.rows(
                "SELECT kind, subject FROM silences WHERE scene_id = ? AND since <= ?"
                " AND (until IS NULL OR until > ?)",
                scene_id,
                at,
                at,
            )
        found = [(row["kind"], row["subject"]) for row in rows]
        return Silences(
            paused=_PAUSE in found,
            users=frozenset(int(subject) for kind, subject in found if kind == _USER),
            characters=frozenset(subject for kind, subject in found if kind == _CHARACTER),
        )


async def write_silences(transaction: Transaction, scene: Scene, now: datetime) -> None:
    """Store the silences that began or ended with a change of the scene."""
    wanted = _list_rows(current_silences(scene))
    rows = await transaction.rows(
        "SELECT kind, subject FROM silences WHERE scene_id = ? AND until IS NULL", scene.id
    )
    stored = {(row["kind"], row["subject"]) for row in rows}
    for kind, subject in stored - wanted:
        await transaction.execute(
            "UPDATE silences SET until = ?"
            " WHERE scene_id = ? AND kind = ? AND subject = ? AND until IS NULL",
            to_microseconds(now),
            scene.id,
            kind,
            subject,
        )
    await transaction.insert_all(
        "INSERT INTO silences (scene_id, kind, subject, since) VALUES (?, ?, ?, ?)",
        [(scene.id, kind, subject, to_microseconds(now)) for kind, subject in wanted - stored],
    )


async def silence_the_past(transaction: Transaction, scene_id: int, now: datetime) -> None:
    """Store that lines written until now are never heard later, because the story was cleared."""
    await transaction.execute(
        "INSERT INTO silences (scene_id, kind, subject, since, until) VALUES (?, ?, ?, 0, ?)",
        scene_id,
        *_PAUSE,
        to_microseconds(now),
    )


def _list_rows(silences: Silences) -> set[tuple[str, str]]:
    return {
        *([_PAUSE] if silences.paused else []),
        *((_USER, str(user_id)) for user_id in silences.users),
        *((_CHARACTER, character) for character in silences.characters),
    }
