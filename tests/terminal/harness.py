"""A chat to test in: the real theatre and store, a scripted engine, and a screen that is a text."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from io import StringIO
from itertools import count
from typing import TYPE_CHECKING

from bot.scenes.player_lines import PlayerLines
from bot.scenes.reply_generation import ReplyGenerator, ReplyLimits
from bot.scenes.scene import AT_TERMINAL, Place
from bot.scenes.takes import Takes
from bot.scenes.theatre import Theatre
from bot.store.store import Store
from bot.terminal.chat import Chat, ChatSeat, ChatServices
from bot.terminal.screen import Screen
from bot.terminal.terminal_delivery import TerminalDelivery
from tests.engine.scripted_engine import ScriptedEngine
from tests.scenes.harness import STUDY

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bot.scenes.scene import Scene
    from tests.engine.scripted_engine import Script


@dataclass
class Evening:
    """Somebody at a terminal, who plays Elizabeth to Mr Bennet."""

    chat: Chat
    house: ChatServices
    store: Store
    engine: ScriptedEngine
    out: StringIO

    async def types(self, line: str) -> str:
        """Type a line; return what the screen shows of it."""
        before = len(self.out.getvalue())
        self.stays = await self.chat.take(line)
        return self.out.getvalue()[before:]


@asynccontextmanager
async def an_evening(
    folder: Path, *script: Script, scene_id: int | None = None
) -> AsyncIterator[Evening]:
    """An evening whose store lies in `folder`, with a new scene or that one."""
    engine, out, seeds = ScriptedEngine(list(script)), StringIO(), count(1)
    await engine.start()
    screen = Screen(out)
    stage = TerminalDelivery(screen)
    async with await Store.open(folder / "aside.db") as store:
        theatre = Theatre(
            store,
            stage,
            ReplyGenerator(engine, ReplyLimits(), lambda: next(seeds)),
            lambda: datetime.now(UTC),
        )
        hearing = PlayerLines(theatre, store, store, lambda: datetime.now(UTC))
        house = ChatServices(theatre, hearing, Takes(theatre, store, stage), store, stage, screen)
        terminal = Place(AT_TERMINAL, -1)
        scene = await (
            theatre.open_at_terminal(scene_id, terminal) if scene_id else _begun(theatre, terminal)
        )
        chat = Chat(house, ChatSeat(scene.id, scene.gm_ids[0], "Alice", "Mr Bennet"))
        try:
            yield Evening(chat, house, store, engine, out)
        finally:
            await chat.leave()
            await theatre.close()


async def _begun(theatre: Theatre, terminal: Place) -> Scene:
    return await theatre.controls.join(
        await theatre.start(terminal, STUDY, AT_TERMINAL), AT_TERMINAL, "Elizabeth Bennet"
    )
