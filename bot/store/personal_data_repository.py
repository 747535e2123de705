"""Personal data: export a person's lines, and delete them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bot.store.column_values import from_microseconds
from bot.store.pending_replies import give_up_answers_to
from bot.store.repository import Repository

if TYPE_CHECKING:
    from datetime import datetime


@dataclass(frozen=True, slots=True, repr=False)
class ExportedLine:
    """One line of a person, as exported.

    `message_id` is None for narrations and whispers, which are not messages of theirs.
    """

    guild_id: int
    channel_id: int
    scene_id: int
    message_id: int | None
    speaker: str
    said_at: datetime
    text: str


_ALWAYS_DELETED: Final = (
    ("insights", "reader_id"),
    ("unreachable", "user_id"),
    ("explained", "user_id"),
    ("own_characters", "owner_id"),
    ("parts", "owner_id"),
)
"""Tables with rows that belong to one person, whether their scene has ended or not."""


class PersonalDataRepository(Repository):
    """Exports and deletes the data of people and servers."""

    async def lines_of(self, user_id: int) -> list[ExportedLine]:
        async with self._database.read() as reading:
            rows = await reading.rows(
                "SELECT scenes.guild_id, scenes.channel_id, scene_id, message_id, speaker, "
                "created_at, raw FROM (SELECT scene_id, message_id, speaker, created_at, "
                "raw, turns.author_id, turns.id AS place FROM turns JOIN takes ON takes.id = "
                "turns.take_id UNION ALL SELECT scene_id, NULL, speaker, created_at, raw, "
                "takes.author_id, turns.id FROM takes JOIN turns ON turns.id = takes.turn_id "
                "UNION ALL SELECT scene_id, NULL, '(standing note)', created_at, text, "
                "author_id, NULL FROM notes UNION ALL SELECT turns.scene_id, NULL,"
                " '(opened thought of ' || turns.speaker || ')', insights.created_at, beats.text,"
                " reader_id, NULL FROM insights JOIN turns ON turns.id = insights.turn_id"
                " JOIN beats ON beats.take_id = insights.take_id"
                " WHERE opened AND beats.kind = 'thought')"
                " JOIN scenes ON scenes.id = scene_id WHERE author_id = ? AND raw <> ''"
                " ORDER BY place IS NULL, place, created_at",
                user_id,
            )
        return [
            ExportedLine(
                guild_id=row["guild_id"],
                channel_id=row["channel_id"],
                scene_id=row["scene_id"],
                message_id=row["message_id"],
                speaker=row["speaker"],
                said_at=from_microseconds(row["created_at"]),
                text=row["raw"],
            )
            for row in rows
        ]

    async def forget_person(self, user_id: int) -> int:
        async with self._database.transaction() as transaction:
            await give_up_answers_to(transaction, user_id)
            await transaction.execute(
                "DELETE FROM turns WHERE author_id = ?"
                " AND take_id IN (SELECT id FROM takes WHERE raw = '')",
                user_id,
            )  # messages without words don't count
            lines = await transaction.execute("DELETE FROM turns WHERE author_id = ?", user_id)
            lines += await transaction.execute("DELETE FROM takes WHERE author_id = ?", user_id)
            await transaction.execute(
                "UPDATE turns SET take_id ="
                " (SELECT id FROM takes WHERE turn_id = turns.id ORDER BY number DESC LIMIT 1)"
                " WHERE take_id IS NULL AND state IN ('done', 'hidden')"
            )
            lines += await transaction.execute("DELETE FROM notes WHERE author_id = ?", user_id)
            await transaction.execute(
                "UPDATE turns SET listener_id = NULL WHERE listener_id = ?", user_id
            )
            await transaction.execute(
                "UPDATE parts SET player_id = NULL, persona_of = NULL WHERE player_id = ?"
                " AND scene_id IN (SELECT id FROM scenes WHERE state = 'ended')",
                user_id,
            )
            for table, column in _ALWAYS_DELETED:
                await transaction.execute(f"DELETE FROM {table} WHERE {column} = ?", user_id)  # noqa: S608 - our own names
            await transaction.execute(
                "DELETE FROM silences WHERE kind = 'user' AND subject = ?"
                " AND scene_id IN (SELECT id FROM scenes WHERE state = 'ended')",
                str(user_id),
            )
            for table in ("scene_gms", "kicked"):
                await transaction.execute(
                    f"DELETE FROM {table} WHERE user_id = ?"  # noqa: S608 - our own names
                    " AND scene_id IN (SELECT id FROM scenes WHERE state = 'ended')",
                    user_id,
                )
        await self._database.empty_log()
        return lines

    async def forget_server(self, guild_id: int) -> int:
        """Delete every scene of a server with all its lines, and return the number of scenes."""
        async with self._database.transaction() as transaction:
            await transaction.execute(
                "DELETE FROM memories WHERE scene_id IN (SELECT id FROM scenes WHERE guild_id = ?)",
                guild_id,
            )
            scenes = await transaction.execute("DELETE FROM scenes WHERE guild_id = ?", guild_id)
            await transaction.execute("DELETE FROM server_proxies WHERE guild_id = ?", guild_id)
            await transaction.execute(
                "DELETE FROM scenarios WHERE hash NOT IN (SELECT scenario FROM scenes)"
            )
            await transaction.execute(
                "DELETE FROM unreachable WHERE user_id NOT IN (SELECT user_id FROM scene_gms)"
            )
        await self._database.empty_log()
        return scenes
