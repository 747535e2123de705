"""The simulated server: three people, two channels, a thread, and direct messages with the bot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simcord.actors import MemberActor
from simcord.builders import ChannelHandle

from bot.tryout import avatars

if TYPE_CHECKING:
    from simcord.backend.models import Channel, Message
    from simcord.builders import UserHandle

    from bot.tryout.bridge.live_discord import LiveDiscord

_BOT = "Aside"
_SERVER = "The Circulating Library"
_BOT_COLOUR = "#5865f2"
_MENU = 3  # Discord's type for commands in a message's menu


@dataclass(frozen=True, slots=True)
class DemoPerson:
    """A person on the server whom the visitor can play."""

    key: str
    name: str
    part: str  # their role on the server, for display
    member: MemberActor

    @property
    def id(self) -> int:
        """Return the person's Discord id."""
        return self.member.id


@dataclass(frozen=True, slots=True)
class DemoChannel:
    """A place that a person can open: a channel, a thread, or direct messages with the bot."""

    id: int
    name: str
    kind: str  # "channel", "thread" or "dm"
    messages: int  # the number that this person sees there


class DemoServer:
    """The server and its members. Create it before the bot logs in."""

    def __init__(self, discord: LiveDiscord, stage: str, topic: str) -> None:
        self._discord = discord
        self._backend = discord.backend
        self._backend.bot_user.name = _BOT
        self._backend.set_avatar(self._backend.bot_user, avatars.draw_initial(_BOT, _BOT_COLOUR))
        owner = self._user("Grace", "#b5446e")
        self.guild = discord.create_guild(_SERVER, owner=owner)
        self.people = (
            DemoPerson("grace", "Grace", "game master", MemberActor(discord, self.guild, owner)),
            DemoPerson("ada", "Ada", "player", self.guild.add_member(self._user("Ada", "#2a7f62"))),
            DemoPerson(
                "ben", "Ben", "second player", self.guild.add_member(self._user("Ben", "#a15c1e"))
            ),
        )
        self.stage = self.guild.create_text_channel(stage, topic=topic)
        self._backend.create_thread(self.stage.id, "the-garden-path", owner.id)
        self._backend.messages[self.stage.id].clear()  # the notice of the thread
        self.guild.create_text_channel("reading-room", topic="For another scene, at the same time")

    @property
    def gm(self) -> DemoPerson:
        """Return the person who starts the scene and becomes its game master."""
        return self.people[0]

    @property
    def player(self) -> DemoPerson:
        """Return the person who speaks first."""
        return self.people[1]

    def person(self, key: str) -> DemoPerson:
        """Return the person with this key. Raises KeyError."""
        return {person.key: person for person in self.people}[key]

    def places(self, person: DemoPerson) -> list[DemoChannel]:
        """Return the places that this person can open, in Discord's order.

        Threads follow their channels. The direct messages with the bot come last.
        """
        channels = self._channels()
        found = []
        for channel in channels:
            if channel.parent_id is None:
                threads = [other for other in channels if other.parent_id == channel.id]
                found += [
                    self._place(channel, person),
                    *(self._place(thread, person) for thread in threads),
                ]
        talk = self._talk(person)
        return [*found, DemoChannel(talk.id, _BOT, "dm", self._count_messages(talk.id, person))]

    def channel(
        self, person: DemoPerson, place_id: int
    ) -> tuple[ChannelHandle, MemberActor | UserHandle]:
        """Return a place and its viewer as simcord's objects. Raises KeyError."""
        if place_id == self._talk(person).id:
            return self._talk(person), person.member.user
        place = self._backend.channels[place_id]
        if place.guild_id != self.guild.id:
            raise KeyError(place_id)
        return ChannelHandle(self._discord, self.guild, place), person.member

    def messages(self) -> list[Message]:
        """Return the messages that everyone on the server can read, in order."""
        everywhere = (
            self._backend.messages.get(channel.id, {}).values() for channel in self._channels()
        )
        public = (message for here in everywhere for message in here if not message.is_ephemeral)
        return sorted(public, key=lambda message: message.id)

    def menus(self) -> list[str]:
        """Return the names of the commands in a message's menu."""
        scopes = self._backend.commands.values()
        return [
            str(command["name"])
            for scope in scopes
            for command in scope.values()
            if command.get("type") == _MENU
        ]

    def _channels(self) -> list[Channel]:
        return [
            channel
            for channel in self._backend.channels.values()
            if channel.guild_id == self.guild.id
        ]

    def _user(self, name: str, colour: str) -> UserHandle:
        user = self._discord.create_user(name.lower(), global_name=name)
        self._backend.set_avatar(self._backend.users[user.id], avatars.draw_initial(name, colour))
        return user

    def _place(self, channel: Channel, person: DemoPerson) -> DemoChannel:
        kind = "channel" if channel.parent_id is None else "thread"
        return DemoChannel(
            channel.id, channel.name or "", kind, self._count_messages(channel.id, person)
        )

    def _talk(self, person: DemoPerson) -> ChannelHandle:
        return person.member.user.dm_channel

    def _count_messages(self, place_id: int, person: DemoPerson) -> int:
        return sum(
            message.visible_to(person.id)
            for message in self._backend.messages.get(place_id, {}).values()
        )
