"""Direct messages: private beats for game masters, and whispered answers."""

from __future__ import annotations

import hashlib
import logging
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import discord

from bot.errors import PostingError
from bot.posting.attachments import create_files
from bot.posting.channel_access import ChannelAccess
from bot.posting.channels import NO_MENTIONS
from bot.posting.discord_errors import FILTERED, REQUEST_ERRORS, Code
from bot.posting.graphemes import shorten
from bot.posting.render import Outgoing
from bot.scenes.posts import Obstacle, Post, PostPurpose, UnreachablePerson
from bot.scenes.scene import AT_TERMINAL

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from bot.scenes.posts import Posts, UnreachablePeople
    from bot.scenes.scene import Scene
    from bot.scenes.turn import Take, Turn

_log = logging.getLogger(__name__)

NotifyAbout: TypeAlias = "Callable[[Scene, int], Awaitable[None]]"
"""Called with a scene and the user id of one of its people."""

RETRY_CLOSED_AFTER: Final = 3600.0
"""Seconds before Aside tries again to reach a person whose direct messages are closed."""

_MAX_AUTHOR_LENGTH = 256
_CLOSED = (Code.DM_CLOSED, Code.DM_UNREACHABLE)
_THOUGHTS_UNDELIVERED = (
    "The characters' thoughts can't reach you. {reason} The thoughts are stored. “Show thoughts”"
    " on a reply shows them."
)
_REASONS: Final = {
    Obstacle.CLOSED: (
        "Your direct messages are closed to me. Open them in the server's privacy settings, then"
        " use one of my commands. I try again with the next reply."
    ),
    Obstacle.FILTERED: "A filter of Discord's refused them.",
    Obstacle.REJECTED: (
        "Discord rejected my last direct message to you. I will try again with the next reply."
    ),
}


@dataclass(slots=True)
class _Failure:
    """The latest failure to reach a game master."""

    obstacle: Obstacle
    retry_at: float  # seconds of the monotonic clock


class DirectMessages:
    """Sends direct messages, and keeps a notice for each person who could not be reached.

    Private beats that could not be delivered stay stored with their take. A game master is notified
    once for each reason. If their direct messages are closed, Aside does not try again with every
    reply, but after `allow_retry` or an hour. `notify_unreachable` is called while there may still
    be another way to tell the game master. `notify_departed` is called for a person who can no
    longer read the scene's place. Nothing is sent to them. `people` stores who can't be reached,
    and `unreachable` are those that it had stored before.
    """

    def __init__(
        self,
        client: discord.Client,
        posts: Posts,
        people: UnreachablePeople,
        *,
        unreachable: Iterable[UnreachablePerson] = (),
        notify_unreachable: NotifyAbout | None = None,
        notify_departed: NotifyAbout | None = None,
    ) -> None:
        self._client = client
        self._access = ChannelAccess(client)
        self._notify_departed = notify_departed
        self._posts = posts
        self._notify_unreachable = notify_unreachable
        self._people = people
        self._undelivered: dict[int, str] = {}
        self._failures: dict[int, _Failure] = {}
        for person in unreachable:
            self._failures[person.user_id] = _create_failure(person.obstacle)
            if not person.notified:
                self._undelivered[person.user_id] = _format_notice(person.obstacle)

    def allow_retry(self, user_id: int) -> None:
        """Try to reach this user again with the next reply."""
        if failure := self._failures.get(user_id):
            failure.retry_at = 0.0

    def is_undelivered(self, user_id: int) -> bool:
        """Return whether a notice is waiting for this user."""
        return user_id in self._undelivered

    def pop_undelivered(self, user_id: int) -> str | None:
        """Remove and return the notice for a user who could not be reached."""
        return self._undelivered.pop(user_id, None)

    async def save_notified(self, user_id: int) -> None:
        """Store that a user has read the notice that they can't be reached."""
        if failure := self._failures.get(user_id):
            person = UnreachablePerson(user_id, failure.obstacle, notified=True)
            await self._people.save_unreachable(person)

    def set_undelivered(self, user_id: int, notice: str) -> None:
        """Keep a notice for a user who could not be reached."""
        self._undelivered[user_id] = notice

    async def tell(self, user_id: int, text: str) -> None:
        """Send a sentence to one person. If that fails, keep it for their next command."""
        try:
            await self.send(user_id, [Outgoing(text)])
        except REQUEST_ERRORS as error:
            _log.info("A direct message with a notice failed: %s", error)
            self._undelivered.setdefault(user_id, text)

    async def greet(self, gm_id: int, text: str) -> bool:
        """Send a game master their first message. Return whether it arrived."""
        try:
            channel = await self._client.create_dm(discord.Object(gm_id))
            await channel.send(text, allowed_mentions=NO_MENTIONS)
        except REQUEST_ERRORS as error:
            self._failures.pop(gm_id, None)  # a person's action is worth another notice
            await self._remember(gm_id, error)
            return False
        await self._forget_failure(gm_id)
        return True

    async def send(
        self, user_id: int, messages: Sequence[Outgoing], view: discord.ui.View | None = None
    ) -> list[int]:
        """Send messages to one person and return the messages' ids. Raises discord.py's errors."""
        extras: dict[str, Any] = {"view": view} if view else {}
        channel = await self._client.create_dm(discord.Object(user_id))
        sent = [
            await channel.send(
                one.text, files=create_files(one), allowed_mentions=NO_MENTIONS, **extras
            )
            for one in messages
        ]
        return [message.id for message in sent]

    async def send_to_gms(
        self,
        scene: Scene,
        turn: Turn,
        take: Take | None,
        messages: Sequence[Outgoing],
        *,
        link: str,
        icon_url: str | None = None,
        view: discord.ui.View | None = None,
        exclude: Sequence[int | None] = (),
    ) -> None:
        """Send these messages of a take to every game master who does not have them yet.

        Without a take, they are the thoughts of a reply that failed. `link` leads to the reply and
        `icon_url` to the character's picture. The last message gets the buttons of `view`. Users
        in `exclude` are skipped. If a game master can't be reached, the others still get the
        messages.
        """
        embeds = [_build_embed(scene, one, link, icon_url) for one in messages]
        for gm_id in scene.gm_ids:
            failure = self._failures.get(gm_id)
            if not embeds or gm_id in exclude or gm_id == AT_TERMINAL:
                continue
            if failure and time.monotonic() < failure.retry_at:
                continue
            try:
                if await self._access.can_read(scene.place, gm_id):
                    await self._send_to_gm(gm_id, scene, turn, take, embeds, view)
                else:
                    await self.report_departed(scene, gm_id)
            except (*REQUEST_ERRORS, PostingError) as error:
                is_new = await self._remember(gm_id, error)
                if is_new and self._notify_unreachable is not None:
                    await self._notify_unreachable(scene, gm_id)

    async def report_departed(self, scene: Scene, user_id: int) -> None:
        """Report a person who can no longer read the scene's place."""
        _log.info("Scene %d: a person can no longer read its place", scene.id)
        if self._notify_departed is not None:
            await self._notify_departed(scene, user_id)

    async def require_reader(self, scene: Scene, user_id: int) -> None:
        """Raise PostingError if a user can no longer read the scene's place. Report them."""
        if not await self._access.is_reader(scene.place, user_id):
            await self.report_departed(scene, user_id)
            raise PostingError("The person who whispered can't read this channel any more.")

    async def _send_to_gm(
        self,
        gm_id: int,
        scene: Scene,
        turn: Turn,
        take: Take | None,
        embeds: Sequence[discord.Embed],
        view: discord.ui.View | None,
    ) -> None:
        channel = await self._client.create_dm(discord.Object(gm_id))
        rows = await self._posts.posts(turn.id) if take else ()
        take_id = take.id if take else None
        sent = {row.part for row in rows if row.channel_id == channel.id and row.take_id == take_id}
        for part, embed in enumerate(embeds):
            if part not in sent:
                source = str(take_id) if take else f"turn {turn.id} {embed.description}"
                nonce = _make_nonce(scene, source, gm_id, part)
                extras: dict[str, Any] = {"view": view} if view and part == len(embeds) - 1 else {}
                message = await channel.send(
                    embed=embed, nonce=nonce, allowed_mentions=NO_MENTIONS, **extras
                )
                await self._posts.add_post(
                    Post(
                        message_id=message.id,
                        channel_id=channel.id,
                        turn_id=turn.id,
                        take_id=take_id,
                        part=part,
                        purpose=PostPurpose.GM,
                    )
                )
        await self._forget_failure(gm_id)

    async def _forget_failure(self, gm_id: int) -> None:
        self._undelivered.pop(gm_id, None)
        if self._failures.pop(gm_id, None) is not None:
            await self._people.forget_unreachable(gm_id)

    async def _remember(self, gm_id: int, error: Exception) -> bool:
        """Keep the notice of a failure. Return whether its reason is new."""
        _log.warning("A direct message to a game master failed: %s", error)
        obstacle = _find_obstacle(error)
        previous = self._failures.get(gm_id)
        self._failures[gm_id] = _create_failure(obstacle)
        if previous is not None and previous.obstacle is obstacle:
            return False
        self._undelivered[gm_id] = _format_notice(obstacle)
        await self._people.save_unreachable(UnreachablePerson(gm_id, obstacle))
        return True


def _find_obstacle(error: Exception) -> Obstacle:
    code = getattr(error, "code", 0)
    if code in _CLOSED:
        return Obstacle.CLOSED
    return Obstacle.FILTERED if code in FILTERED else Obstacle.REJECTED


def _create_failure(obstacle: Obstacle) -> _Failure:
    pause = RETRY_CLOSED_AFTER if obstacle is Obstacle.CLOSED else 0.0
    return _Failure(obstacle, time.monotonic() + pause)


def _format_notice(obstacle: Obstacle) -> str:
    return _THOUGHTS_UNDELIVERED.format(reason=_REASONS[obstacle])


def _build_embed(
    scene: Scene, outgoing: Outgoing, link: str, icon_url: str | None
) -> discord.Embed:
    embed = discord.Embed(description=outgoing.text)
    embed.set_author(
        name=shorten(outgoing.author or "", _MAX_AUTHOR_LENGTH), url=link, icon_url=icon_url
    )
    embed.set_footer(text=scene.scenario.title)
    return embed


def _make_nonce(scene: Scene, source: str, gm_id: int, part: int) -> str:
    """Return the nonce that keeps Discord from posting this message of `source` twice.

    It includes the scene's start because ids start again from 1 in a new database.
    """
    key = f"{scene.started_at.timestamp()} {source} {gm_id} {part}"
    return hashlib.sha256(key.encode()).hexdigest()[:24]
