"""Turns with their takes and beats. Their ids order them, not the clock, which may be set back."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from bot.errors import StoreError
from bot.her.beats import Beat, BeatKind, action, planning, speech, thought
from bot.scenes.turn import Take, Turn, TurnKind, TurnState
from bot.store.owing import Owed, answer_less, owe, owe_once
from bot.store.repository import Repository, id_list
from bot.store.values import heard_by, hearers, microseconds, time

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from bot.her.beats import PublicBeat
    from bot.scenes.ports import NewLine
    from bot.store.transaction import Row, Transaction

_BEATS: dict[BeatKind, Callable[[str], Beat]] = {
    BeatKind.SPEECH: speech,
    BeatKind.ACTION: action,
    BeatKind.THOUGHT: thought,
    BeatKind.PLANNING: planning,
}


class TurnRepository(Repository):
    """The turns' part of `bot.scenes.ports.SceneStore`."""

    async def add_line(
        self, scene_id: int, line: NewLine, answering: Sequence[str], now: datetime, *, begun: int | None = None
    ) -> tuple[Turn, ...]:
        """Store a person's line as a turn that is done and, with it, a thinking turn for each character that owes an
        answer; see `owe_once`. Returns all of them, the line first; nothing where that message is stored already."""
        async with self._database.transaction() as transaction:
            if await transaction.row("SELECT id FROM turns WHERE message_id = ?", line.message_id):
                return ()
            line_id = await _add_line(transaction, scene_id, line, now)
            whispered = line.kind is TurnKind.WHISPER
            answer = Owed(
                *(scene_id, "", now, line_id, TurnKind.WHISPER if whispered else TurnKind.REPLY, line.heard_by),
                listener_id=line.author_id if whispered else None,
            )
            owed = [
                await owe_once(transaction, replace(answer, speaker=name), begun) for name in dict.fromkeys(answering)
            ]
            return tuple(await _read(transaction, [line_id, *owed]))

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
        """Store that a character owes a reply, or the environment a narration: a turn that is thinking. Where it owes
        that one already: that turn."""
        async with self._database.transaction() as transaction:
            owed = Owed(scene_id, character, now, answers_id, kind, heard_by)
            return await _read_one(transaction, await owe(transaction, owed))

    async def answer_less(self, turn_id: int, line_id: int) -> bool:
        """Take a line that is gone off what an owed turn answers; return whether it answers others still."""
        async with self._database.transaction() as transaction:
            return await answer_less(transaction, turn_id, line_id)

    async def heard_by(self, turn_ids: Sequence[int], audience: frozenset[str] | None) -> None:
        """Say who hears these turns."""
        async with self._database.transaction() as transaction:
            await transaction.execute(
                "UPDATE turns SET heard_by = ? WHERE id IN (SELECT value FROM json_each(?))",
                *(heard_by(audience), id_list(turn_ids)),
            )

    async def keep_take(self, turn_id: int, beats: Sequence[Beat], raw: str, seed: int) -> Turn:
        """Store a take and make it the current one. The turn stays as it is: it is not done until it is posted."""
        async with self._database.transaction() as transaction:
            before = await _read_one(transaction, turn_id)
            await _add_take(transaction, before.id, beats, raw, seed)
            return await _read_one(transaction, turn_id)

    async def settle(self, turn_id: int) -> Turn:
        """Mark a turn done: its take stands on Discord. A turn hidden in the meantime stays hidden."""
        return await self._change(turn_id, TurnState.DONE)

    async def fail(self, turn_id: int, fault: str) -> Turn:
        """Mark a turn failed with the sentence people are told. A take it has stays. A hidden turn stays hidden.

        Where it was only to be made anew, its latest take is current again, and the turn is done.
        """
        async with self._database.transaction() as transaction:
            if not await _put_back(transaction, [turn_id]):
                await transaction.execute(
                    "UPDATE turns SET state = ?, fault = ? WHERE id = ? AND state <> 'hidden'",
                    *(TurnState.FAILED, fault, turn_id),
                )
            return await _read_one(transaction, turn_id)

    async def rethink(self, turn_id: int) -> Turn:
        """Mark a failed turn thinking again. A turn that is hidden stays hidden."""
        return await self._change(turn_id, TurnState.THINKING)

    async def retake(self, turn_id: int) -> Turn:
        """Mark a reply thinking again, for a new take. The takes it has stay stored; none is current meanwhile."""
        async with self._database.transaction() as transaction:
            await transaction.execute(
                "UPDATE turns SET state = 'thinking', fault = NULL, take_id = NULL WHERE id = ? AND state <> 'hidden'",
                turn_id,
            )
            return await _read_one(transaction, turn_id)

    async def give_up(self, turn_ids: Sequence[int]) -> None:
        """Owe these turns no longer: they leave the story, or are done with the latest take that they have."""
        async with self._database.transaction() as transaction:
            await _put_back(transaction, turn_ids)
            await transaction.execute(
                "UPDATE turns SET state = 'hidden' WHERE state = 'thinking' AND id IN (SELECT value FROM json_each(?))",
                id_list(turn_ids),
            )

    async def turns(self, scene_id: int) -> list[Turn]:
        """Return the turns of the story in order, hidden ones left out."""
        async with self._database.reading() as reading:
            ids = await reading.ids("SELECT id FROM turns WHERE scene_id = ? AND state <> 'hidden'", scene_id)
            return await _read(reading, ids)

    async def turn(self, turn_id: int) -> Turn | None:
        """Return one turn, whatever its state."""
        async with self._database.reading() as reading:
            return next(iter(await _read(reading, [turn_id])), None)

    async def owed(self, scene_id: int) -> list[Turn]:
        """Return the turns that are thinking, in order."""
        async with self._database.reading() as reading:
            ids = await reading.ids("SELECT id FROM turns WHERE scene_id = ? AND state = 'thinking'", scene_id)
            return await _read(reading, ids)

    async def last_message_id(self, scene_id: int) -> int | None:
        """Return the highest id of a person's message stored for this scene, also of one deleted since."""
        async with self._database.reading() as reading:
            found: int | None = await reading.value("SELECT last_message_id FROM scenes WHERE id = ?", scene_id)
            return found

    async def hide_turns(self, scene_id: int, turn_ids: Sequence[int] | None = None) -> int:
        """Take these turns, or all of them, out of the story; return how many were in it."""
        these = None if turn_ids is None else id_list(turn_ids)
        async with self._database.transaction() as transaction:
            return await transaction.execute(
                "UPDATE turns SET state = 'hidden' WHERE scene_id = ? AND state <> 'hidden'"
                " AND (? IS NULL OR id IN (SELECT value FROM json_each(?)))",
                *(scene_id, these, these),
            )

    async def turn_by_message(self, message_id: int) -> Turn | None:
        """Return the turn that a Discord message belongs to: a person's line, or any post of a reply."""
        async with self._database.reading() as reading:
            ids = await reading.ids(
                "SELECT id FROM turns WHERE message_id = ? UNION SELECT turn_id FROM posts WHERE message_id = ?",
                *(message_id, message_id),
            )
            return next(iter(await _read(reading, ids)), None)

    async def reword_line(self, turn_id: int, text: str, beats: Sequence[PublicBeat]) -> None:
        """Give a person's line its edited text. The old text is not kept."""
        async with self._database.transaction() as transaction:
            take_id = await transaction.value("SELECT take_id FROM turns WHERE id = ?", turn_id)
            if take_id is None:
                raise _gone(turn_id)
            await transaction.execute("UPDATE takes SET raw = ? WHERE id = ?", text, take_id)
            await transaction.execute("DELETE FROM beats WHERE take_id = ?", take_id)
            await _add_beats(transaction, take_id, beats)

    async def _change(self, turn_id: int, state: TurnState) -> Turn:
        async with self._database.transaction() as transaction:
            await transaction.execute(
                "UPDATE turns SET state = ?, fault = NULL WHERE id = ? AND state <> 'hidden'", state, turn_id
            )
            return await _read_one(transaction, turn_id)


async def _add_line(transaction: Transaction, scene_id: int, line: NewLine, now: datetime) -> int:
    line_id = await transaction.insert(
        "INSERT INTO turns (scene_id, kind, speaker, state, created_at, author_id, message_id, heard_by)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        *(scene_id, line.kind, line.speaker, TurnState.DONE, microseconds(now)),
        *(line.author_id, line.message_id, heard_by(line.heard_by)),
    )
    await _add_take(transaction, line_id, line.beats, line.text, None)
    if line.message_id is not None:
        await transaction.execute(
            "UPDATE scenes SET last_message_id = max(ifnull(last_message_id, 0), ?) WHERE id = ?",
            *(line.message_id, scene_id),
        )
    return line_id


async def _put_back(transaction: Transaction, turn_ids: Sequence[int]) -> int:
    """Make the latest take current again of those turns that were to be made anew; return how many they were."""
    return await transaction.execute(
        "UPDATE turns SET state = 'done', fault = NULL,"
        " take_id = (SELECT id FROM takes WHERE turn_id = turns.id ORDER BY number DESC LIMIT 1)"
        " WHERE state = 'thinking' AND take_id IS NULL AND id IN (SELECT value FROM json_each(?))"
        " AND EXISTS (SELECT 1 FROM takes WHERE turn_id = turns.id)",
        id_list(turn_ids),
    )


async def _add_take(transaction: Transaction, turn_id: int, beats: Sequence[Beat], raw: str, seed: int | None) -> None:
    """Add a take after the turn's others and make it the current one."""
    number = await transaction.value("SELECT ifnull(max(number), 0) + 1 FROM takes WHERE turn_id = ?", turn_id)
    take_id = await transaction.insert(
        "INSERT INTO takes (turn_id, number, raw, seed) VALUES (?, ?, ?, ?)", turn_id, number, raw, seed
    )
    await _add_beats(transaction, take_id, beats)
    await transaction.execute("UPDATE turns SET take_id = ? WHERE id = ?", take_id, turn_id)


async def _add_beats(transaction: Transaction, take_id: int, beats: Sequence[Beat]) -> None:
    await transaction.insert_all(
        "INSERT INTO beats (take_id, position, kind, text) VALUES (?, ?, ?, ?)",
        [(take_id, position, beat.kind, beat.text) for position, beat in enumerate(beats)],
    )


async def _read_one(reading: Transaction, turn_id: int) -> Turn:
    for turn in await _read(reading, [turn_id]):
        return turn
    raise _gone(turn_id)


def _gone(turn_id: int) -> StoreError:
    return StoreError(f"Turn {turn_id} is no longer stored: what belonged to it was deleted.")


async def _read(reading: Transaction, ids: Sequence[int]) -> list[Turn]:
    """Return the turns of these ids in order, in two queries however many there are."""
    wanted = id_list(ids)
    beats: dict[int, list[Beat]] = defaultdict(list)
    for row in await reading.rows(
        "SELECT beats.* FROM turns JOIN beats ON beats.take_id = turns.take_id"
        " WHERE turns.id IN (SELECT value FROM json_each(?)) ORDER BY beats.take_id, beats.position",
        wanted,
    ):
        beats[row["take_id"]].append(_BEATS[BeatKind(row["kind"])](row["text"]))
    rows = await reading.rows(
        "SELECT turns.*, takes.number, takes.raw, takes.seed FROM turns LEFT JOIN takes ON takes.id = turns.take_id"
        " WHERE turns.id IN (SELECT value FROM json_each(?)) ORDER BY turns.id",
        wanted,
    )
    return [_turn(row, beats[row["take_id"]]) for row in rows]


def _turn(row: Row, beats: Sequence[Beat]) -> Turn:
    take = Take(row["take_id"], row["number"], tuple(beats), row["raw"], row["seed"]) if row["take_id"] else None
    return Turn(
        id=row["id"],
        scene_id=row["scene_id"],
        kind=TurnKind(row["kind"]),
        speaker=row["speaker"],
        state=TurnState(row["state"]),
        created_at=time(row["created_at"]),
        take=take,
        author_id=row["author_id"],
        message_id=row["message_id"],
        answers_id=row["answers_id"],
        also_answers=tuple(json.loads(row["also_answers"] or "[]")),
        heard_by=hearers(row["heard_by"]),
        listener_id=row["listener_id"],
        fault=row["fault"],
    )
