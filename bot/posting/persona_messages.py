"""A persona's single messages: posted, changed, removed, and what goes wrong with that put right."""

from __future__ import annotations

import io
import logging
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import discord
from discord.utils import MISSING

from bot.errors import PostingError
from bot.posting import lost_posts
from bot.posting.channels import NO_MENTIONS
from bot.posting.discord_errors import REQUEST_ERRORS, UNCERTAIN, Code

if TYPE_CHECKING:
    from bot.posting.channels import Channels
    from bot.posting.render import Outgoing
    from bot.posting.webhooks import Persona, Webhooks
    from bot.scenes.posts import PersonaWebhook, Post, Posts
    from bot.scenes.scene import Place

_log = logging.getLogger(__name__)

_RETRIED_AFTER = (
    0.9  # seconds: discord.py waits one before it asks again after an answer of 500 and above
)
_ATTEMPTS = 3
_WEBHOOK_GONE = (Code.UNKNOWN_WEBHOOK, Code.WEBHOOK_TOKEN)
_UNCHANGEABLE = (Code.UNKNOWN_MESSAGE, Code.EDITED_TOO_OFTEN, *_WEBHOOK_GONE)


@dataclass(frozen=True, slots=True)
class Posted:
    """A message that stands on Discord. Without a webhook the bot posted it itself."""

    message_id: int
    webhook_id: int | None


@dataclass(frozen=True, slots=True)
class PersonaMessages:
    """How personas are heard: through a webhook, or where there can be none as the bot itself."""

    channels: Channels
    webhooks: Webhooks
    posts: Posts

    async def lost(self, turn_id: int, place: Place, persona: Persona) -> list[discord.Message]:
        """Return what stands in a place as the persona's and may be that turn's: it is no post that was stored, and
        came after all that was said before the turn."""
        client = self.channels.client
        hooks = frozenset(hook.id for hook in await self.webhooks.known(place))
        author = lost_posts.Author(persona.name, hooks, client.user.id if client.user else 0)
        return await lost_posts.lost(
            client, self.posts, place, author, await self.posts.heard_before(turn_id)
        )

    async def send(
        self,
        turn_id: int,
        place: Place,
        persona: Persona,
        hook: PersonaWebhook | None,
        outgoing: Outgoing,
        view: discord.ui.View | None = None,
    ) -> Posted:
        """Post one message of a turn's, through `hook` or else as the bot, with the buttons of `view`.

        Where Discord was in trouble, what it posted all the same counts, and what it posted twice is removed.
        Raises PostingError.
        """
        started = time.monotonic()
        try:
            message = await self._post(place, persona, hook, outgoing, view)
        except UNCERTAIN as error:
            found = await self._copies(turn_id, place, persona, outgoing)
            if not found:
                raise self.channels.posting_error(place, error) from error
        except REQUEST_ERRORS as error:
            raise self.channels.posting_error(
                place, error, *(("Attach Files",) if outgoing.files else ())
            ) from error
        else:
            found = [message]
            if time.monotonic() - started > _RETRIED_AFTER:
                copies = await self._copies(turn_id, place, persona, outgoing)
                found += [copy for copy in copies if copy.id != message.id]
        for twice in found[1:]:
            await self.remove(place, Posted(twice.id, twice.webhook_id))
        return Posted(found[0].id, found[0].webhook_id)

    async def edit(
        self,
        place: Place,
        posted: Post | Posted,
        outgoing: Outgoing | None,
        view: discord.ui.View | None = None,
    ) -> bool:
        """Give a post another text (None: leave it its own) and the buttons of `view`, or none.

        False where it can't be changed any more. Raises PostingError.
        """
        changed: dict[str, Any] = {"view": view, "allowed_mentions": NO_MENTIONS}
        if outgoing is not None:
            changed |= {"content": outgoing.text}
        try:
            if posted.webhook_id is None:
                await self._edit_as_bot(place, posted.message_id, outgoing, changed)
            elif hook := await self._hook(place, posted.webhook_id):
                await self._edit_through(hook, place, posted.message_id, outgoing, changed)
            else:
                return False
        except REQUEST_ERRORS as error:
            if getattr(error, "code", 0) in _UNCHANGEABLE:
                return False
            raise self.channels.posting_error(place, error) from error
        return True

    async def remove(self, place: Place, posted: Post | Posted) -> None:
        """Take a post away, as far as that is possible: what can't be removed stays, and the log says so."""
        try:
            hook = await self._hook(place, posted.webhook_id) if posted.webhook_id else None
            if hook is None:
                await self.channels.remove(place, posted.message_id)
                return
            live = self.webhooks.live(hook)
            await self.channels.awake(
                place, lambda: live.delete_message(posted.message_id, thread=_thread(place))
            )
        except (*REQUEST_ERRORS, PostingError) as error:
            if getattr(error, "code", 0) != Code.UNKNOWN_MESSAGE:
                _log.warning("Message %d could not be removed: %s", posted.message_id, error)

    async def _post(
        self,
        place: Place,
        persona: Persona,
        hook: PersonaWebhook | None,
        outgoing: Outgoing,
        view: discord.ui.View | None,
    ) -> discord.Message:
        extras: dict[str, Any] = {"view": view} if view else {}
        if hook is None:
            channel = self.channels.at(place)
            return await self.channels.awake(
                place,
                lambda: channel.send(
                    outgoing.text, files=_files(outgoing), allowed_mentions=NO_MENTIONS, **extras
                ),
            )
        for _ in range(_ATTEMPTS):
            try:
                message = await self._post_through(hook, place, persona, outgoing, extras)
                if message.channel.id == place.channel_id:
                    return message
                await self.webhooks.live(hook).delete_message(
                    message.id
                )  # somebody has moved it to another channel
            except discord.HTTPException as error:
                if error.code not in _WEBHOOK_GONE:
                    raise
            await self.webhooks.forget(hook)
            hook = await self.webhooks.of(place, persona)
        raise PostingError(
            f"My webhooks in {self.channels.name(place)} vanish as I make them. Leave them, then try again."
        )

    async def _post_through(
        self,
        hook: PersonaWebhook,
        place: Place,
        persona: Persona,
        outgoing: Outgoing,
        extras: dict[str, Any],
    ) -> discord.WebhookMessage:
        live = self.webhooks.live(hook)
        return await self.channels.awake(
            place,
            lambda: live.send(
                outgoing.text,
                username=persona.name,
                avatar_url=persona.address,
                files=_files(outgoing),
                allowed_mentions=NO_MENTIONS,
                thread=_thread(place),
                wait=True,
                **extras,
            ),
        )

    async def _edit_through(
        self,
        hook: PersonaWebhook,
        place: Place,
        message_id: int,
        outgoing: Outgoing | None,
        changed: dict[str, Any],
    ) -> None:
        live = self.webhooks.live(hook)
        await self.channels.awake(
            place,
            lambda: live.edit_message(
                message_id, thread=_thread(place), **changed, **_attached(outgoing)
            ),
        )

    async def _edit_as_bot(
        self, place: Place, message_id: int, outgoing: Outgoing | None, changed: dict[str, Any]
    ) -> None:
        message = self.channels.at(place).get_partial_message(message_id)
        await self.channels.awake(place, lambda: message.edit(**changed, **_attached(outgoing)))

    async def _copies(
        self, turn_id: int, place: Place, persona: Persona, outgoing: Outgoing
    ) -> list[discord.Message]:
        return [
            message
            for message in await self.lost(turn_id, place, persona)
            if lost_posts.shows(message, outgoing)
        ]

    async def _hook(self, place: Place, webhook_id: int) -> PersonaWebhook | None:
        return next(
            (hook for hook in await self.webhooks.known(place) if hook.id == webhook_id), None
        )


def _thread(place: Place) -> discord.abc.Snowflake:
    """Return what tells a webhook the thread; nothing where the place is a channel."""
    thread: discord.abc.Snowflake = discord.Object(place.channel_id) if place.parent_id else MISSING
    return thread


def _attached(outgoing: Outgoing | None) -> dict[str, Any]:
    return {} if outgoing is None else {"attachments": _files(outgoing)}


def _files(outgoing: Outgoing) -> list[discord.File]:
    """Return the files of a message. Each attempt needs them anew, since discord.py closes them."""
    return [discord.File(io.BytesIO(file.content), filename=file.name) for file in outgoing.files]
