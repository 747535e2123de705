"""Sends, edits and deletes the single messages of a persona, and recovers from Discord's errors."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

import discord
from discord.utils import MISSING

from bot.errors import PostingError
from bot.posting import lost_posts
from bot.posting.attachments import create_files
from bot.posting.channels import NO_MENTIONS
from bot.posting.discord_errors import REQUEST_ERRORS, UNCERTAIN, Code

if TYPE_CHECKING:
    from bot.posting.channels import Channels
    from bot.posting.hosted_pictures import HostedPictures
    from bot.posting.render import Outgoing
    from bot.posting.webhooks import Persona, Webhooks
    from bot.scenes.posts import PersonaWebhook, Post, Posts
    from bot.scenes.scene import Place

_log = logging.getLogger(__name__)

_RETRIED_AFTER = 0.9  # seconds; discord.py waits one second before it repeats a failed request
_ATTEMPTS = 3
_WEBHOOK_GONE = (Code.UNKNOWN_WEBHOOK, Code.WEBHOOK_TOKEN)
_UNCHANGEABLE = (Code.EDITED_TOO_OFTEN, *_WEBHOOK_GONE)


class EditResult(Enum):
    """The outcome of an edit."""

    DONE = auto()
    DELETED = auto()  # the message does not exist any more
    UNCHANGEABLE = auto()  # it stays as it is: its webhook was deleted, or it is too old


@dataclass(frozen=True, slots=True)
class SentMessage:
    """A message on Discord. `webhook_id` is None if the bot posted it itself."""

    message_id: int
    webhook_id: int | None


@dataclass(frozen=True, slots=True)
class PersonaMessages:
    """Posts as personas through webhooks, or as the bot itself if there is no webhook."""

    channels: Channels
    webhooks: Webhooks
    posts: Posts
    pictures: HostedPictures

    async def find_lost(
        self, turn_id: int, place: Place, persona: Persona
    ) -> list[discord.Message]:
        """Return the persona's messages that may belong to this turn but are not stored.

        They are later than every line that the scene had stored before the turn.
        """
        client = self.channels.client
        hooks = frozenset(hook.id for hook in await self.webhooks.get_stored(place))
        author = lost_posts.Author(persona.name, hooks, client.user.id if client.user else 0)
        return await lost_posts.find_lost_posts(
            client, self.posts, place, author, await self.posts.last_message_before(turn_id)
        )

    async def send(
        self,
        turn_id: int,
        place: Place,
        persona: Persona,
        hook: PersonaWebhook | None,
        outgoing: Outgoing,
        view: discord.ui.View | None = None,
    ) -> SentMessage:
        """Post one message of a turn with the buttons of `view`.

        Without `hook` the bot posts it itself. If Discord responds with a server error, look for
        the message: use it if it was posted, and delete copies. Raises PostingError.
        """
        started = time.monotonic()
        try:
            message = await self._post(place, persona, hook, outgoing, view)
        except UNCERTAIN as error:
            found = await self._find_copies(turn_id, place, persona, outgoing)
            if not found:
                raise self.channels.explain_posting_error(place, error) from error
        except REQUEST_ERRORS as error:
            raise self.channels.explain_posting_error(
                place, error, *(("Attach Files",) if outgoing.files else ())
            ) from error
        else:
            found = [message]
            if time.monotonic() - started > _RETRIED_AFTER:
                copies = await self._find_copies(turn_id, place, persona, outgoing)
                found += [copy for copy in copies if copy.id != message.id]
        for copy in found[1:]:
            await self.delete(place, SentMessage(copy.id, copy.webhook_id))
        return SentMessage(found[0].id, found[0].webhook_id)

    async def edit(
        self,
        place: Place,
        posted: Post | SentMessage,
        outgoing: Outgoing | None,
        view: discord.ui.View | None = None,
    ) -> EditResult:
        """Give a post another text and the buttons of `view`, or no buttons.

        The text stays if `outgoing` is None. Raises PostingError.
        """
        changes: dict[str, Any] = {"view": view, "allowed_mentions": NO_MENTIONS}
        if outgoing is not None:
            changes["content"] = outgoing.text
        try:
            if posted.webhook_id is None:
                await self._edit_as_bot(place, posted.message_id, outgoing, changes)
            elif hook := await self._find_hook(place, posted.webhook_id):
                await self._edit_through(hook, place, posted.message_id, outgoing, changes)
            else:
                return EditResult.UNCHANGEABLE
        except REQUEST_ERRORS as error:
            code = getattr(error, "code", 0)
            if code == Code.UNKNOWN_MESSAGE:
                return EditResult.DELETED
            if code in _UNCHANGEABLE:
                return EditResult.UNCHANGEABLE
            raise self.channels.explain_posting_error(place, error) from error
        return EditResult.DONE

    async def delete(self, place: Place, posted: Post | SentMessage) -> bool:
        """Delete a post. Return whether it is gone. If Discord refuses, log a warning.

        Without its webhook, a persona's post can only be deleted with Manage Messages.
        """
        try:
            if not await self._delete_through(place, posted):
                await self.channels.delete(place, posted.message_id)
        except (*REQUEST_ERRORS, PostingError) as error:
            if getattr(error, "code", 0) != Code.UNKNOWN_MESSAGE:
                _log.warning("Message %d could not be deleted: %s", posted.message_id, error)
                return False
        return True

    async def _delete_through(self, place: Place, posted: Post | SentMessage) -> bool:
        """Delete a post through its webhook. Return False if the webhook does not exist."""
        hook = await self._find_hook(place, posted.webhook_id) if posted.webhook_id else None
        if hook is None:
            return False
        webhook = self.webhooks.connect(hook)
        try:
            await self.channels.retry_unarchived(
                place, lambda: webhook.delete_message(posted.message_id, thread=_thread(place))
            )
        except discord.HTTPException as error:
            if error.code not in _WEBHOOK_GONE:
                raise
            await self.webhooks.forget(hook)
            return False
        return True

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
            return await self._post_as_bot(place, outgoing, extras)
        for _ in range(_ATTEMPTS):
            try:
                message = await self._post_through(hook, place, persona, outgoing, extras)
                if message.channel.id == place.channel_id:
                    return message
                # A moderator has moved the webhook to another channel.
                await self.webhooks.connect(hook).delete_message(message.id)
            except discord.HTTPException as error:
                if error.code not in _WEBHOOK_GONE:
                    raise
            await self.webhooks.forget(hook)
            hook = await self.webhooks.get(place, persona)
        raise PostingError(
            f"My webhooks in {self.channels.display_name(place)} are deleted as soon as I create"
            " them. Check which bot or moderator deletes them, then try again."
        )

    async def _post_as_bot(
        self, place: Place, outgoing: Outgoing, extras: dict[str, Any]
    ) -> discord.Message:
        channel = self.channels.messageable(place)
        return await self.channels.retry_unarchived(
            place,
            lambda: channel.send(
                outgoing.text,
                files=create_files(outgoing),
                allowed_mentions=NO_MENTIONS,
                **extras,
            ),
        )

    async def _post_through(
        self,
        hook: PersonaWebhook,
        place: Place,
        persona: Persona,
        outgoing: Outgoing,
        extras: dict[str, Any],
    ) -> discord.WebhookMessage:
        webhook = self.webhooks.connect(hook)
        avatar_url = await self._find_address(hook, persona)
        return await self.channels.retry_unarchived(
            place,
            lambda: webhook.send(
                outgoing.text,
                username=persona.name,
                avatar_url=avatar_url,
                files=create_files(outgoing),
                allowed_mentions=NO_MENTIONS,
                thread=_thread(place),
                wait=True,
                **extras,
            ),
        )

    async def _find_address(self, hook: PersonaWebhook, persona: Persona) -> str | None:
        """Return the address of the persona's picture, unless the webhook itself shows it."""
        if isinstance(persona.face, bytes) and hook.character is None:
            return await self.pictures.get_address(persona.face)
        return persona.avatar_url

    async def _edit_through(
        self,
        hook: PersonaWebhook,
        place: Place,
        message_id: int,
        outgoing: Outgoing | None,
        changes: dict[str, Any],
    ) -> None:
        webhook = self.webhooks.connect(hook)
        await self.channels.retry_unarchived(
            place,
            lambda: webhook.edit_message(
                message_id, thread=_thread(place), **changes, **_attachments(outgoing)
            ),
        )

    async def _edit_as_bot(
        self, place: Place, message_id: int, outgoing: Outgoing | None, changes: dict[str, Any]
    ) -> None:
        message = self.channels.messageable(place).get_partial_message(message_id)
        await self.channels.retry_unarchived(
            place, lambda: message.edit(**changes, **_attachments(outgoing))
        )

    async def _find_copies(
        self, turn_id: int, place: Place, persona: Persona, outgoing: Outgoing
    ) -> list[discord.Message]:
        return [
            message
            for message in await self.find_lost(turn_id, place, persona)
            if lost_posts.shows(message, outgoing)
        ]

    async def _find_hook(self, place: Place, webhook_id: int) -> PersonaWebhook | None:
        hooks = await self.webhooks.get_stored(place)
        return next((hook for hook in hooks if hook.id == webhook_id), None)


def _thread(place: Place) -> discord.abc.Snowflake:
    """Return the thread that a webhook posts to, or MISSING if the place is a channel."""
    thread: discord.abc.Snowflake = discord.Object(place.channel_id) if place.parent_id else MISSING
    return thread


def _attachments(outgoing: Outgoing | None) -> dict[str, Any]:
    return {} if outgoing is None else {"attachments": create_files(outgoing)}
