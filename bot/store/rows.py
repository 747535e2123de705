"""Read turns and write takes. Shared by the repositories of turns and takes."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING

from bot.errors import StoreError
from bot.her.beats import Beat, BeatKind, action, planning, speech, thought
from bot.scenes.reveal import Destination
from bot.scenes.turn import Take, Turn, TurnKind, TurnState
from bot.store.column_values import from_microseconds, load_audience
from bot.store.repository import id_list

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bot.store.transaction import Row, Transaction

_STEP = 128
"""Turns read at once. Making their objects takes a few milliseconds of the event loop."""

_BEATS: dict[BeatKind, Callable[[str], Beat]] = {
    BeatKind.SPEECH: speech,
    BeatKind.ACTION: action,
    BeatKind.THOUGHT: thought,
    BeatKind.PLANNING: planning,
}


async def add_take(
    transaction: Transaction,
    turn_id: int,
    beats: Sequence[Beat],
    raw: str,
    seed: int | None = None,
    author_id: int | None = None,
    destinations: Sequence[Destination | None] = (),
) -> None:
    """Add a take to a turn and make it the current one.

    `author_id` is the person who wrote it, if a person did.
    """
    number = await transaction.value(
        "SELECT ifnull(max(number), 0) + 1 FROM takes WHERE turn_id = ?", turn_id
    )
    take_id = await transaction.insert(
        "INSERT INTO takes (turn_id, number, raw, seed, author_id) VALUES (?, ?, ?, ?, ?)",
        turn_id,
        number,
        raw,
        seed,
        author_id,
    )
    await add_beats(transaction, take_id, beats)
    await write_destinations(transaction, take_id, destinations)
    await transaction.execute("UPDATE turns SET take_id = ? WHERE id = ?", take_id, turn_id)


async def add_beats(transaction: Transaction, take_id: int, beats: Sequence[Beat]) -> None:
    """Add the beats of a take."""
    await transaction.insert_all(
        "INSERT INTO beats (take_id, position, kind, text) VALUES (?, ?, ?, ?)",
        [(take_id, position, beat.kind, beat.text) for position, beat in enumerate(beats)],
    )


async def write_destinations(
    transaction: Transaction, take_id: int, destinations: Sequence[Destination | None]
) -> None:
    """Store the destinations of a take's beats, by position."""
    for position, destination in enumerate(destinations):
        if destination is not None:
            await transaction.execute(
                "UPDATE beats SET destination = ? WHERE take_id = ? AND position = ?",
                destination,
                take_id,
                position,
            )


async def read_turn(reading: Transaction, turn_id: int) -> Turn:
    """Return one turn. Raise StoreError if it is gone."""
    for turn in await read_turns(reading, [turn_id]):
        return turn
    raise explain_missing_turn(turn_id)


def explain_missing_turn(turn_id: int) -> StoreError:
    """Return the error for a deleted turn."""
    return StoreError(f"Turn {turn_id} was deleted.")


async def read_turns(reading: Transaction, ids: Sequence[int]) -> list[Turn]:
    """Return the turns with these ids, in order.

    Many turns are read in several steps, so that the event loop can do other work in between.
    """
    turns: list[Turn] = []
    ordered = sorted(ids)
    for start in range(0, len(ordered), _STEP):
        turns += await _read_step(reading, ordered[start : start + _STEP])
    return turns


async def _read_step(reading: Transaction, ids: Sequence[int]) -> list[Turn]:
    wanted = id_list(ids)
    beats: dict[int, list[Beat]] = defaultdict(list)
    destinations: dict[int, list[Destination | None]] = defaultdict(list)
    for row in await reading.rows(
        f"SELECT beats.* FROM turns JOIN beats ON beats.take_id = {_TAKE}"  # noqa: S608 - our own names
        " WHERE turns.id IN (SELECT value FROM json_each(?))"
        " ORDER BY beats.take_id, beats.position",
        wanted,
    ):
        beats[row["take_id"]].append(_BEATS[BeatKind(row["kind"])](row["text"]))
        destination = row["destination"]
        destinations[row["take_id"]].append(Destination(destination) if destination else None)
    takes: dict[int, list[int]] = defaultdict(list)
    for row in await reading.rows(
        "SELECT turn_id, id FROM takes WHERE turn_id IN (SELECT value FROM json_each(?))"
        " ORDER BY turn_id, number",
        wanted,
    ):
        takes[row["turn_id"]].append(row["id"])
    rows = await reading.rows(
        "SELECT turns.*, takes.id AS read_id, takes.number, takes.raw, takes.seed"  # noqa: S608 - our own names
        f" FROM turns LEFT JOIN takes ON takes.id = {_TAKE} WHERE turns.id IN (SELECT value FROM "
        "json_each(?)) ORDER BY turns.id",
        wanted,
    )
    return [
        _turn(row, beats[row["read_id"]], destinations[row["read_id"]], takes[row["id"]])
        for row in rows
    ]


_TAKE = "ifnull(turns.take_id, CASE WHEN turns.lengthens THEN turns.former_id END)"
"""The take that a turn is read with: the current one, or the one that is being continued."""


def _turn(
    row: Row,
    beats: Sequence[Beat],
    destinations: Sequence[Destination | None],
    takes: Sequence[int],
) -> Turn:
    take = None
    if row["read_id"]:
        decided = tuple(destinations) if any(destinations) else ()
        take = Take(row["read_id"], row["number"], tuple(beats), row["raw"], row["seed"], decided)
    return Turn(
        id=row["id"],
        scene_id=row["scene_id"],
        kind=TurnKind(row["kind"]),
        speaker=row["speaker"],
        state=TurnState(row["state"]),
        created_at=from_microseconds(row["created_at"]),
        take=take if row["take_id"] else None,
        takes=tuple(takes),
        lengthens=None if row["take_id"] else take,
        author_id=row["author_id"],
        message_id=row["message_id"],
        answers_id=row["answers_id"],
        also_answers=tuple(json.loads(row["also_answers"] or "[]")),
        heard_by=load_audience(row["heard_by"]),
        listener_id=row["listener_id"],
        fault=row["fault"],
        undone_at=row["undone_at"],
    )
