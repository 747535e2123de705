"""Replies that characters owe: one for a line, or one for several lines heard before the reply
starts.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.scenes.turn import TurnKind, TurnState
from bot.store.column_values import dump_audience, to_microseconds
from bot.store.repository import id_list

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from bot.store.transaction import Row, Transaction


@dataclass(frozen=True, slots=True)
class OwedReply:
    """A reply that is owed but not yet stored. `listener_id` is set if it will be whispered."""

    scene_id: int
    speaker: str
    now: datetime
    answers_id: int | None = None
    kind: TurnKind = TurnKind.REPLY
    heard_by: frozenset[str] | None = None
    listener_id: int | None = None


async def store_owed_reply(transaction: Transaction, owed: OwedReply) -> int:
    """Return the id of the thinking turn in which this character answers that line.

    Store it if it is missing.
    """
    there: int | None = await transaction.value(
        "SELECT id FROM turns WHERE scene_id = ? AND state = 'thinking' AND speaker = ? AND "
        "kind = ? AND answers_id IS ?",
        owed.scene_id,
        owed.speaker,
        owed.kind,
        owed.answers_id,
    )
    return there or await _insert(transaction, owed, (), owed.now)


async def merge_owed_reply(transaction: Transaction, owed: OwedReply, begun: int | None) -> int:
    """Store a reply that is owed, and merge the character's unstarted replies into it.

    A merged reply moves behind the new line and answers that line too. The turn `begun` is left as
    it is, and so are turns that are being retried.
    """
    earlier = await transaction.rows(
        "SELECT * FROM turns WHERE scene_id = ? AND state = 'thinking' AND speaker = ? AND "
        "kind = ? AND take_id IS NULL AND id IS NOT ? AND NOT EXISTS (SELECT 1 FROM takes "
        "WHERE turn_id = turns.id) ORDER BY id",
        owed.scene_id,
        owed.speaker,
        owed.kind,
        begun,
    )
    if owed.kind is not TurnKind.REPLY or not earlier:
        return await store_owed_reply(transaction, owed)
    for row in earlier:
        await transaction.execute("UPDATE turns SET state = 'hidden' WHERE id = ?", row["id"])
    answered = [answer for row in earlier for answer in _list_answered_lines(row)]
    return await _insert(transaction, owed, answered, earlier[0]["created_at"])


def _list_answered_lines(row: Row) -> list[int]:
    return [
        *([row["answers_id"]] if row["answers_id"] else ()),
        *json.loads(row["also_answers"] or "[]"),
    ]


async def _insert(
    transaction: Transaction, owed: OwedReply, earlier: list[int] | tuple[()], since: datetime | int
) -> int:
    answers = list(dict.fromkeys((*earlier, *([owed.answers_id] if owed.answers_id else ()))))
    return await transaction.insert(
        "INSERT INTO turns (scene_id, kind, speaker, state, created_at, answers_id, "
        "also_answers, heard_by, listener_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        owed.scene_id,
        owed.kind,
        owed.speaker,
        TurnState.THINKING,
        since if isinstance(since, int) else to_microseconds(since),
        next(iter(answers), None),
        json.dumps(answers[1:]) if answers[1:] else None,
        dump_audience(owed.heard_by),
        owed.listener_id,
    )


async def drop_answered_line(transaction: Transaction, turn_id: int, line_id: int) -> bool:
    """Remove a deleted line from those an owed turn answers.

    Return whether it still answers others.
    """
    row = await transaction.row("SELECT * FROM turns WHERE id = ?", turn_id)
    left = [answer for answer in _list_answered_lines(row) if answer != line_id] if row else []
    if left:
        await transaction.execute(
            "UPDATE turns SET answers_id = ?, also_answers = ? WHERE id = ?",
            left[0],
            json.dumps(left[1:]) if left[1:] else None,
            turn_id,
        )
    return bool(left)


async def give_up_answers_to(transaction: Transaction, author_id: int) -> None:
    """Give up the replies that are owed only to this person's lines."""
    lines = set(await transaction.ids("SELECT id FROM turns WHERE author_id = ?", author_id))
    for row in await transaction.rows("SELECT * FROM turns WHERE state = 'thinking'"):
        theirs = [line for line in _list_answered_lines(row) if line in lines]
        if theirs and not all(
            [await drop_answered_line(transaction, row["id"], one) for one in theirs]
        ):
            await give_up(transaction, [row["id"]])


async def give_up(transaction: Transaction, turn_ids: Sequence[int]) -> None:
    """Mark turns no longer owed. They leave the story, or are done with their earlier take."""
    await put_back(transaction, turn_ids)
    await transaction.execute(
        "UPDATE turns SET state = 'hidden'"
        " WHERE state = 'thinking' AND id IN (SELECT value FROM json_each(?))",
        id_list(turn_ids),
    )


async def put_back(transaction: Transaction, turn_ids: Sequence[int]) -> int:
    """Make the earlier take of retried turns the current one again. Return their number."""
    return await transaction.execute(
        "UPDATE turns SET state = 'done', fault = NULL, take_id = former_id, former_id = NULL,"
        " lengthens = 0 WHERE state = 'thinking' AND former_id IS NOT NULL"
        " AND id IN (SELECT value FROM json_each(?))",
        id_list(turn_ids),
    )
