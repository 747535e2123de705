"""llama.cpp with the demo model on the loopback Discord."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.engine.local.local_engine import LocalEngine
from bot.engine.local.local_options import LocalOptions
from tests.play.harness import Evening, personas

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.loopback import DiscordMessage

pytestmark = [pytest.mark.model, pytest.mark.timeout(300)]
PATIENCE = 120.0  # seconds for a reply on a busy machine


@pytest.fixture
async def engine() -> AsyncIterator[LocalEngine]:
    local = LocalEngine(LocalOptions(context=2048, minds=2))
    await local.start()
    yield local
    await local.close()


def read(*messages: DiscordMessage) -> str:
    return "\n".join(text for message in messages for text in message.now.texts())


async def test_the_real_model_plays_in_a_channel_and_a_thread_across_a_restart(
    evening: Evening, engine: LocalEngine
) -> None:
    async with evening.online(engine):
        await evening.begin()
        await evening.lizzy.slash(evening.stage, "cast join", character="Elizabeth Bennet")
        evening.lizzy.say(evening.stage, "*closes the door* You sent for me, @Mr Bennet?")
        post = await evening.answer(within=PATIENCE)
        assert post.name == "Mr Bennet"
        assert "*" in post.content
        assert "||" not in post.content

        before = post.content
        await evening.lizzy.press(post, "Write more")
        await evening.discord.until(lambda: "2/2 ▶" in post.labels, PATIENCE)
        assert post.content.startswith(before)
        assert len(post.content) > len(before)

        thread = evening.gm.start_thread(evening.stage, "the hall")
        await evening.begin(thread)
        evening.kitty.say(thread, "@Mrs Bennet Mama, is she to marry him?")
        assert (await evening.answer(thread, within=PATIENCE)).name == "Mrs Bennet"
        assert len(personas(evening.stage)) == 1

        thinking = await evening.discord.until(
            lambda: (
                [m for m in evening.gm.dms if "💭" in read(m)] if len(evening.gm.dms) >= 4 else []
            ),
            20,
        )
        thought = read(thinking[0]).split("💭")[1].strip().splitlines()[0]
        assert thought
        for player in (evening.lizzy, evening.kitty):
            assert not any(thought in text for text in player.ever_saw())

        await evening.gm.slash(evening.stage, "reveal thoughts")
    async with evening.online(engine):
        evening.lizzy.say(evening.stage, "Then you will not make me, @Papa?")
        post = await evening.answer(count=2, within=PATIENCE)
        assert post.name == "Mr Bennet"
        assert "||" in post.content
