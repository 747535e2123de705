"""A server with a channel, a game master, and a connected client that delivers to them."""

from __future__ import annotations

import io
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from discord import Client, Intents
from PIL import Image

from bot.her.beats import Beat, speech
from bot.library.scenario import Character, Scenario
from bot.posting.delivery import DiscordDelivery
from bot.posting.permissions import INVITE_PERMISSIONS
from bot.scenes.reveal import RevealPolicy
from bot.scenes.scene import Part, Place, Scene
from bot.scenes.turn import Take, Turn, TurnKind, TurnState
from cogs.remedy_texts import describe_notice
from tests.loopback.fixtures import loopback
from tests.posting.memory_posts import MemoryPeople, MemoryPosts

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence

    import discord

    from bot.posting.direct_messages import NotifyAbout
    from bot.posting.render import Outgoing
    from tests.loopback import Channel, DiscordMessage, Guild, LoopbackDiscord, Person

__all__ = ["loopback"]

SCENARIO = Scenario(
    id="study",
    title="The Study",
    book="Pride and Prejudice",
    author="Jane Austen",
    summary="A father and his daughter",
    setting="Mr Bennet sits in his study. *Rain.*",
    characters=(
        Character(name="Mr Bennet"),
        Character(name="Elizabeth"),
        Character(name="Clyde"),
        Character(name="everyone"),
    ),
)

INVITED = " ".join(name for name, granted in INVITE_PERMISSIONS if granted)


def draw_portrait() -> bytes:
    """Return a small picture as a file's bytes."""
    file = io.BytesIO()
    Image.new("RGB", (8, 8), "tan").save(file, "PNG")
    return file.getvalue()


@dataclass
class Portraits:
    """The pictures of characters, by name."""

    faces: dict[str, str | bytes] = field(default_factory=dict)
    own: dict[int, bytes] = field(default_factory=dict)  # of people's own characters, by id

    def face(self, _scenario_id: str, character: str) -> str | bytes | None:
        return self.faces.get(character)

    async def picture_of(self, own_id: int) -> bytes | None:
        return self.own.get(own_id)


@dataclass
class PrivateAnswersFake:
    """Private answers to people with a recent interaction, by user id."""

    answered: dict[int, list[str]] = field(default_factory=dict)

    async def confide(
        self,
        _channel_id: int,
        user_id: int,
        messages: Sequence[Outgoing],
        _view: discord.ui.View | None,
    ) -> list[int] | None:
        if user_id not in self.answered:
            return None
        self.answered[user_id] += [message.text for message in messages]
        return [7_000 + number for number in range(len(messages))]


@dataclass
class PostingSetup:
    """Everything that a test of posting needs."""

    discord: LoopbackDiscord
    guild: Guild
    channel: Channel
    gm: Person
    client: Client
    posts: MemoryPosts
    people: MemoryPeople
    portraits: Portraits
    private_answers: PrivateAnswersFake
    delivery: DiscordDelivery
    numbers: Iterator[int]

    def scene(
        self,
        channel: Channel | None = None,
        *,
        reveal: RevealPolicy | None = None,
        gms: tuple[Person, ...] = (),
    ) -> Scene:
        """Return a scene in this channel or thread, by default in the server's channel."""
        chosen = channel or self.channel
        return Scene(
            id=1,
            place=Place(self.guild.id, chosen.id, chosen.parent.id if chosen.parent else None),
            scenario=SCENARIO,
            gm_ids=tuple(each.id for each in gms or (self.gm,)),
            parts=tuple(Part(character.name) for character in SCENARIO.characters),
            started_at=datetime.now(UTC),
            reveal=reveal or RevealPolicy(),
        )

    def turn(self, *, by: str = "Mr Bennet", kind: TurnKind = TurnKind.REPLY) -> Turn:
        """Return a new turn that is being generated."""
        return Turn(next(self.numbers), 1, kind, by, TurnState.THINKING, datetime.now(UTC))

    def with_take(self, turn: Turn, take: Take, state: TurnState = TurnState.DONE) -> Turn:
        """Return the turn with this take as its only one."""
        return replace(turn, take=take, takes=(take.id,), state=state)

    def take(self, *beats: Beat | str) -> Take:
        """Return a new take. A string is a speech."""
        number = next(self.numbers)
        return Take(
            number,
            1,
            tuple(speech(each) if isinstance(each, str) else each for each in beats),
            "",
            7,
        )

    def create_delivery(
        self,
        *,
        streaming: bool = True,
        notify_unreachable: NotifyAbout | None = None,
        notify_departed: NotifyAbout | None = None,
        last_earlier_turn: int = 0,
    ) -> DiscordDelivery:
        """Return another delivery for the same client and store."""
        return DiscordDelivery(
            client=self.client,
            posts=self.posts,
            people=self.people,
            unreachable=list(self.people.rows.values()),
            faces=self.portraits,
            own_pictures=self.portraits,
            private_answers=self.private_answers,
            describe_notice=describe_notice,
            notify_unreachable=notify_unreachable,
            notify_departed=notify_departed,
            streaming=streaming,
            last_earlier_turn=last_earlier_turn,
        )

    def restart(self) -> DiscordDelivery:
        """Return a delivery that knows only what is stored, as after a restart."""
        return self.create_delivery(last_earlier_turn=next(self.numbers))

    def read(self, channel: Channel | None = None) -> list[tuple[str, str]]:
        """Return the author and text of each message in a channel."""
        return [(message.name, message.content) for message in (channel or self.channel).messages]

    def texts(self, channel: Channel | None = None) -> list[str]:
        """Return the text of each message in a channel."""
        return [text for _, text in self.read(channel)]

    def webhook_names(self) -> list[str]:
        """Return the names of all webhooks."""
        return [webhook.name for webhook in self.discord.world.webhooks.values()]

    def start_thread(self, name: str = "Act one") -> Channel:
        """Have the game master start a thread in the channel."""
        return self.gm.start_thread(self.channel, name)

    @property
    def thoughts(self) -> list[DiscordMessage]:
        """The game master's direct messages."""
        return self.gm.dms


def description(message: DiscordMessage) -> str:
    """Return the text of a message's only embed."""
    (embed,) = message.now.embeds
    return str(embed["description"])


@pytest.fixture
async def setup(loopback: LoopbackDiscord) -> AsyncIterator[PostingSetup]:
    guild = loopback.guild("Longbourn", bot_permissions=INVITED)
    channel = loopback.text_channel(guild, "study")
    gm = loopback.person("Jane", guild)
    intents = Intents(guilds=True, guild_messages=True, message_content=True)
    client = Client(intents=intents, connector=loopback.connector(), guild_ready_timeout=0.05)
    posts = MemoryPosts()
    people = MemoryPeople()
    portraits = Portraits()
    private_answers = PrivateAnswersFake()
    delivery = DiscordDelivery(
        client=client,
        posts=posts,
        people=people,
        faces=portraits,
        own_pictures=portraits,
        private_answers=private_answers,
        describe_notice=describe_notice,
    )
    async with loopback.running(client):
        yield PostingSetup(
            discord=loopback,
            guild=guild,
            channel=channel,
            gm=gm,
            client=client,
            posts=posts,
            people=people,
            portraits=portraits,
            private_answers=private_answers,
            delivery=delivery,
            numbers=iter(range(1, 10_000)),
        )
        await delivery.close()
