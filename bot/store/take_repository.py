"""Takes: the state of a turn, its alternative versions, the current one, and undone turns."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bot.scenes.turn import TurnState
from bot.store.column_values import to_microseconds
from bot.store.pending_replies import give_up, put_back
from bot.store.repository import Repository, id_list
from bot.store.rows import add_take, read_turn, read_turns, write_destinations

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from bot.her.beats import Beat
    from bot.scenes.reveal import Destination
    from bot.scenes.turn import Turn


class TakeRepository(Repository):
    """Stores takes, as `bot.scenes.take_records.TakeRecords` describes."""

    async def keep_take(self, turn_id: int, beats: Sequence[Beat], raw: str, seed: int) -> Turn:
        async with self._database.transaction() as transaction:
            before = await read_turn(transaction, turn_id)
            # The beats that a continuation begins with keep their destinations.
            known = before.lengthens.destinations if before.lengthens else ()
            await add_take(transaction, before.id, beats, raw, seed, destinations=known)
            return replace(await read_turn(transaction, turn_id), lengthens=before.lengthens)

    async def settle(self, turn_id: int) -> Turn:
        return await self._change(turn_id, TurnState.DONE)

    async def fail(self, turn_id: int, fault: str, *, discard_take: bool = False) -> Turn:
        async with self._database.transaction() as transaction:
            before = await read_turn(transaction, turn_id)
            if not await put_back(transaction, [turn_id]):
                await transaction.execute(
                    "UPDATE turns SET state = ?, fault = ? WHERE id = ? AND state <> 'hidden'",
                    TurnState.FAILED,
                    fault,
                    turn_id,
                )
            if discard_take and before.take is not None:
                await transaction.execute("DELETE FROM takes WHERE id = ?", before.take.id)
            return await read_turn(transaction, turn_id)

    async def discard_take(self, turn_id: int, take_id: int) -> None:
        async with self._database.transaction() as transaction:
            await transaction.execute(
                "DELETE FROM takes WHERE id = ? AND turn_id = ?"
                " AND id IS NOT (SELECT take_id FROM turns WHERE id = ?)",
                take_id,
                turn_id,
                turn_id,
            )

    async def rethink(self, turn_id: int) -> Turn:
        return await self._change(turn_id, TurnState.THINKING)

    async def retake(self, turn_id: int, *, lengthen: bool = False) -> Turn:
        async with self._database.transaction() as transaction:
            await transaction.execute(
                "UPDATE turns SET state = 'thinking', fault = NULL, former_id = take_id, "
                "take_id = NULL, lengthens = ? WHERE id = ? AND state = 'done'",
                lengthen,
                turn_id,
            )
            return await read_turn(transaction, turn_id)

    async def give_up(self, turn_ids: Sequence[int]) -> None:
        async with self._database.transaction() as transaction:
            await give_up(transaction, turn_ids)

    async def choose_take(self, turn_id: int, take_id: int) -> Turn:
        async with self._database.transaction() as transaction:
            await transaction.execute(
                "UPDATE turns SET take_id = ? WHERE id = ? AND state = 'done'"
                " AND EXISTS (SELECT 1 FROM takes WHERE id = ? AND turn_id = turns.id)",
                take_id,
                turn_id,
                take_id,
            )
            return await read_turn(transaction, turn_id)

    async def rewrite(
        self,
        turn_id: int,
        beats: Sequence[Beat],
        text: str,
        author_id: int,
        destinations: Sequence[Destination | None] = (),
    ) -> Turn:
        async with self._database.transaction() as transaction:
            await add_take(
                transaction,
                turn_id,
                beats,
                text,
                author_id=author_id,
                destinations=destinations,
            )
            return await read_turn(transaction, turn_id)

    async def save_destinations(
        self, take_id: int, destinations: Sequence[Destination | None]
    ) -> None:
        async with self._database.transaction() as transaction:
            await write_destinations(transaction, take_id, destinations)

    async def mark_posts_outdated(self, turn_id: int) -> None:
        async with self._database.transaction() as transaction:
            await transaction.execute(
                "UPDATE posts SET take_id = NULL WHERE turn_id = ? AND purpose = 'persona'", turn_id
            )

    async def undo(self, scene_id: int, turn_ids: Sequence[int], now: datetime) -> list[Turn]:
        async with self._database.transaction() as transaction:
            await put_back(transaction, turn_ids)
            # Keep the times increasing, even if the clock was set back.
            last = await transaction.value(
                "SELECT max(undone_at) FROM turns WHERE scene_id = ? AND undone_at IS NOT NULL",
                scene_id,
            )
            moment = max(to_microseconds(now), (last or 0) + 1)
            await transaction.execute(
                "UPDATE turns SET state = 'hidden', undone_at = iif(state = 'done' OR (state "
                "= 'thinking' AND take_id IS NOT NULL), ?, NULL) WHERE scene_id = ? AND "
                "state <> 'hidden' AND id IN (SELECT value FROM json_each(?))",
                moment,
                scene_id,
                id_list(turn_ids),
            )
            ids = await transaction.ids(
                "SELECT id FROM turns WHERE undone_at = ? AND id IN (SELECT value FROM "
                "json_each(?))",
                moment,
                id_list(turn_ids),
            )
            return await read_turns(transaction, ids)

    async def last_undone(self, scene_id: int) -> int | None:
        async with self._database.read() as reading:
            found: int | None = await reading.value(
                "SELECT max(undone_at) FROM turns WHERE scene_id = ? AND undone_at IS NOT NULL",
                scene_id,
            )
            return found

    async def restore(self, scene_id: int, moment: int) -> list[Turn]:
        async with self._database.transaction() as transaction:
            ids = await transaction.ids(
                "SELECT id FROM turns WHERE scene_id = ? AND undone_at = ?", scene_id, moment
            )
            await transaction.execute(
                "UPDATE turns SET state = 'done', undone_at = NULL WHERE id IN (SELECT value "
                "FROM json_each(?))",
                id_list(ids),
            )
            return await read_turns(transaction, ids)

    async def find_outdated_turns(self) -> list[Turn]:
        async with self._database.read() as reading:
            ids = await reading.ids(
                "SELECT DISTINCT turns.id FROM turns JOIN scenes ON scenes.id = "
                "turns.scene_id JOIN posts ON posts.turn_id = turns.id AND posts.purpose = "
                "'persona' WHERE scenes.state <> 'ended' AND (turns.state = 'done' AND "
                "posts.take_id IS NOT turns.take_id OR turns.undone_at IS NOT NULL AND "
                "posts.take_id IS NOT NULL)"
            )
            return await read_turns(reading, ids)

    async def _change(self, turn_id: int, state: TurnState) -> Turn:
        async with self._database.transaction() as transaction:
            await transaction.execute(
                "UPDATE turns SET state = ?, fault = NULL, former_id = NULL, lengthens = 0"
                " WHERE id = ? AND state <> 'hidden'",
                state,
                turn_id,
            )
            return await read_turn(transaction, turn_id)
