"""Posts and webhooks in memory. Like in the store, a new row replaces an earlier one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.scenes.posts import PersonaWebhook, Post, UnreachablePerson


@dataclass
class MemoryPosts:
    rows: dict[int, Post] = field(default_factory=dict)
    hooks: dict[int, PersonaWebhook] = field(default_factory=dict)
    heard: int = 0  # the id of the message before every turn
    forgetful: bool = False  # as if the program crashed before it stored a post

    async def add_post(self, post: Post) -> None:
        if self.forgetful:
            raise MemoryError("crashed before the post was stored")
        self.rows[post.message_id] = post

    async def posts(self, turn_id: int) -> list[Post]:
        rows = sorted(self.rows.values(), key=lambda row: row.message_id)
        return [row for row in rows if row.turn_id == turn_id]

    async def find_stored_message_ids(self, message_ids: Sequence[int]) -> set[int]:
        return self.rows.keys() & set(message_ids)

    async def last_message_before(self, _turn_id: int) -> int:
        return self.heard

    async def posts_with_controls(self, channel_id: int) -> list[Post]:
        return [row for row in self.rows.values() if row.channel_id == channel_id and row.controls]

    async def forget_post(self, message_id: int) -> None:
        self.rows.pop(message_id, None)

    async def webhooks(self, channel_id: int) -> list[PersonaWebhook]:
        return [hook for hook in self.hooks.values() if hook.channel_id == channel_id]

    async def save_webhook(self, webhook: PersonaWebhook) -> None:
        same = (webhook.channel_id, webhook.character)
        self.hooks = {
            each.id: each
            for each in self.hooks.values()
            if (each.channel_id, each.character) != same
        }
        self.hooks[webhook.id] = webhook

    async def forget_webhook(self, webhook_id: int) -> None:
        self.hooks.pop(webhook_id, None)


@dataclass
class MemoryPeople:
    """The people whom direct messages don't reach, in memory."""

    rows: dict[int, UnreachablePerson] = field(default_factory=dict)

    async def save_unreachable(self, person: UnreachablePerson) -> None:
        self.rows[person.user_id] = person

    async def forget_unreachable(self, user_id: int) -> None:
        self.rows.pop(user_id, None)
