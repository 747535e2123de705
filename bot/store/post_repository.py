"""The Discord messages that show takes, and the webhooks that post them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from bot.scenes.posts import PersonaWebhook, Post, PostPurpose
from bot.scenes.scene import Place
from bot.store.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.store.transaction import Row


_RECENT_LINES = 100
"""Lines among which the highest message id is looked for. Lines that were missed come late."""


class PostRepository(Repository):
    """Stores posts and webhooks, as `bot.scenes.posts.Posts` describes."""

    async def add_post(self, post: Post) -> None:
        async with self._database.transaction() as transaction:
            await transaction.execute(
                "INSERT OR REPLACE INTO posts (message_id, channel_id, turn_id, take_id, "
                "part, purpose, webhook_id, controls) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                post.message_id,
                post.channel_id,
                post.turn_id,
                post.take_id,
                post.part,
                post.purpose,
                post.webhook_id,
                post.controls,
            )

    async def posts(self, turn_id: int) -> list[Post]:
        async with self._database.read() as reading:
            rows = await reading.rows(
                "SELECT * FROM posts WHERE turn_id = ? ORDER BY message_id", turn_id
            )
        return [_post(row) for row in rows]

    async def posts_with_controls(self, channel_id: int) -> list[Post]:
        async with self._database.read() as reading:
            rows = await reading.rows(
                "SELECT * FROM posts WHERE channel_id = ? AND controls", channel_id
            )
        return [_post(row) for row in rows]

    async def posts_of(self, user_id: int) -> list[tuple[Place, Post]]:
        async with self._database.read() as reading:
            rows = await reading.rows(
                "SELECT posts.*, scenes.guild_id, scenes.parent_id, scenes.channel_id AS "
                "stage FROM posts JOIN turns ON turns.id = posts.turn_id JOIN scenes ON "
                "scenes.id = scene_id LEFT JOIN takes ON takes.id = posts.take_id WHERE "
                "turns.author_id = ? OR takes.author_id = ? AND scenes.state = 'ended'",
                user_id,
                user_id,
            )
            lines = await reading.rows(
                "SELECT turns.message_id, turns.channel_id, turns.id AS turn_id, NULL AS take_id,"
                " 0 AS part, 'persona' AS purpose, NULL AS webhook_id, 0 AS controls,"
                " scenes.guild_id, scenes.parent_id, scenes.channel_id AS stage FROM reposts"
                " JOIN turns ON turns.message_id = posted_id"
                " JOIN scenes ON scenes.id = turns.scene_id WHERE turns.author_id = ?",
                user_id,
            )
        return [(_place(row), _post(row)) for row in (*rows, *lines)]

    async def find_stored_message_ids(self, message_ids: Sequence[int]) -> set[int]:
        async with self._database.read() as reading:
            rows = await reading.rows(
                "SELECT value AS message_id FROM json_each(?)"
                " WHERE EXISTS (SELECT 1 FROM posts WHERE message_id = value)"
                " OR EXISTS (SELECT 1 FROM turns WHERE message_id = value)",
                json.dumps(list(message_ids)),
            )
        return {row["message_id"] for row in rows}

    async def last_message_before(self, turn_id: int) -> int:
        async with self._database.read() as reading:
            found: int | None = await reading.value(
                "SELECT max(message_id) FROM (SELECT earlier.message_id FROM turns AS this"
                " JOIN turns AS earlier ON earlier.scene_id = this.scene_id"
                " AND earlier.id < this.id WHERE this.id = ? AND earlier.message_id IS NOT NULL"
                " ORDER BY earlier.id DESC LIMIT ?)",
                turn_id,
                _RECENT_LINES,
            )
        return found or 0

    async def newest_turn(self) -> int:
        """Return the id of the turn stored last, whatever its state, or 0."""
        async with self._database.read() as reading:
            found: int | None = await reading.value(
                "SELECT seq FROM sqlite_sequence WHERE name = 'turns'"
            )
        return found or 0

    async def forget_post(self, message_id: int) -> None:
        async with self._database.transaction() as transaction:
            await transaction.execute("DELETE FROM posts WHERE message_id = ?", message_id)

    async def webhooks(self, channel_id: int) -> list[PersonaWebhook]:
        async with self._database.read() as reading:
            rows = await reading.rows(
                "SELECT * FROM webhooks WHERE channel_id = ? ORDER BY character IS NOT NULL, id",
                channel_id,
            )
        return [
            PersonaWebhook(row["id"], row["token"], row["channel_id"], row["character"])
            for row in rows
        ]

    async def save_webhook(self, webhook: PersonaWebhook) -> None:
        async with self._database.transaction() as transaction:
            await transaction.execute(
                "INSERT OR REPLACE INTO webhooks (id, token, channel_id, character) VALUES "
                "(?, ?, ?, ?)",
                webhook.id,
                webhook.token,
                webhook.channel_id,
                webhook.character,
            )

    async def forget_webhook(self, webhook_id: int) -> None:
        async with self._database.transaction() as transaction:
            await transaction.execute("DELETE FROM webhooks WHERE id = ?", webhook_id)


def _place(row: Row) -> Place:
    """Return the place of a post: the scene's place or a direct message."""
    there = row["channel_id"] == row["stage"]
    return Place(row["guild_id"], row["channel_id"], row["parent_id"] if there else None)


def _post(row: Row) -> Post:
    return Post(
        message_id=row["message_id"],
        channel_id=row["channel_id"],
        turn_id=row["turn_id"],
        take_id=row["take_id"],
        part=row["part"],
        purpose=PostPurpose(row["purpose"]),
        webhook_id=row["webhook_id"],
        controls=bool(row["controls"]),
    )
