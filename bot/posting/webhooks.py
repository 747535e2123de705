"""The webhooks that persona posts go through: one a channel, made once, and one of its own for a character whose
picture has no address, as long as there is room."""

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

    from bot.scenes.posts import Posts
    from bot.scenes.scene import Place

_log = logging.getLogger(__name__)

Face: TypeAlias = str | bytes
"""A character's picture: a public https address, or the bytes of a PNG, JPEG or WebP file."""

MAX_WEBHOOKS: Final = 15
"""How many webhooks a channel may have."""

OWN_WEBHOOK_LIMIT: Final = 10
"""How many webhooks a channel may have before characters get none of their own: five of the fifteen are left free."""

_NAME = "Aside"
_REASON = "Characters of a scene speak through it"
_Hosting: TypeAlias = (
    discord.TextChannel | discord.VoiceChannel | discord.StageChannel | discord.ForumChannel
)


@dataclass(frozen=True, slots=True, repr=False)
class Persona:
    """Under which name and face a character posts. `name` is one that Discord accepts."""

    name: str
    face: Face | None = None

    @property
    def address(self) -> str | None:
        """The picture's address, where it has one."""
        return self.face if isinstance(self.face, str) else None

    @property
    def own_key(self) -> str | None:
        """What the persona's own webhook is known by: name and picture, since either may differ in another scene."""
        if not isinstance(self.face, bytes):
            return None
        return f"{self.name} {hashlib.sha256(self.face).hexdigest()[:12]}"


class Webhooks:
    """Finds and makes the webhooks of channels. Several who ask at once share one request."""

    def __init__(self, client: discord.Client, posts: Posts) -> None:
        self._client = client
        self._posts = posts
        self._making: dict[tuple[int, str | None], asyncio.Task[PersonaWebhook]] = {}
        self._crowded: set[int] = set()  # channels without room for a webhook of a character's own

    async def close(self) -> None:
        """End what is still being made."""
        making = list(self._making.values())
        for task in making:
            task.cancel()
        await asyncio.gather(*making, return_exceptions=True)

    async def of(self, place: Place, persona: Persona) -> PersonaWebhook:
        """Return the webhook for this persona in this place.

        Raises MissingPermission where one has to be made and may not be, NoRoom where there is no room for it, and
        PostingError where the channel is gone or Discord in trouble.
        """
        known = await self.known(place)
        if persona.own_key is not None:
            if own := _named(known, persona.own_key):
                return own
            if place.webhook_channel_id not in self._crowded:
                try:
                    return await self._shared(place, persona)
                except MissingPermission:
                    pass  # the common one may be there already
                except PostingError as error:
                    _log.warning(
                        "Channel %d: no webhook of a character's own: %s",
                        place.webhook_channel_id,
                        error,
                    )
                    self._crowded.add(place.webhook_channel_id)
        return _named(known, None) or await self._shared(place, None)

    async def known(self, place: Place) -> list[PersonaWebhook]:
        """Return the webhooks stored for this place."""
        return await self._posts.webhooks(place.webhook_channel_id)

    async def forget(self, hook: PersonaWebhook) -> None:
        """Forget a webhook that is gone or leads elsewhere."""
        _log.info("Webhook %d of channel %d is gone", hook.id, hook.channel_id)
        await self._posts.forget_webhook(hook.id)

    def live(self, hook: PersonaWebhook) -> discord.Webhook:
        """Return the webhook as discord.py knows it, behind the client's own proxy."""
        live = discord.Webhook.partial(hook.id, hook.token, client=self._client)
        live.proxy, live.proxy_auth = self._client.http.proxy, self._client.http.proxy_auth
        return live

    async def _shared(self, place: Place, persona: Persona | None) -> PersonaWebhook:
        """Make a webhook, or wait for the one that is being made. A task that failed is forgotten."""
        key = (place.webhook_channel_id, persona.own_key if persona else None)
        if (task := self._making.get(key)) is None:
            task = asyncio.create_task(
                self._make(place, persona), name=f"webhook of channel {key[0]}"
            )
            self._making[key] = task
            task.add_done_callback(lambda done: self._made(key, done))
        return await asyncio.shield(task)

    def _made(self, key: tuple[int, str | None], task: asyncio.Task[PersonaWebhook]) -> None:
        del self._making[key]
        if not task.cancelled():
            task.exception()  # whoever waits for it gets it; asyncio need not say that nobody looked

    async def _make(self, place: Place, persona: Persona | None) -> PersonaWebhook:
        channel = await self._hosting(place)
        try:
            hooks = await channel.webhooks()
            ours = [hook for hook in hooks if hook.token and hook.user == self._client.user]
            if persona is None:
                hook = await self._common(channel, ours, full=len(hooks) >= MAX_WEBHOOKS)
            else:
                hook = await _own(channel, persona, full=len(hooks) >= OWN_WEBHOOK_LIMIT)
        except REQUEST_ERRORS as error:
            raise posting_error(error, f"#{channel.name}", ("Manage Webhooks",)) from error
        key = persona.own_key if persona else None
        made = PersonaWebhook(hook.id, hook.token or "", place.webhook_channel_id, key)
        await self._posts.save_webhook(made)
        return made

    async def _common(
        self, channel: _Hosting, ours: Sequence[discord.Webhook], *, full: bool
    ) -> discord.Webhook:
        """Return a webhook for everyone: one of ours that was lost from the store, a new one, or where the channel is
        full whichever of ours there is."""
        if lost := next((hook for hook in ours if hook.name == _NAME), None):
            return lost
        if not full:
            return await channel.create_webhook(name=_NAME, reason=_REASON)
        if not ours:
            raise WebhookLimitReached(
                f"#{channel.name} has all the {MAX_WEBHOOKS} webhooks it may have, none of them mine: remove an unused one."
            )
        return ours[0]

    async def _hosting(self, place: Place) -> _Hosting:
        """Return the channel that holds the webhooks of this place, once it is certain that they may be made."""
        try:
            channel_id = place.webhook_channel_id
            channel = self._client.get_channel(channel_id) or await self._client.fetch_channel(
                channel_id
            )
        except REQUEST_ERRORS as error:
            raise posting_error(error, "this channel") from error
        if not isinstance(channel, _Hosting):
            raise PostingError(
                "Characters can't speak in this kind of channel: start the scene in a text channel."
            )
        if not channel.permissions_for(channel.guild.me).manage_webhooks:
            raise missing_permission(("Manage Webhooks",), f"#{channel.name}")
        return channel


def _named(hooks: Sequence[PersonaWebhook], key: str | None) -> PersonaWebhook | None:
    return next((hook for hook in hooks if hook.character == key), None)


async def _own(channel: _Hosting, persona: Persona, *, full: bool) -> discord.Webhook:
    if full or not isinstance(persona.face, bytes):
        raise WebhookLimitReached(
            f"#{channel.name} has no room for a webhook of {persona.name}'s own."
        )
    try:
        return await channel.create_webhook(name=persona.name, avatar=persona.face, reason=_REASON)
    except ValueError as error:
        raise PostingError(
            f"The picture of {persona.name} is none that Discord takes: save it as PNG."
        ) from error
