"""Private text reaches only the people that the game master chose, whatever the model writes."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, deque
from itertools import count, product
from typing import TYPE_CHECKING

import pytest

from bot.settings import LibrarySettings, PlaySettings
from tests.engine.scripted_engine import ScriptedEngine
from tests.her.sample_replies import CHARACTER, OTHERS, SECRET
from tests.library.sample_libraries import put
from tests.proof.hostile_replies import REPLIES, corpus
from tests.proof.hostile_scenes import DARCY, Act, EngineScript, ask, begin, find_secrets, latest
from tests.proof.people_actions import ACTIONS, try_again
from tests.proof.test_hostile_replies import SPOILED

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.loopback import DiscordMessage, Person
    from tests.play.harness import Evening
    from tests.proof.hostile_replies import Hostile

WHERE = ("off", "gm", "spoiler")
LONGEST_ACT = 30  # replies
AT_ONCE = 6  # acts that are played
ALL_DEEDS = 150  # replies after which every action has been taken
pytestmark = pytest.mark.timeout(7200)


async def test_no_secret_of_hundreds_of_hostile_replies_is_found_anywhere(
    evening: Evening, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await hostile_evening(evening, tmp_path, caplog, streaming=True)


async def test_no_secret_is_found_if_replies_are_not_streamed(
    evening: Evening, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await hostile_evening(evening, tmp_path, caplog, streaming=False)


async def hostile_evening(
    evening: Evening, folder: Path, caplog: pytest.LogCaptureFixture, *, streaming: bool
) -> None:
    """Play half of the replies in many channels, with every setting of `/reveal`."""
    caplog.set_level(logging.INFO)
    put(folder / "shelf", "ball", characters=characters())
    evening.settings = evening.settings.model_copy(
        update={
            "library": LibrarySettings(folders=(folder / "shelf",)),
            "play": PlaySettings(streaming=streaming, guided=False),
        }
    )
    wickham = evening.discord.person("Wickham", evening.guild)
    acts = acts_of(evening, wickham, list(corpus(REPLIES))[streaming::2])
    script = EngineScript(acts)
    engine = ScriptedEngine([script], context=4096)
    await engine.start()
    async with evening.online(engine):
        await together(evening, engine, acts)
        await evening.discord.quiet(0.4)
    assert script.replies_of_others
    assert script.leaks == []
    assert_kept(evening, wickham, acts, caplog)
    assert_done(acts)


def characters() -> list[dict[str, str]]:
    return [{"name": CHARACTER}] + [
        {"name": name, "motivation": f"{SECRET}M of {name}"} for name in OTHERS
    ]


def acts_of(evening: Evening, wickham: Person, replies: Sequence[Hostile]) -> list[Act]:
    """Return one act for each setting, or more. Only Wickham's player sees spoilers."""
    discord = evening.discord
    settings = list(product(WHERE, WHERE))
    many = max(len(settings), -(-len(replies) // LONGEST_ACT))
    acts = []
    for number in range(many):
        stage = discord.text_channel(evening.guild, f"stage-{number}")
        act = Act(
            number,
            stage,
            evening.lizzy,
            settings[number % len(settings)],
            deque(replies[number::many]),
        )
        if act.spoils:
            act.player = wickham
            for person in (evening.lizzy, evening.kitty):
                discord.world.overwrite(stage, person.user, deny="view_channel")
        acts.append(act)
    return acts


async def together(evening: Evening, engine: ScriptedEngine, acts: Sequence[Act]) -> None:
    """Play the acts, several at a time."""
    waiting = deque(acts)

    async def play_on() -> None:
        while waiting:
            await play(evening, waiting.popleft())
            engine.requests.clear()  # each prompt was checked when it arrived

    async with asyncio.TaskGroup() as group:
        for _ in range(AT_ONCE):
            group.create_task(play_on())


async def play(evening: Evening, act: Act) -> None:
    """Play an act, with every action of people."""
    await begin(evening, act)
    deeds = list(ACTIONS)
    for number in count():
        if not act.replies:
            break
        if number % 5 == 2:
            act.player.say(act.stage, f"@{DARCY} {act.line(f'line {number}')}")
        await ask(evening, act, f"line {number}")
        act.done["try_again"] += number % 2 and await try_again(act)
        action = deeds[(number + act.number * 4) % len(deeds)]
        post = latest(act.stage.history, persona=True)
        if post is not None:
            act.done[action] += await ACTIONS[action](evening, act, post)
    await evening.gm.slash(act.stage, "scene end")


def assert_kept(
    evening: Evening, wickham: Person, acts: Sequence[Act], caplog: pytest.LogCaptureFixture
) -> None:
    """Fail if a person ever saw a secret, or if the log contains one."""
    assert find_secrets(evening.kitty.ever_saw()) == []
    assert set(find_secrets(evening.lizzy.ever_saw())) <= {f"{SECRET}V", f"{SECRET}Y"}
    spoiled = {act.stage for act in acts if act.spoils}
    for message in evening.discord.world.messages.values():
        place = message.channel.parent or message.channel
        if place in spoiled and message.only_for in {None, wickham.user}:
            uncovered_secrets = {secret[-1] for secret in find_secrets(uncovered(evening, message))}
            assert uncovered_secrets <= ({"V", "Y"} if message.only_for else set()), message
    assert find_secrets(caplog.text) == []
    assert [
        record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR
    ] == []


def uncovered(evening: Evening, message: DiscordMessage) -> str:
    """Return everything that was ever readable in a message without lifting a spoiler."""
    names = {each["id"]: each["filename"] for state in message.states for each in state.attachments}
    plain = [int(number) for number, name in names.items() if not name.startswith("SPOILER_")]
    texts = [SPOILED.sub("", text) for text in message.ever()]
    return "\n".join([*texts, *(evening.discord.world.files[number].decode() for number in plain)])


def assert_done(acts: Sequence[Act]) -> None:
    """Fail if an action was never taken."""
    done: Counter[str] = sum((act.done for act in acts), Counter())
    if sum(act.asked for act in acts) >= ALL_DEEDS:
        assert {action for action in (*ACTIONS, "try_again") if not done[action]} == set(), done
