"""A theatre for tests: the real store, a scripted engine, and a delivery that records."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from typing import TYPE_CHECKING

from bot.her.beats import PrivateBeat, PublicBeat, select_public
from bot.library.scenario import Character, Scenario
from bot.scenes.branching import Branching
from bot.scenes.director import Addressee
from bot.scenes.line_changes import LineChanges
from bot.scenes.own_characters import OwnCharacters
from bot.scenes.player_lines import IncomingLine, PlayerLines
from bot.scenes.posts import Post, PostPurpose
from bot.scenes.proxy_matching import RecentLines
from bot.scenes.reply_generation import ReplyGenerator, ReplyLimits
from bot.scenes.scene import Place, Scene
from bot.scenes.takes import Takes
from bot.scenes.theatre import Theatre
from bot.scenes.undo import Undo
from bot.store.store import Store
from tests.engine.scripted_engine import ScriptedEngine
from tests.wait_until import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bot.errors import PostingError
    from bot.scenes.notices import Notice
    from bot.scenes.turn import Take, Turn
    from tests.engine.scripted_engine import Script

GM, ALICE, BOB = 1, 2, 3
STUDY = Scenario(
    id="study",
    title="The study",
    book="Pride and Prejudice",
    summary="A father is asked for his word.",
    setting="A library at Longbourn, the door shut.",
    characters=(
        Character(
            name="Mr Bennet",
            profile="Dry and idle.",
            motivation="He will not lose Lizzy.",
            aliases=("Papa",),
        ),
        Character(name="Mrs Bennet", profile="Nervous.", motivation="She wants a wedding."),
        Character(name="Elizabeth Bennet", profile="Quick and warm."),
    ),
)


def reply(
    name: str,
    *,
    plan: str = "Be dry.",
    thinks: str = "Poor child.",
    does: str = "smiles",
    says: str,
) -> str:
    """Return a reply as HER writes it after the prefilled opening tag."""
    return (
        f"{plan}</system_thinking>{name}: <role_thinking>{thinks}</role_thinking>"
        f"<role_action>{does}</role_action>{says}"
    )


@dataclass
class RecordingDelivery:
    """Implements Delivery and records the calls. Deliveries raise `refusal` if it is set."""

    shown: list[tuple[str, str]] = field(default_factory=list)  # speaker, public text
    faults: list[str] = field(default_factory=list)
    thoughts: list[tuple[PrivateBeat, ...]] = field(default_factory=list)  # of failed replies
    notices: list[Notice] = field(default_factory=list)
    told: list[tuple[int, Notice]] = field(default_factory=list)  # by user
    withdrawn: list[int] = field(default_factory=list)  # ids of turns
    covered: list[int] = field(default_factory=list)  # ids of turns
    removed: list[int] = field(default_factory=list)  # ids of turns
    withdrawn_pictures: list[bytes] = field(default_factory=list)
    progressed: list[tuple[PublicBeat, ...]] = field(default_factory=list)
    refusal: PostingError | None = None
    refused: int = 0  # how often `refusal` was raised

    @asynccontextmanager
    async def show_thinking(self, _scene: Scene, _turn: Turn) -> AsyncIterator[None]:
        yield

    async def progress(self, _scene: Scene, _turn: Turn, beats: tuple[PublicBeat, ...]) -> None:
        self.progressed.append(beats)

    async def deliver(self, _scene: Scene, turn: Turn, take: Take) -> None:
        if self.refusal:
            self.refused += 1
            raise self.refusal
        self.shown.append((turn.speaker, " ".join(beat.text for beat in select_public(take.beats))))

    async def withdraw(self, _scene: Scene, turn: Turn) -> None:
        self.withdrawn.append(turn.id)

    async def remove_posts(self, _scene: Scene, turn: Turn) -> None:
        self.removed.append(turn.id)

    async def cover(self, _scene: Scene, turn: Turn) -> None:
        self.covered.append(turn.id)

    async def fail(self, _scene: Scene, _turn: Turn, sentence: str) -> None:
        self.faults.append(sentence)

    async def show_thoughts(
        self, _scene: Scene, _turn: Turn, beats: tuple[PrivateBeat, ...]
    ) -> None:
        self.thoughts.append(beats)

    async def tell(self, _scene: Scene, user_id: int, notice: Notice) -> None:
        self.told.append((user_id, notice))

    async def announce(self, _scene: Scene, notice: Notice) -> None:
        self.notices.append(notice)

    async def withdraw_picture(self, png: bytes) -> None:
        self.withdrawn_pictures.append(png)


@dataclass
class TheatreHarness:
    """A theatre with its services, and short ways to play in it."""

    theatre: Theatre
    player_lines: PlayerLines
    line_changes: LineChanges
    takes: Takes
    undo: Undo
    branching: Branching
    characters: OwnCharacters
    store: Store
    delivery: RecordingDelivery
    engine: ScriptedEngine
    recent: RecentLines
    ids: count[int] = field(default_factory=lambda: count(1000))

    async def start(self, channel: int = 10, scenario: Scenario = STUDY) -> Scene:
        return await self.theatre.start(Place(guild_id=1, channel_id=channel), scenario, GM)

    async def say(
        self,
        scene: Scene,
        text: str,
        *to: str,
        author: int = ALICE,
        name: str = "Alice",
        bot: bool = False,
        reply_to: int | None = None,
    ) -> int:
        """Say a line and return the message's id."""
        line = IncomingLine(author, name, next(self.ids), text)
        await self.player_lines.hear(scene, line, Addressee(to, bot, reply_to))
        return line.message_id

    async def edit(
        self, scene: Scene, message: int, text: str, *to: str, author: int = ALICE
    ) -> None:
        """Edit a message of a player."""
        line = IncomingLine(author, "Alice", message, text)
        await self.line_changes.reword(line, scene.place.channel_id, lambda _: Addressee(to))

    async def post(self, turn: Turn, message_id: int) -> None:
        """Store that this message shows the turn."""
        take_id = turn.take.id if turn.take else None
        await self.store.add_post(Post(message_id, 10, turn.id, take_id, 0, PostPurpose.PERSONA))

    async def wait_until_idle(self, scene: Scene) -> None:
        """Wait until the scene owes no turn."""

        async def settled() -> bool:
            return not await self.store.find_owed_turns(scene.id)

        await until(settled)

    async def read_story(self, scene: Scene) -> list[tuple[str, str]]:
        """Return speaker and public text of each turn so far."""
        turns = await self.theatre.queries.read_history(scene)
        return [
            (turn.speaker, " ".join(b.text for b in select_public(turn.take.beats)))
            for turn in turns
            if turn.take
        ]


@asynccontextmanager
async def open_harness(
    folder: Path,
    *script: Script,
    limits: ReplyLimits | None = None,
    context: int = 8192,
    kind: type[ScriptedEngine] = ScriptedEngine,
) -> AsyncIterator[TheatreHarness]:
    """Open a theatre with its database in `folder`. To open it again is a restart."""
    engine = kind(list(script), context=context)
    await engine.start()
    delivery = RecordingDelivery()
    seeds = count(1)
    async with await Store.open(folder / "aside.db") as store:
        generator = ReplyGenerator(engine, limits or ReplyLimits(), lambda: next(seeds))
        theatre = Theatre(store, delivery, generator, lambda: datetime.now(UTC))
        recent = RecentLines()
        player_lines = PlayerLines(theatre, store, lambda: datetime.now(UTC), recent)
        line_changes = LineChanges(theatre, store, store, lambda: datetime.now(UTC))
        takes = Takes(theatre, store, delivery)
        undo = Undo(theatre, store, delivery, takes, lambda: datetime.now(UTC))
        branching = Branching(theatre, store, lambda: datetime.now(UTC))
        characters = OwnCharacters(theatre, store, store, delivery)
        await theatre.open()
        try:
            yield TheatreHarness(
                theatre,
                player_lines,
                line_changes,
                takes,
                undo,
                branching,
                characters,
                store,
                delivery,
                engine,
                recent,
            )
        finally:
            await theatre.close()
