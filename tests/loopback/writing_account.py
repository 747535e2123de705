"""An account that writes: messages, edits, reactions, pins and threads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import speech
from .clock import iso
from .conversation import DiscordMessage, MessageKind
from .entities import ChannelKind
from .picker import NotOffered
from .routes.drafts import attachment
from .rules.message_rules import MESSAGE as LONGEST
from .world import Event

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .entities import Channel, Guild, Json, Member, User
    from .server import LoopbackDiscord

DAY = 24 * 60 * 60


class WritingAccount:
    """A person (see `actors.py`), or a bot other than the one under test."""

    def __init__(self, discord: LoopbackDiscord, user: User) -> None:
        self.user = user
        self._discord = discord
        self._world = discord.world

    @property
    def id(self) -> int:
        return self.user.id

    @property
    def name(self) -> str:
        return self.user.display_name

    @property
    def mention(self) -> str:
        return self.user.mention

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    def member_of(self, guild: Guild) -> Member:
        return guild.members[self.user.id]

    def say(
        self,
        channel: Channel,
        text: str = "",
        *,
        reply_to: DiscordMessage | None = None,
        files: Mapping[str, bytes] | None = None,
        alt: str = "",
        voice: bool = False,
        poll: Mapping[str, Sequence[str]] | None = None,
        sticker: str = "",
        forward: DiscordMessage | None = None,
    ) -> DiscordMessage:
        """Write into a channel.

        With `reply_to`, reply to a message, which pings its author by default. `alt` is the
        alternative text of all files. With `voice`, they are voice messages. `poll` has a question
        with its answers.
        """
        self._must("send_messages", channel)
        if channel.thread and channel.thread.locked:
            self._must("manage_threads", channel)
        if len(text) > LONGEST:
            raise NotOffered(f"people can write {LONGEST} characters")
        if channel.thread:
            channel.thread.archived = False
        extra = (self._sticker(sticker) if sticker else {}) | (
            _snapshot_of(forward) if forward else {}
        )
        extra |= _poll(poll, self._world.clock.now() + DAY) if poll else {}
        draft = speech.Draft(
            text,
            attachments=self._attach(channel, files or {}, alt, voice),
            reply_to=reply_to,
            extra=extra,
        )
        name = channel.guild.members[self.id].shown_name if channel.guild else self.name
        return speech.post(self._world, channel, speech.Sender(self.user, name), draft)

    def _attach(
        self, channel: Channel, files: Mapping[str, bytes], alt: str, voice: bool
    ) -> tuple[Json, ...]:
        new_id, kept = self._world.clock.snowflake, self._world.files
        more: Json = {"description": alt} if alt else {}
        more |= {"duration_secs": 2.5, "waveform": "AAAA"} if voice else {}
        return tuple(
            attachment(new_id(), channel, name, content, kept) | more
            for name, content in files.items()
        )

    def _sticker(self, name: str) -> Json:
        return {
            "sticker_items": [
                {"id": str(self._world.clock.snowflake()), "name": name, "format_type": 1}
            ]
        }

    def edit(self, message: DiscordMessage, text: str) -> None:
        """Edit one of the account's own messages."""
        assert message.author is self.user
        now = message.now
        draft = speech.Draft(
            text, now.embeds, now.components, now.attachments, now.flags, reply_to=message.reply_to
        )
        speech.edit(self._world, message, draft)

    def delete(self, message: DiscordMessage) -> None:
        """Delete a message. Other people's messages need Manage Messages."""
        if message.author is not self.user or message.webhook:
            self._must("manage_messages", message.channel)
        speech.delete(self._world, message)

    def pin(self, message: DiscordMessage) -> None:
        """Pin a message, which posts a notice in the channel."""
        self._must("pin_messages", message.channel)
        message.pinned = True
        speech.announce_change(self._world, message)
        self._notice(message.channel, MessageKind.PIN, speech.Draft(reply_to=message))

    def react(self, message: DiscordMessage, emoji: str) -> None:
        """Add a reaction to a message."""
        message.reactions.setdefault(emoji, []).append(self.user)
        data: Json = {
            "user_id": str(self.id),
            "channel_id": str(message.channel.id),
            "message_id": str(message.id),
        }
        data |= {"emoji": {"id": None, "name": emoji}, "type": 0, "burst": False}
        if message.channel.guild:
            data["guild_id"] = str(message.channel.guild.id)
        event = Event("MESSAGE_REACTION_ADD", data, message.channel.guild, message.channel)
        self._world.announce(event)

    def starts_typing(self, channel: Channel) -> None:
        self._world.start_typing(self.user, channel)

    def start_thread(
        self, where: Channel | DiscordMessage, name: str, *, private: bool = False
    ) -> Channel:
        """Open a thread in a channel (which posts a notice), under a message, or in a forum."""
        if isinstance(where, DiscordMessage):
            return self._world.thread(where.channel, name, self.user, starter=where)
        thread = self._world.thread(where, name, self.user, private=private)
        if not private and where.kind is not ChannelKind.FORUM:
            self._notice(where, MessageKind.THREAD_CREATED, speech.Draft(name))
        return thread

    def leave(self, guild: Guild) -> None:
        self._world.leave(guild, self.user)

    def _notice(self, channel: Channel, kind: MessageKind, draft: speech.Draft) -> None:
        speech.post(self._world, channel, speech.Sender(self.user), draft, kind=kind)

    def _must(self, permission: str, channel: Channel) -> None:
        if not self._world.may(self.user, permission, channel):
            raise NotOffered(f"{self.name} can't {permission.replace('_', ' ')} in {channel.name}")


def _poll(questions: Mapping[str, Sequence[str]], expiry: float) -> Json:
    ((question, answers),) = questions.items()
    listed = [
        {"answer_id": number, "poll_media": {"text": answer}}
        for number, answer in enumerate(answers, start=1)
    ]
    return {
        "poll": {
            "question": {"text": question},
            "answers": listed,
            "expiry": iso(expiry),
            "allow_multiselect": False,
            "layout_type": 1,
        }
    }


def _snapshot_of(message: DiscordMessage) -> Json:
    now = message.now
    snapshot: Json = {"type": 0, "content": now.content, "embeds": list(now.embeds), "flags": 0}
    snapshot |= {"attachments": list(now.attachments), "mentions": [], "mention_roles": []}
    snapshot |= {"timestamp": iso(message.states[0].at), "edited_timestamp": None}
    reference = {"type": 1, "message_id": str(message.id), "channel_id": str(message.channel.id)}
    return {"message_snapshots": [{"message": snapshot}], "message_reference": reference}
