"""A server with a stage on it, a game master, and a real client that is ready."""

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
from bot.posting.permissions import INVITE_PERMISSIONS
from bot.posting.reply_poster import ReplyPoster
from bot.scenes.reveal import RevealPolicy
from bot.scenes.scene import Part, Place, Scene
from bot.scenes.turn import Take, Turn, TurnKind, TurnState
from tests.loopback.fixtures import loopback
from tests.posting.memory_posts import MemoryPosts

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from tests.loopback import Channel, Guild, LoopbackDiscord, Message, Person

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


def portrait() -> bytes:
    """Return a small picture as a file's bytes."""
    file = io.BytesIO()
    Image.new("RGB", (8, 8), "tan").save(file, "PNG")
    return file.getvalue()


@dataclass
class Portraits:
    """Who looks like what."""

    faces: dict[str, str | bytes] = field(default_factory=dict)

    def face(self, _scenario_id: str, character: str) -> str | bytes | None:
        return self.faces.get(character)


@dataclass
class House:
    """Everything a test of the stage needs."""

    discord: LoopbackDiscord
    guild: Guild
    room: Channel
    gm: Person
    client: Client
    posts: MemoryPosts
    portraits: Portraits
    stage: ReplyPoster
    numbers: Iterator[int]

    def scene(
        self,
        place: Channel | None = None,
        *,
        reveal: RevealPolicy | None = None,
        gms: tuple[Person, ...] = (),
    ) -> Scene:
        there = place or self.room
        return Scene(
            id=1,
            place=Place(self.guild.id, there.id, there.parent.id if there.parent else None),
            scenario=SCENARIO,
            gm_ids=tuple(each.id for each in gms or (self.gm,)),
            parts=tuple(Part(character.name) for character in SCENARIO.characters),
            started_at=datetime.now(UTC),
            reveal=reveal or RevealPolicy(),
        )

    def turn(self, *, by: str = "Mr Bennet") -> Turn:
        return Turn(
            next(self.numbers), 1, TurnKind.REPLY, by, TurnState.THINKING, datetime.now(UTC)
        )

    def turn_with(self, turn: Turn, take: Take, state: TurnState = TurnState.DONE) -> Turn:
        """Return the turn as it is with that take."""
        return replace(turn, take=take, takes=(take.id,), state=state)

    def take(self, *beats: Beat | str) -> Take:
        number = next(self.numbers)
        return Take(
            number,
            1,
            tuple(speech(each) if isinstance(each, str) else each for each in beats),
            "",
            7,
        )

    def restarted(self) -> ReplyPoster:
        """Return a stage as after a restart: it knows nothing but what is stored."""
        return ReplyPoster(self.client, self.posts, self.portraits, earlier=next(self.numbers))

    def told(self, channel: Channel | None = None) -> list[tuple[str, str]]:
        """Return who says what in a channel."""
        return [(message.name, message.content) for message in (channel or self.room).messages]

    def webhooks(self) -> list[str]:
        """Return the names of all webhooks there are."""
        return [webhook.name for webhook in self.discord.world.webhooks.values()]

    def thread(self, name: str = "Act one") -> Channel:
        return self.gm.start_thread(self.room, name)

    @property
    def thoughts(self) -> list[Message]:
        """What stands in the game master's direct messages."""
        return self.gm.dms


def description(message: Message) -> str:
    """Return the text of a message's only embed."""
    (embed,) = message.now.embeds
    return str(embed["description"])


@pytest.fixture
async def house(loopback: LoopbackDiscord) -> AsyncIterator[House]:
    guild = loopback.guild("Longbourn", bot_permissions=INVITED)
    room = loopback.text_channel(guild, "study")
    gm = loopback.person("Jane", guild)
    intents = Intents(guilds=True, guild_messages=True, message_content=True)
    client = Client(intents=intents, connector=loopback.connector(), guild_ready_timeout=0.05)
    posts, portraits = MemoryPosts(), Portraits()
    stage = ReplyPoster(client, posts, portraits)
    async with loopback.running(client):
        yield House(
            loopback, guild, room, gm, client, posts, portraits, stage, iter(range(1, 10_000))
        )
        await stage.close()
