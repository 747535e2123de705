"""Players' messages that are about to be replaced by posts of their characters."""

from __future__ import annotations

from bot.store.repository import Repository


class RepostRepository(Repository):
    """Implements `bot.scenes.persona_lines.RepostStore`."""

    async def begin_repost(self, scene_id: int, message_id: int) -> None:
        """Store that a player's message is about to be posted again."""
        async with self._database.transaction() as transaction:
            await transaction.execute(
                "INSERT OR REPLACE INTO reposts (message_id, scene_id) VALUES (?, ?)",
                message_id,
                scene_id,
            )

    async def end_repost(self, message_id: int, posted_id: int | None = None) -> None:
        """Store the message that replaced another one, or that none did."""
        async with self._database.transaction() as transaction:
            if posted_id is None:
                await transaction.execute("DELETE FROM reposts WHERE message_id = ?", message_id)
            else:
                await transaction.execute(
                    "UPDATE reposts SET posted_id = ? WHERE message_id = ?", posted_id, message_id
                )

    async def find_reposts(self, scene_id: int) -> list[int]:
        """Return the messages of a scene whose replacement did not end."""
        async with self._database.read() as reading:
            return await reading.ids(
                "SELECT message_id FROM reposts WHERE scene_id = ? AND posted_id IS NULL"
                " ORDER BY message_id",
                scene_id,
            )

    async def replacement_of(self, message_id: int) -> int | None:
        """Return the message that took the place of this one in the story, if one did."""
        async with self._database.read() as reading:
            found: int | None = await reading.value(
                "SELECT turns.message_id FROM replaced_messages JOIN turns"
                " ON turns.id = replaced_messages.turn_id WHERE replaced_messages.message_id = ?",
                message_id,
            )
        return found
