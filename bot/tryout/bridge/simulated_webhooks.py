"""Webhooks as on Discord: they post in threads and have avatars. A bot's own have buttons."""

from __future__ import annotations

import base64
import hashlib
import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

from simcord.backend import Backend
from simcord.backend.cdn import CDN_BASE
from simcord.backend.errors import unknown_channel
from simcord.components import validate_message_state
from simcord.http import FakeWebhookAdapter
from simcord.http.client import _raise_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simcord.backend.models import GuildEmoji, Message, User, Webhook

Body: TypeAlias = "dict[str, Any] | None"


class AvatarBackend(Backend):
    """A backend that stores the avatars of webhooks and people."""

    def create_webhook(self, channel_id: int, name: str, creator_id: int) -> Webhook:
        """Create a webhook. Its avatar is in the request that is being served."""
        webhook = super().create_webhook(channel_id, name, creator_id)
        asked = self.http_requests[-1].json if self.http_requests else None
        if isinstance(asked, dict) and isinstance(picture := asked.get("avatar"), str):
            self.set_avatar(
                self.users[webhook.webhook_user_id], base64.b64decode(picture.partition(",")[2])
            )
        return webhook

    def create_application_emoji(self, name: str, *, animated: bool = False) -> GuildEmoji:
        """Create an emoji. Its picture is in the request that is being served."""
        emoji = super().create_application_emoji(name, animated=animated)
        asked = self.http_requests[-1].json if self.http_requests else None
        if isinstance(asked, dict) and isinstance(picture := asked.get("image"), str):
            address = f"{CDN_BASE}/emojis/{emoji.id}.png"
            self.cdn._blobs[address] = base64.b64decode(picture.partition(",")[2])
        return emoji

    def set_avatar(self, user: User, picture: bytes) -> None:
        """Set the avatar of `user` to the bytes of an image file."""
        user.avatar = hashlib.sha256(picture).hexdigest()[:32]
        self.cdn._blobs[f"{CDN_BASE}/avatars/{user.id}/{user.avatar}.png"] = picture


class ThreadAwareWebhooks(FakeWebhookAdapter):
    """Executes webhooks in the requested thread and with the requested buttons."""

    async def request(
        self,
        route: Any,
        session: Any,
        *,
        payload: Body = None,
        multipart: Any = None,
        params: Body = None,
        **kwargs: Any,
    ) -> Any:
        """Serve one request of discord.py."""
        webhook = self.backend.webhooks.get(
            self.backend.webhook_tokens.get(route.webhook_token or "", 0)
        )
        if webhook is None:  # the webhook of an interaction
            return await super().request(
                route, session, payload=payload, multipart=multipart, params=params, **kwargs
            )
        payload, multipart, buttons = _without_buttons(payload, multipart)
        with self._redirect(webhook, (params or {}).get("thread_id")):
            answer = await super().request(
                route, session, payload=payload, multipart=multipart, params=params, **kwargs
            )
            if buttons is not None and answer:
                self._attach(
                    self.backend.get_message(webhook.channel_id, int(answer["id"])), buttons
                )
                answer["components"] = buttons
        return answer

    @contextmanager
    def _redirect(self, webhook: Webhook, thread_id: int | str | None) -> Iterator[None]:
        """Point the webhook at a thread of its channel. Requests are served one at a time."""
        home = webhook.channel_id
        if thread_id is not None:
            thread = self.backend.channels.get(int(thread_id))
            if thread is None or thread.parent_id != home:
                _raise_for(unknown_channel())
            webhook.channel_id = int(thread_id)
        try:
            yield
        finally:
            webhook.channel_id = home

    @staticmethod
    def _attach(message: Message, buttons: list[dict[str, Any]]) -> None:
        message.components = validate_message_state(
            buttons,
            flags=message.flags,
            content=message.content,
            embeds=message.embeds,
            poll=None,
            stickers=message.stickers,
            attachments=message.attachments,
        )


def _without_buttons(
    payload: Body, multipart: Any
) -> tuple[Body, Any, list[dict[str, Any]] | None]:
    """Return a request's JSON body or multipart form without its buttons, and the buttons."""
    if not multipart:
        rest = {**payload} if payload else payload
        return rest, multipart, rest.pop("components", None) if rest else None
    parts = [{**part} for part in multipart]
    for part in parts:
        if part.get("name") == "payload_json":
            body = json.loads(part["value"])
            buttons = body.pop("components", None)
            part["value"] = json.dumps(body)
            return payload, parts, buttons
    return payload, parts, None
