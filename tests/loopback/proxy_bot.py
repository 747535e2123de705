"""A bot that posts people's messages again under other names, such as PluralKit or Tupperbox."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import speech
from .writing_account import WritingAccount

if TYPE_CHECKING:
    from .conversation import DiscordMessage, Webhook
    from .entities import Channel


class ProxyBot(WritingAccount):
    """Posts through a webhook of its own application, and deletes the people's messages."""

    def repost(self, original: DiscordMessage, name: str, text: str) -> DiscordMessage:
        """Post the text under a name, with the files of a person's message."""
        channel = original.channel
        sender = speech.Sender(self.user, name, None, self._webhook(channel))
        draft = speech.Draft(text, attachments=original.now.attachments)
        return speech.post(self._world, channel, sender, draft)

    def _webhook(self, channel: Channel) -> Webhook:
        place = channel.parent if channel.thread and channel.parent else channel
        for webhook in self._world.webhooks.values():
            if webhook.channel is place and webhook.creator is self.user:
                return webhook
        return self._world.webhook(place, "Proxy", self.user)
