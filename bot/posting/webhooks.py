"""The webhooks that personas post through.

Each channel has one shared webhook. A character whose picture has no public address gets a webhook
of its own, because only a webhook's own avatar can be uploaded. Threads use the webhooks of their
parent channel.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

import discord

from bot.errors import PostingError, WebhookLimitReached, WebhookUnavailable
from bot.posting.discord_errors import REQUEST_ERRORS, Code, explain_discord_error, is_temporary
from bot.posting.permissions import describe_channel, explain_missing_permission
from bot.scenes.posts import PersonaWebhook

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.library.library import Face
    from bot.scenes.posts import Posts
    from bot.scenes.scene import Place

_log = logging.getLogger(__name__)

MAX_WEBHOOKS: Final = 15
"""The number of webhooks that Discord allows in a channel."""

OWN_WEBHOOK_LIMIT: Final = 10
"""The number of webhooks in a channel from which on characters get no webhook of their own.

This leaves five of the fifteen for others.
"""

RETRY_AFTER: Final = 300.0
"""Seconds before Aside asks again for a webhook that Discord refused."""

_UNKNOWN = (Code.UNKNOWN_CHANNEL, Code.NO_ACCESS)  # the bot itself can't post there either
_NAME = "Aside"
_REASON = "The characters of a scene speak through it"
_WebhookChannel: TypeAlias = (
    discord.TextChannel | discord.VoiceChannel | discord.StageChannel | discord.ForumChannel
)


@dataclass(frozen=True, slots=True, repr=False)
class Persona:
    """The name and picture that a character posts under. `name` is a name that Discord accepts."""

    name: str
    face: Face | None = None

    @property
    def avatar_url(self) -> str | None:
        """The picture's public address, or None if it has none."""
        return self.face if isinstance(self.face, str) else None

    @property
    def own_key(self) -> str | None:
        """The key of the persona's own webhook, or None if it uses the shared one.

        It contains the name and the picture because either may differ in another scene.
        """
        if not isinstance(self.face, bytes):
            return None
        return f"{self.name} {hashlib.sha256(self.face).hexdigest()[:12]}"


class Webhooks:
    """Finds and creates the webhooks of channels. Concurrent callers share one request."""

    def __init__(self, client: discord.Client, posts: Posts) -> None:
        self._client = client
        self._posts = posts
        self._creating: dict[tuple[int, str | None], asyncio.Task[PersonaWebhook]] = {}
        self._full_channels: set[int] = set()  # no character gets a webhook of its own there
        # By channel and persona: the reason that Discord gave, and when to ask again.
        self._refused: dict[tuple[int, str | None], tuple[PostingError, float]] = {}

    async def close(self) -> None:
        """Cancel the webhooks that are being created."""
        tasks = list(self._creating.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def get(self, place: Place, persona: Persona) -> PersonaWebhook:
        """Return the webhook for this persona in this place. Create it if necessary.

        Raises WebhookUnavailable if there can be none for now, and PostingError if the place was
        deleted or Discord does not respond.
        """
        stored = await self.get_stored(place)
        if persona.own_key is not None:
            if own := _find_by_key(stored, persona.own_key):
                return own
            if own := await self._try_to_create_own(place, persona):
                return own
        return _find_by_key(stored, None) or await self._create_once(place, None)

    async def get_stored(self, place: Place) -> list[PersonaWebhook]:
        """Return the webhooks stored for this place."""
        return await self._posts.webhooks(place.webhook_channel_id)

    async def forget(self, hook: PersonaWebhook) -> None:
        """Forget a webhook that was deleted or moved to another channel."""
        _log.info("Webhook %d of channel %d was deleted or moved", hook.id, hook.channel_id)
        await self._posts.forget_webhook(hook.id)

    def connect(self, hook: PersonaWebhook) -> discord.Webhook:
        """Return the discord.py webhook that sends through the client's own proxy."""
        webhook = discord.Webhook.partial(hook.id, hook.token, client=self._client)
        webhook.proxy = self._client.http.proxy
        webhook.proxy_auth = self._client.http.proxy_auth
        return webhook

    async def _try_to_create_own(self, place: Place, persona: Persona) -> PersonaWebhook | None:
        channel_id = place.webhook_channel_id
        if channel_id in self._full_channels:
            return None
        try:
            return await self._create_once(place, persona)
        except PostingError as error:
            # The shared webhook may exist already.
            _log.info("Channel %d: a character gets no own webhook: %s", channel_id, error)
            if isinstance(error, WebhookLimitReached):
                self._full_channels.add(channel_id)
            return None

    async def _create_once(self, place: Place, persona: Persona | None) -> PersonaWebhook:
        """Create a webhook, or wait for the task that is creating it already."""
        key = (place.webhook_channel_id, persona.own_key if persona else None)
        if (task := self._creating.get(key)) is None:
            task = asyncio.create_task(
                self._create(place, persona), name=f"webhook of channel {key[0]}"
            )
            self._creating[key] = task
            task.add_done_callback(lambda done: self._finish(key, done))
        return await asyncio.shield(task)

    def _finish(self, key: tuple[int, str | None], task: asyncio.Task[PersonaWebhook]) -> None:
        del self._creating[key]
        if not task.cancelled():
            # Retrieve the error, or asyncio logs it if every waiting caller was cancelled.
            task.exception()

    async def _create(self, place: Place, persona: Persona | None) -> PersonaWebhook:
        channel = await self._find_webhook_channel(place)
        key = (channel.id, persona.own_key if persona else None)
        self._require_not_refused(key)
        try:
            hooks = await channel.webhooks()
            if persona is None:
                hook = await self._find_or_create_shared(channel, hooks)
            else:
                hook = await _create_own(channel, hooks, persona)
        except ValueError as error:  # from discord.py, which reads the picture
            text = "Discord does not accept this character's picture. Save it as PNG."
            reason = WebhookUnavailable(text)
            self._refused[key] = (reason, time.monotonic() + RETRY_AFTER)
            raise reason from error
        except REQUEST_ERRORS as error:
            raise self._explain(channel, key, error) from error
        created = PersonaWebhook(
            id=hook.id, token=hook.token or "", channel_id=channel.id, character=key[1]
        )
        await self._posts.save_webhook(created)
        return created

    def _require_not_refused(self, key: tuple[int, str | None]) -> None:
        """Raise WebhookUnavailable if Discord refused this webhook a short time ago."""
        if key in self._refused:
            reason, retry_at = self._refused[key]
            if time.monotonic() < retry_at:
                raise reason
            del self._refused[key]

    def _explain(
        self, channel: _WebhookChannel, key: tuple[int, str | None], error: Exception
    ) -> PostingError:
        """Return the error for a failed request. A refusal that lasts is a WebhookUnavailable."""
        where = describe_channel(channel)
        if is_temporary(error) or getattr(error, "code", 0) in _UNKNOWN:
            return explain_discord_error(error, where, ("Manage Webhooks",))
        reason = _explain_refusal(where, error)
        self._refused[key] = (reason, time.monotonic() + RETRY_AFTER)
        return reason

    async def _find_or_create_shared(
        self, channel: _WebhookChannel, hooks: Sequence[discord.Webhook]
    ) -> discord.Webhook:
        """Return a webhook for all characters.

        Reuse Aside's shared webhook if the store has lost it. If the channel is full, use any of
        Aside's webhooks.
        """
        own = [hook for hook in hooks if hook.token and hook.user == self._client.user]
        if lost := next((hook for hook in own if hook.name == _NAME), None):
            return lost
        if len(hooks) < MAX_WEBHOOKS:
            return await channel.create_webhook(name=_NAME, reason=_REASON)
        if not own:
            raise _limit_reached(describe_channel(channel))
        return own[0]

    async def _find_webhook_channel(self, place: Place) -> _WebhookChannel:
        """Return the channel that holds the webhooks of this place.

        Raises PostingError, and WebhookUnavailable if Aside may not create webhooks there.
        """
        channel_id = place.webhook_channel_id
        try:
            channel = self._client.get_channel(channel_id)
            channel = channel or await self._client.fetch_channel(channel_id)
        except REQUEST_ERRORS as error:
            raise explain_discord_error(error, "this channel") from error
        if not isinstance(channel, _WebhookChannel):
            raise PostingError(
                "Characters can't speak in this kind of channel. Start the scene in a text channel."
            )
        if not channel.permissions_for(channel.guild.me).manage_webhooks:
            raise WebhookUnavailable(
                str(explain_missing_permission(("Manage Webhooks",), describe_channel(channel)))
            )
        return channel


def _explain_refusal(where: str, error: Exception) -> WebhookUnavailable:
    code = getattr(error, "code", 0)
    if code == Code.NO_PERMISSION:
        return WebhookUnavailable(str(explain_missing_permission(("Manage Webhooks",), where)))
    if code == Code.TOO_MANY_WEBHOOKS:
        return _limit_reached(where)
    if code == Code.TWO_FACTOR_REQUIRED:
        return WebhookUnavailable(
            "This server requires two-factor authentication for moderation, so I can't create a"
            f" webhook in {where}. The owner of my account must enable it."
        )
    return WebhookUnavailable(f"Discord refused me a webhook in {where} (error {code}).")


def _limit_reached(where: str) -> WebhookLimitReached:
    return WebhookLimitReached(
        f"{where} has {MAX_WEBHOOKS} webhooks, the most that Discord allows."
        " Delete one that is not used."
    )


def _find_by_key(hooks: Sequence[PersonaWebhook], key: str | None) -> PersonaWebhook | None:
    return next((hook for hook in hooks if hook.character == key), None)


async def _create_own(
    channel: _WebhookChannel, hooks: Sequence[discord.Webhook], persona: Persona
) -> discord.Webhook:
    if len(hooks) >= OWN_WEBHOOK_LIMIT or not isinstance(persona.face, bytes):
        raise WebhookLimitReached(
            f"{describe_channel(channel)} has too many webhooks for one of {persona.name}'s own."
        )
    return await channel.create_webhook(name=persona.name, avatar=persona.face, reason=_REASON)
