"""The README's examples work."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import discord
import pytest

from . import payloads, speech
from .entities import ChannelKind
from .refusals import Refusal
from .router import TABLE, Answer, Call, route
from .stage_bot import StageBot

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .conftest import Play
    from .server import LoopbackDiscord

HERE = Path(__file__).parent
README = (HERE / "README.md").read_text("utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
THE_LOOPBACKS_OWN = {
    "__init__",
    "conftest",
    "fixtures",
    "stage_bot",
    "processes_bot",
}  # its tests, and their bots
NAMES: dict[str, Any] = {each.__name__: each for each in (ChannelKind, Refusal, Call, route)}
NAMES |= {"Answer": Answer, "discord": discord, "payloads": payloads, "speech": speech}


def example_of(beginning: str) -> str:
    """Return the only example that begins like this."""
    [block] = [each for each in BLOCKS if each.startswith(beginning)]
    return str(block)


@pytest.fixture
def another_route() -> Iterator[str]:
    """Add the README's route to the table for the length of a test."""
    example = example_of("@route")
    before = len(TABLE)
    exec(example, dict(NAMES))
    yield example
    del TABLE[before:]


async def test_the_first_example_passes(loopback: LoopbackDiscord) -> None:
    names = dict(NAMES)
    exec(example_of("async def test_"), names)
    await names["test_a_bot_waves_back"](loopback)


async def test_a_new_route_takes_ten_lines(loopback: LoopbackDiscord, another_route: str) -> None:
    assert another_route.count("\n") <= 10
    guild = loopback.guild()
    news = loopback.world.channel(guild, "news", ChannelKind.ANNOUNCEMENT)
    bot = StageBot(loopback.connector())
    async with loopback.running(bot):
        channel = bot.get_channel(news.id)
        assert isinstance(channel, discord.TextChannel)
        await (await channel.send("Bingley is come.")).publish()
        assert [each.status for each in loopback.requests_to("publish_message")] == [200]


async def test_the_new_route_refuses_as_discord_does(play: Play, another_route: str) -> None:
    assert "Refusal(50024)" in another_route
    channel = play.bot.get_channel(play.stage.id)
    assert isinstance(channel, discord.TextChannel)
    with pytest.raises(discord.HTTPException) as refused:
        await (await channel.send("Bingley is come.")).publish()
    assert refused.value.code == 50024
    assert [each.code for each in play.discord.forgive()] == [50024]


def test_the_example_of_a_rule_is_in_the_code() -> None:
    assert example_of("def _embed_faults") in (HERE / "rules" / "message_rules.py").read_text(
        "utf-8"
    )


def test_every_file_is_in_the_table() -> None:
    named = set(re.findall(r"`(\w+)\.py`", README))
    there = {path.stem for path in HERE.glob("*.py") if not path.stem.startswith("test_")}
    assert there - named == THE_LOOPBACKS_OWN - named
    assert named <= there | {"test_rules"}
    assert all((HERE / folder).is_dir() for folder in re.findall(r"`(\w+)/`", README))
