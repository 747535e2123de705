"""A chat for tests: the real theatre and store, a scripted engine and a screen in memory."""

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
from tests.scenes.scene_harness import STUDY

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bot.scenes.scene import Scene
    from tests.engine.scripted_engine import Script


@dataclass
class ChatEvening:
    """A person at a terminal who plays Elizabeth opposite Mr Bennet."""

    chat: Chat
    services: ChatServices
    store: Store
    engine: ScriptedEngine
    out: StringIO

    async def types(self, line: str) -> str:
        """Type a line and return the new text on the screen."""
        before = len(self.out.getvalue())
        self.stays = await self.chat.handle(line)
        return self.out.getvalue()[before:]


@asynccontextmanager
async def an_evening(
    folder: Path, *script: Script, scene_id: int | None = None
) -> AsyncIterator[ChatEvening]:
    """Open an evening with a store in `folder`, and with a new scene or the given one."""
    engine = ScriptedEngine(list(script))
    out = StringIO()
    seeds = count(1)
    await engine.start()
    screen = Screen(out)
    delivery = TerminalDelivery(screen)
    async with await Store.open(folder / "aside.db") as store:
        theatre = Theatre(
            store,
            delivery,
            ReplyGenerator(engine, ReplyLimits(), lambda: next(seeds)),
            lambda: datetime.now(UTC),
            describe_error=str,
        )
        lines = PlayerLines(theatre, store, lambda: datetime.now(UTC))
        services = ChatServices(
            theatre, lines, Takes(theatre, store, delivery), store, delivery, screen
        )
        terminal = Place(AT_TERMINAL, -1)
        scene = await (
            theatre.open_at_terminal(scene_id, terminal)
            if scene_id
            else _start_scene(theatre, terminal)
        )
        chat = Chat(services, ChatSeat(scene.id, scene.gm_ids[0], "Alice", "Mr Bennet"))
        try:
            yield ChatEvening(chat, services, store, engine, out)
        finally:
            await chat.leave()
            await theatre.close()


async def _start_scene(theatre: Theatre, terminal: Place) -> Scene:
    return await theatre.controls.join(
        await theatre.start(terminal, STUDY, AT_TERMINAL), AT_TERMINAL, "Elizabeth Bennet"
    )
