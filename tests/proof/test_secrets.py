"""Whatever a model writes, what is private reaches nobody but those whom the game master lets hear it."""

from __future__ import annotations

import asyncio
import logging
import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from bot.posting.drafts import MARK
from bot.settings import LibrarySettings, PlaySettings
from tests.engine.scripted import Scripted, ScriptedEngine
from tests.her.replies import CHARACTER, OTHERS, SECRET
from tests.library.shelves import put
from tests.loopback.picker import NotOffered
from tests.play.house import personas
from tests.proof.corpus import corpus

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bot.engine.protocol import Request
    from tests.loopback import Channel, Message, Person
    from tests.play.house import Evening
    from tests.proof.corpus import Hostile

DARCY = OTHERS[0]
ASIDE = f"{DARCY} hides.</system_thinking>{DARCY}: <role_thinking>My {SECRET}D.</role_thinking>Indeed."
SPOILED = re.compile(r"\|\|.*?\|\|", re.DOTALL)
pytestmark = pytest.mark.timeout(3600)


@dataclass
class Show:
    """One stage on which hostile replies are played."""

    stage: Channel
    player: Person
    replies: Iterator[Hostile]
    asked: int = 0
    now: Hostile | None = None


@dataclass
class Bill:
    """What the engine writes on which stage; scenes have their stages' numbers."""

    shows: list[Show]
    others: Counter[str] = field(default_factory=Counter)

    def __call__(self, request: Request) -> Scripted:
        scene, mind = request.mind.split("/", 1)
        if mind != CHARACTER:
            self.others[mind] += 1
            return Scripted(ASIDE)
        show = self.shows[int(scene) - 1]
        show.asked += 1
        show.now = next(show.replies, show.now)
        assert show.now is not None
        return show.now.more if request.planning_tokens is None else show.now.scripted


async def test_no_secret_of_hundreds_of_hostile_replies_is_found_anywhere(
    evening: Evening, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await hostile_evening(evening, tmp_path, caplog, streaming=True)


async def test_nor_where_replies_come_whole(evening: Evening, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    await hostile_evening(evening, tmp_path, caplog, streaming=False)


async def hostile_evening(evening: Evening, folder: Path, caplog: pytest.LogCaptureFixture, *, streaming: bool) -> None:
    """Play half of the corpus on three stages at once, with thoughts off, for the game master, and under spoilers."""
    caplog.set_level(logging.INFO)
    put(folder / "shelf", "ball", characters=characters())
    evening.settings = evening.settings.model_copy(
        update={
            "library": LibrarySettings(folders=(folder / "shelf",)),
            "play": PlaySettings(streaming=streaming, guided=False),
        }
    )
    shows = shows_of(evening, corpus()[streaming::2])
    bill = Bill(shows)
    engine = ScriptedEngine([bill], context=4096)
    await engine.start()
    async with evening.online(engine):
        for show, where in zip(shows, ("off", "gm", "spoiler"), strict=True):
            await evening.gm.slash(show.stage, "scene start", scenario="ball")
            await evening.gm.slash(show.stage, "reveal thoughts", where=where)
            await evening.gm.slash(show.stage, "gm note", text=f"The {SECRET}N.", character=DARCY)
            await evening.gm.slash(show.stage, "gm whisper", text=f"The {SECRET}W.", character=DARCY)
        await asyncio.gather(*(play(evening, show) for show in shows))
        await evening.discord.quiet(0.4)
    evening.discord.forgive(10062)  # three stages on a busy machine: a form may come too late, which is no leak
    assert bill.others[DARCY]
    assert_kept(evening, shows, engine, caplog)


def characters() -> list[dict[str, str]]:
    return [{"name": CHARACTER}] + [{"name": name, "motivation": f"{SECRET}M of {name}"} for name in OTHERS]


def shows_of(evening: Evening, replies: list[Hostile]) -> list[Show]:
    discord, guild = evening.discord, evening.guild
    stages = [evening.stage, discord.text_channel(guild, "park"), discord.text_channel(guild, "attic")]
    players = [evening.lizzy, evening.lizzy, discord.person("Wickham", guild)]
    for person in (evening.lizzy, evening.kitty):
        discord.world.overwrite(stages[2], person.user, deny="view_channel")
    parts = (iter(replies[number::3]) for number in range(3))
    return [Show(*show) for show in zip(stages, players, parts, strict=True)]


async def play(evening: Evening, show: Show) -> None:
    for number in range(10_000):
        before = show.asked
        name = DARCY if number % 7 == 6 else CHARACTER
        show.player.say(show.stage, f"@{name} And {number}?")
        if name == DARCY:
            continue
        await settled(evening, show, before)
        if show.now is None or (after := next(show.replies, None)) is None:
            return
        show.replies = _first(after, show.replies)
        with suppress(NotOffered):
            await do(evening, show, show.now.deed)


def _first(reply: Hostile, rest: Iterator[Hostile]) -> Iterator[Hostile]:
    yield reply
    yield from rest


async def settled(evening: Evening, show: Show, before: int) -> None:
    """Wait until a reply was asked for, and shows in full or failed."""
    await evening.discord.until(lambda: show.asked > before, 20, "a reply that is asked for")

    def over() -> bool:
        last = show.stage.messages[-1]
        return last.author is not show.player.user and not last.content.endswith(MARK)

    await evening.discord.until(over, 20, "a reply or a notice")


async def do(evening: Evening, show: Show, deed: str) -> None:
    posts = personas(show.stage)
    if not posts:
        return
    post = posts[-1]
    match deed:
        case "Retry" | "Continue":
            await show.player.press(post, deed)
        case "◀":
            await evening.gm.press(post, deed)
        case "edit":
            form = await evening.gm.context_menu(post, "Edit")
            if form.modal:
                await evening.gm.submit_modal(form, {"text": "*curtsies* Hm."})
        case "hide" | "rewind":
            await undo(evening, post, deed)
        case "pry":
            for person in (show.player, evening.discord.person("Stranger", evening.guild)):
                await person.context_menu(post, "Show thoughts")
                await person.slash(show.stage, "scene prompt", character=CHARACTER)
        case "read":
            for line in ("scene history", "scene status", "cast list", "mydata export", "reveal status"):
                await show.player.slash(show.stage, line)
        case "reload":
            await evening.discord.gateway.close()
        case _:
            pass


async def undo(evening: Evening, post: Message, deed: str) -> None:
    menu = await evening.gm.context_menu(post, "More…")
    if menu.messages and deed == "hide":
        await evening.gm.press(menu.message, "Hide")
        await evening.gm.slash(post.channel, "scene restore")
    elif menu.messages:
        asked = await evening.gm.press(menu.message, "Rewind to here")
        if asked.messages:
            await evening.gm.press(asked.message, "Rewind")


def assert_kept(evening: Evening, shows: list[Show], engine: ScriptedEngine, caplog: pytest.LogCaptureFixture) -> None:
    people = [evening.lizzy, evening.kitty]
    for person in people:
        assert found(person.ever_saw()) == []
    for message in evening.discord.world.messages.values():
        if message.channel is shows[2].stage and message.only_for is None:
            assert found(SPOILED.sub("", "\n".join(message.ever()))) == []
    for request in engine.requests:
        mind = request.mind.split("/", 1)[1]
        allowed = "DNWM" if mind == DARCY else "M" if mind in OTHERS else "0123456789PZ"
        assert [secret for secret in found(request.prompt.text) if secret[len(SECRET)] not in allowed] == []
    for record in caplog.records:
        assert found(record.getMessage() + str(record.exc_text or "")) == []
        assert record.levelno < logging.ERROR, record.getMessage()
    for name, content in evening.discord.world.files.items():
        assert found(content.decode("utf-8", "replace")) == [], name


def found(text: str) -> list[str]:
    return re.findall(rf"{SECRET}\w", text)
