"""Players' lines that appear as their characters': every stop between two steps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from bot.errors import PostingError, Refused
from bot.scenes.director import Addressee
from bot.scenes.persona_lines import PersonaLines
from bot.scenes.player_lines import IncomingLine
from tests.scenes.scene_harness import ALICE, BOB, open_harness

if TYPE_CHECKING:
    from pathlib import Path

    from bot.scenes.scene import Scene
    from bot.scenes.turn import Turn
    from tests.scenes.scene_harness import TheatreHarness


class Stopped(Exception):
    """The program stopped here."""


@dataclass
class Channel:
    """Messages by id. Implements LineVoice. `stops` are the steps after which it stops."""

    messages: dict[int, str] = field(default_factory=dict)
    stops: set[str] = field(default_factory=set)
    refuses: bool = False
    allowed: bool = True

    async def require_persona_lines(self, _scene: Scene) -> None:
        if not self.allowed:
            raise PostingError("Allow me Manage Messages.")

    async def post_line(self, _scene: Scene, _turn: Turn, text: str) -> int:
        if self.refuses:
            raise PostingError("No.")
        posted = 5000 + len(self.messages)
        self.messages[posted] = text
        self._stop("post")
        return posted

    async def find_posted_line(self, _scene: Scene, turn: Turn) -> int | None:
        text = self.messages[turn.message_id or 0]
        return next(
            (one for one in self.messages if one >= 5000 and self.messages[one] == text), None
        )

    async def delete_line(self, _scene: Scene, message_id: int) -> bool:
        self._stop("delete")
        self.messages.pop(message_id, None)
        return True

    def _stop(self, step: str) -> None:
        if step in self.stops:
            raise Stopped


def personas(harness: TheatreHarness, channel: Channel) -> PersonaLines:
    return PersonaLines(
        harness.theatre, harness.store, harness.store, harness.line_changes, channel
    )


async def begin(harness: TheatreHarness, channel: Channel) -> Scene:
    """Start a scene in which Alice speaks as Mrs Bennet, in her voice."""
    scene = await harness.start()
    await harness.theatre.controls.join(scene, ALICE, "Mrs Bennet")
    name = await personas(harness, channel).choose(scene, ALICE, as_persona=True)
    assert name == "Mrs Bennet"
    return harness.theatre.require_scene(10)


async def say(
    harness: TheatreHarness, channel: Channel, text: str, number: int = 900, author: int = ALICE
) -> None:
    scene = harness.theatre.require_scene(10)
    line = IncomingLine(author, "Alice", number, text)
    channel.messages[number] = text
    await harness.player_lines.hear(scene, line, Addressee())
    await personas(harness, channel).show(scene, line, Addressee(), text)


async def story(harness: TheatreHarness) -> list[tuple[str, int | None, str]]:
    turns = await harness.theatre.queries.read_history(harness.theatre.require_scene(10))
    return [(one.speaker, one.message_id, one.take.raw if one.take else "") for one in turns]


async def test_a_post_takes_the_place_of_the_players_message(tmp_path: Path) -> None:
    channel = Channel()
    async with open_harness(tmp_path) as harness:
        await begin(harness, channel)
        await say(harness, channel, "My *sighs* nerves!")
        assert channel.messages == {5001: "My *sighs* nerves!"}
        assert await story(harness) == [("Mrs Bennet", 5001, "My *sighs* nerves!")]
        await harness.line_changes.withdraw(900, 10)  # the deletion of the player's message
        assert len(await story(harness)) == 1
        await harness.line_changes.withdraw(5001, 10)
        assert await story(harness) == []


@pytest.mark.parametrize("step", ["post", "delete"])
async def test_a_stop_between_two_steps_leaves_the_line_once(tmp_path: Path, step: str) -> None:
    channel = Channel(stops={step})
    async with open_harness(tmp_path) as harness:
        await begin(harness, channel)
        with pytest.raises(Stopped):
            await say(harness, channel, "Well?")
        assert len(channel.messages) == 2
    channel.stops.clear()
    async with open_harness(tmp_path) as harness:
        await personas(harness, channel).resume(harness.theatre.require_scene(10))
        assert list(channel.messages.values()) == ["Well?"]
        (posted,) = channel.messages
        assert await story(harness) == [("Mrs Bennet", posted, "Well?")]
        await personas(harness, channel).resume(harness.theatre.require_scene(10))
        assert list(channel.messages) == [posted]


async def test_a_line_that_can_not_be_posted_stays_as_it_was_typed(tmp_path: Path) -> None:
    channel = Channel(refuses=True)
    async with open_harness(tmp_path) as harness:
        await begin(harness, channel)
        await say(harness, channel, "Well?")
        assert channel.messages == {900: "Well?"}
        assert await story(harness) == [("Mrs Bennet", 900, "Well?")]
        await personas(harness, channel).resume(harness.theatre.require_scene(10))
        assert channel.messages == {900: "Well?"}


async def test_only_lines_in_character_of_players_who_asked_are_posted_again(
    tmp_path: Path,
) -> None:
    channel = Channel()
    async with open_harness(tmp_path) as harness:
        scene = await begin(harness, channel)
        await say(harness, channel, "((A moment.))", 900)
        await say(harness, channel, "Hello.", 901, BOB)
        await personas(harness, channel).choose(scene, ALICE, as_persona=False)
        await say(harness, channel, "Plain.", 902)
        assert set(channel.messages) == {900, 901, 902}
        await personas(harness, channel).choose(scene, ALICE, as_persona=True)
        await harness.theatre.controls.leave(scene, ALICE)
        await harness.theatre.controls.join(scene, BOB, "Mrs Bennet")
        await say(harness, channel, "Mine.", 903, BOB)
        assert 903 in channel.messages
        with pytest.raises(Refused, match="don't play"):
            await personas(harness, channel).choose(scene, ALICE, as_persona=True)
        channel.allowed = False
        with pytest.raises(PostingError, match="Manage Messages"):
            await personas(harness, channel).choose(scene, BOB, as_persona=True)


async def test_a_line_that_is_deleted_while_it_is_posted_leaves_no_post(tmp_path: Path) -> None:
    class Deleted(Channel):
        async def post_line(self, scene: Scene, turn: Turn, text: str) -> int:
            posted = await super().post_line(scene, turn, text)
            await harness.store.forget_person(ALICE)
            return posted

    channel = Deleted()
    async with open_harness(tmp_path) as harness:
        await begin(harness, channel)
        await say(harness, channel, "Well?")
        assert channel.messages == {900: "Well?"}
        assert await story(harness) == []
        assert await harness.store.find_reposts(1) == []


async def test_only_its_author_changes_a_line(tmp_path: Path) -> None:
    channel = Channel()
    async with open_harness(tmp_path) as harness:
        scene = await begin(harness, channel)
        await say(harness, channel, "Well?")
        lines = personas(harness, channel)
        with pytest.raises(Refused, match="Only the player"):
            await lines.find_own_line(5001, BOB)
        assert await lines.find_own_line(1, ALICE) is None
        line = await lines.find_own_line(5001, ALICE)
        assert line
        await lines.reword(scene, line, "Well, sir?", None)
        assert await story(harness) == [("Mrs Bennet", 5001, "Well, sir?")]
        await lines.withdraw(scene, line)
        assert await story(harness) == []
        assert channel.messages == {}


async def test_deleting_data_finds_the_posts_of_a_persons_lines(tmp_path: Path) -> None:
    channel = Channel()
    async with open_harness(tmp_path) as harness:
        await begin(harness, channel)
        await say(harness, channel, "Well?")
        ((place, post),) = await harness.store.posts_of(ALICE)
        assert (place.channel_id, post.message_id) == (10, 5001)
        assert await harness.store.find_stored_message_ids([5001, 5002]) == {5001}
