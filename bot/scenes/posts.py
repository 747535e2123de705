"""Which Discord message shows which part of which take, and the webhooks that posted it.

These types hold only ids, so the store and the domain can use them without knowing Discord. They
stay here, below `bot.store` and `bot.posting`, because the domain uses them too: the deletion of a
message or of a person's data concerns posts.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence


class PostPurpose(StrEnum):
    """The reason for a post. The values are stored in the database."""

    PERSONA = "persona"  # the reply, with the private beats that the scene reveals
    GM = "gm"  # a direct message to a game master
    FAULT = "fault"  # the notice of a failed reply
    LEAVING = "leaving"  # a reply's message that is about to be deleted
    NARRATION = "narration"
    WHISPER = "whisper"  # a whispered reply, for the player who whispered


@dataclass(frozen=True, slots=True)
class Post:
    """One message on Discord that shows a part of a take."""

    message_id: int
    channel_id: int
    turn_id: int
    take_id: int | None
    part: int  # index among the take's messages of this purpose, from 0
    purpose: PostPurpose
    webhook_id: int | None = None
    controls: bool = False  # whether it has the buttons of the latest reply


@dataclass(frozen=True, slots=True, order=True)
class ShownMessage:
    """A message on Discord that shows part of a story: a person's line, or a post of ours."""

    message_id: int
    channel_id: int


@dataclass(frozen=True, slots=True, repr=False)
class PersonaWebhook:
    """A webhook that posts for characters. The token is secret and not part of the repr."""

    id: int
    token: str
    channel_id: int
    character: str | None = None  # if it is not the channel's common webhook

    def __repr__(self) -> str:
        return (
            f"PersonaWebhook(id={self.id}, channel_id={self.channel_id}, "
            f"character={self.character!r})"
        )


class Obstacle(StrEnum):
    """Why a direct message does not reach a person. The values are stored in the database."""

    CLOSED = "closed"  # their direct messages are closed
    FILTERED = "filtered"  # a filter refused the words
    REJECTED = "rejected"  # Discord refused for another reason


@dataclass(frozen=True, slots=True)
class UnreachablePerson:
    """A person whom the last direct message did not reach."""

    user_id: int
    obstacle: Obstacle
    notified: bool = False


class UnreachablePeople(Protocol):
    """The stored people whom direct messages don't reach. Every method raises StoreError."""

    async def save_unreachable(self, person: UnreachablePerson) -> None:
        """Store a person who can't be reached. It replaces an earlier record."""
        ...

    async def forget_unreachable(self, user_id: int) -> None:
        """Delete the record of a person who was reached."""
        ...


class Posts(Protocol):
    """The stored posts and webhooks. Every method raises StoreError."""

    async def add_post(self, post: Post) -> None:
        """Store a posted message. It replaces an earlier record of it."""
        ...

    async def posts(self, turn_id: int) -> list[Post]:
        """Return a turn's posts in the channel's order."""
        ...

    async def find_stored_message_ids(self, message_ids: Sequence[int]) -> set[int]:
        """Return those of these messages that are stored as posts of any turn."""
        ...

    async def last_message_before(self, turn_id: int) -> int:
        """Return the highest id of a person's message that the scene had stored before this turn.

        Return 0 if it had stored no message.
        """
        ...

    async def posts_with_controls(self, channel_id: int) -> list[Post]:
        """Return the posts in a channel that have the buttons of the latest reply."""
        ...

    async def forget_post(self, message_id: int) -> None:
        """Delete the post of this message."""
        ...

    async def webhooks(self, channel_id: int) -> list[PersonaWebhook]:
        """Return the webhooks made for this channel, the shared one first."""
        ...

    async def save_webhook(self, webhook: PersonaWebhook) -> None:
        """Store a webhook. It replaces an earlier one for the same channel and character."""
        ...

    async def forget_webhook(self, webhook_id: int) -> None:
        """Delete this webhook from the store."""
        ...
