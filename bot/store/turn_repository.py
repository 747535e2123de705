"""Turns: the lines and replies of a scene.

Their ids give the order, because the clock may be set back.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bot.scenes.posts import ShownMessage
from bot.scenes.turn import TurnKind, TurnState
from bot.store.column_values import dump_audience, to_microseconds
from bot.store.pending_replies import (
    OwedReply,
    drop_answered_line,
    merge_owed_reply,
    store_owed_reply,
)
from bot.store.repository import Repository, id_list
from bot.store.rows import add_beats, add_take, explain_missing_turn, read_turn, read_turns
from bot.store.silence_repository import silence_the_past

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from bot.her.beats import PublicBeat
    from bot.scenes.turn import NewLine, Turn
    from bot.store.transaction import Transaction


class TurnRepository(Repository):
    """Stores turns, as `bot.scenes.turn_records.TurnRecords` describes."""

    async def add_line(
        self,
        scene_id: int,
        line: NewLine,
        answering: Sequence[str],
        now: datetime,
        *,
        begun: int | None = None,
    ) -> tuple[Turn, ...]:
        async with self._database.transaction() as transaction:
            if await transaction.row(
                "SELECT id FROM turns WHERE message_id = ? UNION ALL"
                " SELECT turn_id FROM replaced_messages WHERE message_id = ?",
                line.message_id,
                line.message_id,
            ):
                return ()
            line_id = await _add_line(transaction, scene_id, line, now)
            whispered = line.kind is TurnKind.WHISPER
            answer = OwedReply(
                scene_id,
                "",
                now,
                line_id,
                TurnKind.WHISPER if whispered else TurnKind.REPLY,
                line.heard_by,
                listener_id=line.author_id if whispered else None,
            )
            owed = [
                await merge_owed_reply(transaction, replace(answer, speaker=name), begun)
                for name in dict.fromkeys(answering)
            ]
            return tuple(await read_turns(transaction, [line_id, *owed]))

    async def add_reply(
        self,
        scene_id: int,
        character: str,
        answers_id: int | None,
        now: datetime,
        *,
        kind: TurnKind = TurnKind.REPLY,
        heard_by: frozenset[str] | None = None,
    ) -> Turn:
        async with self._database.transaction() as transaction:
            owed = OwedReply(scene_id, character, now, answers_id, kind, heard_by)
            return await read_turn(transaction, await store_owed_reply(transaction, owed))

    async def drop_answered_line(self, turn_id: int, line_id: int) -> bool:
        async with self._database.transaction() as transaction:
            return await drop_answered_line(transaction, turn_id, line_id)

    async def set_audience(self, turn_ids: Sequence[int], audience: frozenset[str] | None) -> None:
        async with self._database.transaction() as transaction:
            await transaction.execute(
                "UPDATE turns SET heard_by = ? WHERE id IN (SELECT value FROM json_each(?))",
                dump_audience(audience),
                id_list(turn_ids),
            )

    async def turn(self, turn_id: int) -> Turn | None:
        async with self._database.read() as reading:
            return next(iter(await read_turns(reading, [turn_id])), None)

    async def turns_by_id(self, turn_ids: Sequence[int]) -> list[Turn]:
        async with self._database.read() as reading:
            return await read_turns(reading, turn_ids)

    async def find_owed_turns(self, scene_id: int) -> list[Turn]:
        async with self._database.read() as reading:
            ids = await reading.ids(
                "SELECT id FROM turns WHERE scene_id = ? AND state = 'thinking'", scene_id
            )
            return await read_turns(reading, ids)

    async def failures_without_notice(self, scene_id: int) -> list[Turn]:
        async with self._database.read() as reading:
            ids = await reading.ids(
                "SELECT id FROM turns WHERE scene_id = ? AND state = 'failed' AND kind <> 'whisper'"
                " AND NOT EXISTS (SELECT 1 FROM posts WHERE posts.turn_id = turns.id"
                " AND posts.purpose = 'fault')",
                scene_id,
            )
            return await read_turns(reading, ids)

    async def last_message_id(self, scene_id: int) -> int | None:
        async with self._database.read() as reading:
            found: int | None = await reading.value(
                "SELECT last_message_id FROM scenes WHERE id = ?", scene_id
            )
            return found

    async def mark_seen(self, scene_id: int, message_id: int) -> None:
        async with self._database.transaction() as transaction:
            await _mark_seen(transaction, scene_id, message_id)

    async def find_shown_messages(self, scene_id: int, most: int) -> list[ShownMessage]:
        async with self._database.read() as reading:
            rows = await reading.rows(_SHOWN_MESSAGES, scene_id, most, scene_id, most, most)
        return sorted(ShownMessage(row["message_id"], row["channel_id"]) for row in rows)

    async def copies_of(self, turn_id: int) -> list[Turn]:
        async with self._database.read() as reading:
            ids = await reading.ids("SELECT id FROM turns WHERE source_id = ?", turn_id)
            return await read_turns(reading, ids)

    async def hide_turns(self, scene_id: int, turn_ids: Sequence[int] | None = None) -> int:
        these: list[str] = [] if turn_ids is None else [id_list(turn_ids)]
        chosen = " AND id IN (SELECT value FROM json_each(?))" if these else ""
        async with self._database.transaction() as transaction:
            await transaction.execute(
                f"UPDATE turns SET undone_at = NULL WHERE scene_id = ?{chosen}"  # noqa: S608 - our own names
                " AND undone_at IS NOT NULL",
                scene_id,
                *these,
            )
            return await transaction.execute(
                f"UPDATE turns SET state = 'hidden' WHERE scene_id = ?{chosen}"  # noqa: S608 - our own names
                " AND state <> 'hidden'",
                scene_id,
                *these,
            )

    async def clear_story(self, scene_id: int, now: datetime) -> int:
        async with self._database.transaction() as transaction:
            await transaction.execute(
                "UPDATE turns SET undone_at = NULL WHERE scene_id = ? AND undone_at IS NOT NULL",
                scene_id,
            )
            await transaction.execute("DELETE FROM memories WHERE scene_id = ?", scene_id)
            await silence_the_past(transaction, scene_id, now)
            return await transaction.execute(
                "UPDATE turns SET state = 'hidden' WHERE scene_id = ? AND state <> 'hidden'",
                scene_id,
            )

    async def turn_by_message(self, message_id: int) -> Turn | None:
        async with self._database.read() as reading:
            ids = await reading.ids(
                "SELECT id FROM turns WHERE message_id = ? UNION SELECT turn_id FROM posts "
                "WHERE message_id = ?",
                message_id,
                message_id,
            )
            return next(iter(await read_turns(reading, ids)), None)

    async def reword_line(self, turn_id: int, text: str, beats: Sequence[PublicBeat]) -> None:
        async with self._database.transaction() as transaction:
            await _reword(transaction, turn_id, text, beats)

    async def recent_lines(self, scene_id: int, since: datetime) -> list[Turn]:
        async with self._database.read() as reading:
            ids = await reading.ids(
                "SELECT id FROM turns WHERE scene_id = ? AND kind = 'line' AND created_at >= ?"
                " AND message_id IS NOT NULL AND author_id IS NOT NULL AND NOT EXISTS"
                " (SELECT 1 FROM replaced_messages WHERE turn_id = turns.id)",
                scene_id,
                to_microseconds(since),
            )
            return await read_turns(reading, ids)

    async def take_over_line(
        self, turn_id: int, message_id: int, speaker: str, text: str, beats: Sequence[PublicBeat]
    ) -> None:
        async with self._database.transaction() as transaction:
            await transaction.execute(
                "INSERT INTO replaced_messages (message_id, turn_id)"
                " SELECT message_id, id FROM turns WHERE id = ?",
                turn_id,
            )
            await transaction.execute(
                "UPDATE turns SET message_id = ? WHERE id = ?", message_id, turn_id
            )
            these = await transaction.ids(
                "SELECT id FROM turns WHERE id = ? OR source_id = ?", turn_id, turn_id
            )
            for one in these:
                await transaction.execute("UPDATE turns SET speaker = ? WHERE id = ?", speaker, one)
                await _reword(transaction, one, text, beats)


async def _reword(
    transaction: Transaction, turn_id: int, text: str, beats: Sequence[PublicBeat]
) -> None:
    take_id = await transaction.value("SELECT take_id FROM turns WHERE id = ?", turn_id)
    if take_id is None:
        raise explain_missing_turn(turn_id)
    await transaction.execute("UPDATE takes SET raw = ? WHERE id = ?", text, take_id)
    await transaction.execute("DELETE FROM beats WHERE take_id = ?", take_id)
    await add_beats(transaction, take_id, beats)


async def _add_line(transaction: Transaction, scene_id: int, line: NewLine, now: datetime) -> int:
    line_id = await transaction.insert(
        "INSERT INTO turns (scene_id, kind, speaker, state, created_at, author_id, "
        "message_id, heard_by, channel_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?,"
        " (SELECT channel_id FROM scenes WHERE id = ?))",
        scene_id,
        line.kind,
        line.speaker,
        TurnState.DONE,
        to_microseconds(now),
        line.author_id,
        line.message_id,
        dump_audience(line.heard_by),
        scene_id if line.message_id is not None else None,
    )
    await add_take(transaction, line_id, line.beats, line.text, None)
    if line.message_id is not None:
        await _mark_seen(transaction, scene_id, line.message_id)
    return line_id


async def _mark_seen(transaction: Transaction, scene_id: int, message_id: int) -> None:
    await transaction.execute(
        "UPDATE scenes SET last_message_id = max(ifnull(last_message_id, 0), ?) WHERE id = ?",
        message_id,
        scene_id,
    )


_SHOWN_MESSAGES = """
    SELECT message_id, channel_id FROM (
        SELECT * FROM (
            SELECT source.message_id, source.channel_id, turns.id FROM turns
                CROSS JOIN turns AS source ON source.id = ifnull(turns.source_id, turns.id)
                WHERE turns.scene_id = ? AND source.message_id > 0 AND source.channel_id > 0
                AND (turns.state <> 'hidden' OR turns.undone_at IS NOT NULL)
                ORDER BY turns.id DESC LIMIT ?)
        UNION ALL
        SELECT * FROM (
            SELECT posts.message_id, posts.channel_id, turns.id FROM turns
                CROSS JOIN posts ON posts.turn_id = ifnull(turns.source_id, turns.id)
                WHERE turns.scene_id = ? AND posts.purpose IN ('persona', 'narration')
                AND (turns.state <> 'hidden' OR turns.undone_at IS NOT NULL)
                ORDER BY turns.id DESC LIMIT ?)
    ) ORDER BY id DESC LIMIT ?"""
