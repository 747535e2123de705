"""The state of one Discord. Only this module changes servers, people and channels.

It checks no permissions: `routes/` does that for the bot, and `actors.py` for people. Every change
is announced to the gateway through `World.announce`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from . import payloads
from .clock import Clock
from .computed_permissions import EVERYONE, INVITED, bits, in_channel
from .conversation import (
    AppCommand,
    ApplicationEmoji,
    DiscordMessage,
    Interaction,
    InteractionKind,
    Webhook,
)
from .entities import (
    THREADS,
    Channel,
    ChannelKind,
    DiscordRole,
    Guild,
    Json,
    Member,
    Overwrite,
    ThreadState,
    User,
)
from .refusals import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from .entities import Privileged


@dataclass(frozen=True, slots=True)
class Event:
    """An event that the gateway may send.

    A `message` is written for each session by its intents.
    """

    name: str
    data: Json
    guild: Guild | None = None
    channel: Channel | None = None
    message: DiscordMessage | None = None


@dataclass(slots=True, repr=False)
class World:
    """Everything that exists. Ids are unique across all kinds."""

    clock: Clock = field(default_factory=Clock)
    portal: set[Privileged] = field(default_factory=set)  # privileged intents enabled for the bot
    users: dict[int, User] = field(default_factory=dict)
    guilds: dict[int, Guild] = field(default_factory=dict)
    channels: dict[int, Channel] = field(default_factory=dict)  # those that exist
    places: list[Channel] = field(default_factory=list)  # those that ever existed
    messages: dict[int, DiscordMessage] = field(default_factory=dict)
    webhooks: dict[int, Webhook] = field(default_factory=dict)
    emojis: dict[int, ApplicationEmoji] = field(default_factory=dict)  # of the application
    most_emojis: int = 2000
    commands: dict[int, AppCommand] = field(default_factory=dict)
    interactions: dict[str, Interaction] = field(default_factory=dict)  # by token
    presences: list[Json] = field(default_factory=list)  # the bot's presences
    typing: list[tuple[User, Channel]] = field(default_factory=list)
    files: dict[int, bytes] = field(default_factory=dict)  # attachments by their id
    announce: Callable[[Event], None] = lambda _event: None
    bot: User = field(init=False)

    def __post_init__(self) -> None:
        self.bot = self.user("Loopback Bot", bot=True)

    def user(self, name: str, *, bot: bool = False, user_id: int | None = None) -> User:
        """Create a user who is on no server."""
        account = name if bot else name.lower().replace(" ", "_")
        user = User(user_id or self.clock.snowflake(), account, name, bot)
        self.users[user.id] = user
        return user

    def guild(self, name: str, *, bot_permissions: str = INVITED) -> Guild:
        """Create a server with a silent owner and the bot, which has a role with permissions."""
        guild = Guild(self.clock.snowflake(), name, self.user(f"{name} owner"))
        guild.roles[guild.id] = DiscordRole(
            guild.id, guild, "@everyone", bits(EVERYONE), position=0
        )
        self.guilds[guild.id] = guild
        self.join(guild, guild.owner)
        own = self.role(
            guild, self.bot.display_name, permissions=bits(bot_permissions), managed_by=self.bot
        )
        self.join(guild, self.bot, own)
        return guild

    def join(
        self, guild: Guild, user: User, *roles: DiscordRole, nick: str | None = None
    ) -> Member:
        member = Member(user, guild, self.clock.now(), list(roles), nick)
        guild.members[user.id] = member
        if user is self.bot:
            self.announce(Event("GUILD_CREATE", {}, guild))
        else:
            data = payloads.member(member) | {"guild_id": str(guild.id)}
            self.announce(Event("GUILD_MEMBER_ADD", data, guild))
        return member

    def leave(self, guild: Guild, user: User) -> None:
        """Remove a user from a server. The user may be the bot."""
        if user is self.bot:
            self.announce(Event("GUILD_DELETE", {"id": str(guild.id), "unavailable": False}, guild))
        del guild.members[user.id]
        data = {"guild_id": str(guild.id), "user": payloads.user(user)}
        self.announce(Event("GUILD_MEMBER_REMOVE", data, guild))

    def outage(self, guild: Guild) -> None:
        """Make the server unavailable for a while. It keeps its members."""
        self.announce(Event("GUILD_DELETE", {"id": str(guild.id), "unavailable": True}, guild))

    def outage_over(self, guild: Guild) -> None:
        self.announce(Event("GUILD_CREATE", payloads.KNOWN_GUILD, guild))

    def member_changed(self, member: Member) -> None:
        data = payloads.member(member) | {"guild_id": str(member.guild.id)}
        self.announce(Event("GUILD_MEMBER_UPDATE", data, member.guild))

    def role(
        self,
        guild: Guild,
        name: str,
        *,
        permissions: int = 0,
        mentionable: bool = False,
        managed_by: User | None = None,
    ) -> DiscordRole:
        role = DiscordRole(
            self.clock.snowflake(), guild, name, permissions, 1, mentionable, managed_by=managed_by
        )
        for other in guild.roles.values():
            other.position += other.id != guild.id  # a new role is the lowest above @everyone
        guild.roles[role.id] = role
        self.role_changed(role, "GUILD_ROLE_CREATE")
        return role

    def role_changed(self, role: DiscordRole, event: str = "GUILD_ROLE_UPDATE") -> None:
        data = {"guild_id": str(role.guild.id), "role": payloads.role(role)}
        self.announce(Event(event, data, role.guild))

    def delete_role(self, role: DiscordRole) -> None:
        del role.guild.roles[role.id]
        for member in role.guild.members.values():
            if role in member.roles:
                member.roles.remove(role)
        data = {"guild_id": str(role.guild.id), "role_id": str(role.id)}
        self.announce(Event("GUILD_ROLE_DELETE", data, role.guild))

    def channel(
        self,
        guild: Guild,
        name: str,
        kind: ChannelKind = ChannelKind.TEXT,
        *,
        parent: Channel | None = None,
        nsfw: bool = False,
        topic: str | None = None,
    ) -> Channel:
        channel = Channel(
            self.clock.snowflake(), kind, name, guild, parent, topic, nsfw, len(guild.channels)
        )
        self.channels[channel.id] = guild.channels[channel.id] = channel
        self._note_titles(channel)
        self.announce(Event("CHANNEL_CREATE", payloads.channel(channel), guild, channel))
        return channel

    def thread(
        self,
        parent: Channel,
        name: str,
        owner: User,
        *,
        private: bool = False,
        starter: DiscordMessage | None = None,
    ) -> Channel:
        """Create a thread or forum post. A thread under a message has the message's id."""
        kind = ChannelKind.PRIVATE_THREAD if private else ChannelKind.PUBLIC_THREAD
        state = ThreadState(owner.id, {owner.id}, changed_at=self.clock.now())
        thread_id = starter.id if starter else self.clock.snowflake()
        thread = Channel(thread_id, kind, name, parent.guild, parent, thread=state)
        assert parent.guild
        self.channels[thread.id] = parent.guild.channels[thread.id] = thread
        self._note_titles(thread)
        if starter:
            starter.thread = thread
        self.announce(
            Event(
                "THREAD_CREATE",
                self._thread_data(thread) | {"newly_created": True},
                parent.guild,
                thread,
            )
        )
        return thread

    def _thread_data(self, thread: Channel) -> Json:
        data = payloads.channel(thread)
        if thread.thread and self.bot.id in thread.thread.members:
            data["member"] = payloads.thread_member(thread, self.bot.id)
        return data

    def thread_members_changed(
        self, thread: Channel, *, added: User | None = None, removed: User | None = None
    ) -> None:
        assert thread.guild
        assert thread.thread
        data: Json = {
            "id": str(thread.id),
            "guild_id": str(thread.guild.id),
            "member_count": len(thread.thread.members),
            "added_members": [payloads.thread_member(thread, added.id)] if added else [],
            "removed_member_ids": [str(removed.id)] if removed else [],
        }
        self.announce(Event("THREAD_MEMBERS_UPDATE", data, thread.guild, thread))

    def _note_titles(self, channel: Channel) -> None:
        if channel not in self.places:
            self.places.append(channel)
        shown = (channel.name, channel.topic or "")
        channel.titles += [each for each in shown if each and each not in channel.titles]

    def channel_changed(self, channel: Channel) -> None:
        """Send the event that a channel or thread has changed."""
        self._note_titles(channel)
        if channel.thread:
            channel.thread.changed_at = self.clock.now()
            self.announce(
                Event("THREAD_UPDATE", self._thread_data(channel), channel.guild, channel)
            )
        else:
            self.announce(
                Event("CHANNEL_UPDATE", payloads.channel(channel), channel.guild, channel)
            )

    def delete_channel(self, channel: Channel) -> None:
        """Delete a channel with its threads and webhooks. Its messages stay in `history`."""
        assert channel.guild
        event = "THREAD_DELETE" if channel.kind in THREADS else "CHANNEL_DELETE"
        self.announce(Event(event, payloads.channel(channel), channel.guild, channel))
        for gone in [
            channel,
            *(other for other in channel.guild.channels.values() if other.parent is channel),
        ]:
            if gone is not channel and channel.kind is ChannelKind.CATEGORY:
                gone.parent = None
                continue
            del self.channels[gone.id], channel.guild.channels[gone.id]
        for webhook in [
            webhook for webhook in self.webhooks.values() if webhook.channel is channel
        ]:
            del self.webhooks[webhook.id]

    def overwrite(
        self, channel: Channel, target: DiscordRole | User, *, allow: str = "", deny: str = ""
    ) -> None:
        """Set the permissions of a role or a person in a channel, by their names."""
        kind = 0 if isinstance(target, DiscordRole) else 1
        channel.overwrites[target.id] = Overwrite(target.id, kind, bits(allow), bits(deny))
        self.channel_changed(channel)

    def dm(self, user: User) -> Channel:
        """Return the only DM between `user` and the bot."""
        for channel in self.channels.values():
            if channel.is_dm and user in channel.recipients:
                return channel
        channel = Channel(self.clock.snowflake(), ChannelKind.DM, f"DM with {user.display_name}")
        channel.recipients = [user, self.bot]
        self.channels[channel.id] = channel
        return channel

    def webhook(
        self, channel: Channel, name: str, creator: User, avatar: str | None = None
    ) -> Webhook:
        webhook = Webhook(
            self.clock.snowflake(),
            f"webhook-token-{self.clock.snowflake()}",
            channel,
            name,
            creator,
        )
        webhook.avatar = avatar
        self.webhooks[webhook.id] = webhook
        self.webhooks_changed(channel)
        return webhook

    def delete_webhook(self, webhook: Webhook) -> None:
        del self.webhooks[webhook.id]
        self.webhooks_changed(webhook.channel)

    def webhooks_changed(self, channel: Channel) -> None:
        assert channel.guild
        data = {"guild_id": str(channel.guild.id), "channel_id": str(channel.id)}
        self.announce(Event("WEBHOOKS_UPDATE", data, channel.guild, channel))

    def interaction(
        self,
        kind: InteractionKind,
        user: User,
        channel: Channel,
        data: Json,
        source: DiscordMessage | None = None,
    ) -> Interaction:
        """Create an interaction that the bot must answer."""
        now = self.clock.now()
        token = f"interaction-token-{self.clock.snowflake()}"
        interaction = Interaction(
            self.clock.snowflake(), token, kind, user, channel, now, data, source
        )
        self.interactions[interaction.token] = interaction
        self.announce(
            Event(
                "INTERACTION_CREATE",
                payloads.interaction(interaction, self),
                channel.guild,
                channel,
            )
        )
        return interaction

    def start_typing(self, user: User, channel: Channel) -> None:
        self.typing.append((user, channel))
        data: Json = {
            "channel_id": str(channel.id),
            "user_id": str(user.id),
            "timestamp": int(self.clock.now()),
        }
        if channel.guild:
            member = channel.guild.members[user.id]
            data |= {"guild_id": str(channel.guild.id), "member": payloads.member(member)}
        self.announce(Event("TYPING_START", data, channel.guild, channel))

    def may(self, user: User, names: str, channel: Channel) -> bool:
        """Return whether `user` has all these permissions in `channel`, overwrites included."""
        wanted = bits(names)
        return in_channel(user, channel, self.clock.now()) & wanted == wanted

    def require(self, user: User, names: str, channel: Channel) -> None:
        """Refuse with 50001 if the channel is hidden, with 50013 if a permission is missing."""
        if not self.may(user, "view_channel", channel):
            raise Refusal(50001)
        if not self.may(user, names, channel):
            raise Refusal(50013)
