"""The webhooks that personas post through.

Each channel has one shared webhook. A character whose picture has no public address gets a webhook
of its own, because only a webhook's own avatar can be uploaded. Threads use the webhooks of their
parent channel.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

import discord

from bot.errors import MissingPermission, PostingError, WebhookLimitReached
from bot.posting.discord_errors import REQUEST_ERRORS, posting_error
from bot.posting.permissions import missing_permission
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

    async def close(self) -> None:
        """Cancel the webhooks that are being created."""
        tasks = list(self._creating.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def get(self, place: Place, persona: Persona) -> PersonaWebhook:
        """Return the webhook for this persona in this place. Create it if necessary.

        Raises MissingPermission if Aside may not create one, WebhookLimitReached if the channel has
        as many as Discord allows, and PostingError for other errors of Discord's.
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
        except MissingPermission:
            return None  # the shared webhook may exist already
        except PostingError as error:
            _log.warning("Channel %d: a character gets no own webhook: %s", channel_id, error)
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
        try:
            hooks = await channel.webhooks()
            if persona is None:
                hook = await self._find_or_create_shared(channel, hooks)
            else:
                hook = await _create_own(channel, hooks, persona)
        except REQUEST_ERRORS as error:
            raise posting_error(error, f"#{channel.name}", ("Manage Webhooks",)) from error
        key = persona.own_key if persona else None
        created = PersonaWebhook(hook.id, hook.token or "", place.webhook_channel_id, key)
        await self._posts.save_webhook(created)
        return created

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
            raise WebhookLimitReached(
                f"#{channel.name} has {MAX_WEBHOOKS} webhooks, the most that Discord allows."
                " Delete one that is not used."
            )
        return own[0]

    async def _find_webhook_channel(self, place: Place) -> _WebhookChannel:
        """Return the channel that holds the webhooks of this place.

        Raises PostingError, and MissingPermission if Aside may not create webhooks there.
        """
        channel_id = place.webhook_channel_id
        try:
            channel = self._client.get_channel(channel_id)
            channel = channel or await self._client.fetch_channel(channel_id)
        except REQUEST_ERRORS as error:
            raise posting_error(error, "this channel") from error
        if not isinstance(channel, _WebhookChannel):
            raise PostingError(
                "Characters can't speak in this kind of channel. Start the scene in a text channel."
            )
        if not channel.permissions_for(channel.guild.me).manage_webhooks:
            raise missing_permission(("Manage Webhooks",), f"#{channel.name}")
        return channel


def _find_by_key(hooks: Sequence[PersonaWebhook], key: str | None) -> PersonaWebhook | None:
    return next((hook for hook in hooks if hook.character == key), None)


async def _create_own(
    channel: _WebhookChannel, hooks: Sequence[discord.Webhook], persona: Persona
) -> discord.Webhook:
    if len(hooks) >= OWN_WEBHOOK_LIMIT or not isinstance(persona.face, bytes):
        raise WebhookLimitReached(
            f"#{channel.name} has too many webhooks for another one of {persona.name}'s own."
        )
    try:
        return await channel.create_webhook(name=persona.name, avatar=persona.face, reason=_REASON)
    except ValueError as error:
        raise PostingError(
            f"Discord does not accept {persona.name}'s picture. Save it as PNG."
        ) from error
