"""One person plays a scene at a terminal: what they type is said in it, or is a command."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bot.errors import AsideError, Refused
from bot.her.player_text import is_out_of_character
from bot.library.name_matching import addressed, spoken_names
from bot.scenes import cast
from bot.scenes.director import Addressee
from bot.scenes.player_lines import IncomingLine
from bot.scenes.reveal import release_to_gm
from bot.scenes.turn import TurnKind, TurnState
from bot.terminal import help_pages, remedy_texts
from bot.terminal.screen import FAULT, QUIET
from bot.terminal.transcript import format_transcript, write_transcript
from bot.terminal.typed_commands import QUIT_WORDS, parse_command

if TYPE_CHECKING:
    from bot.scenes.interfaces import SceneStore
    from bot.scenes.player_lines import PlayerLines
    from bot.scenes.running_scenes import RunningScene
    from bot.scenes.scene import Scene
    from bot.scenes.takes import Takes
    from bot.scenes.theatre import Theatre
    from bot.scenes.turn import Turn
    from bot.terminal.screen import Screen
    from bot.terminal.terminal_delivery import TerminalDelivery
    from bot.terminal.typed_commands import Command


@dataclass(frozen=True, slots=True)
class ChatServices:
    """What a chat is played with."""

    theatre: Theatre
    hearing: PlayerLines
    takes: Takes
    store: SceneStore
    stage: TerminalDelivery
    screen: Screen


@dataclass(frozen=True, slots=True)
class ChatSeat:
    """Who sits at the terminal, and in which scene: the one who directs it."""

    scene_id: int
    user_id: int
    name: str  # under which they speak where they play no character
    partner: str  # the character that answers where nobody is addressed


class Chat:
    """Takes the lines that a person types, one after the other. The scene is under way in the theatre."""

    def __init__(self, house: ChatServices, seat: ChatSeat) -> None:
        self._house = house
        self._seat = seat
        self._names = spoken_names(self.scene.scenario.characters)
        self._last_id = 0
        self._written: set[Path] = set()
        self._commands = {
            "help": self._help,
            "cast": self._cast,
            "history": self._history,
            "clear": self._clear,
            "retry": self._retry,
            "thoughts": self._thoughts,
            "prompt": self._prompt,
            "save": self._save,
        }

    @property
    def scene(self) -> Scene:
        """The scene as it is now."""
        return self._running.scene

    @property
    def speaker(self) -> str:
        """Who speaks when the person speaks."""
        part = self.scene.part_of(self._seat.user_id)
        return part.character if part else self._seat.name

    async def take(self, line: str) -> bool:
        """Do what a line says, and wait for what comes of it; return whether the person stays."""
        try:
            if not line.strip():
                return True
            command = parse_command(line, self._names)
            if command is None:
                await self._say(line)
            elif command.word in QUIT_WORDS:
                return False
            else:
                await self._commands[command.word](command)
        except AsideError as error:
            self._house.screen.line(remedy_texts.describe_error(error), FAULT)
        return True

    async def catch_up(self) -> None:
        """Play what was owed when the scene was left."""
        self._house.theatre.play_owed()
        await self._running.runner.wait_until_idle()

    async def leave(self) -> None:
        """Stop at once. A reply not given here is never given later in a channel that did not hear what it answers."""
        running = self._running
        await running.runner.stop()
        if not running.scene.place.at_terminal:
            owed = await self._house.store.owed(running.scene.id)
            await self._house.store.give_up([turn.id for turn in owed])

    @property
    def _running(self) -> RunningScene:
        running = self._house.theatre.running(self._seat.scene_id)
        assert running is not None  # noqa: S101 - nobody but this person could end it
        return running

    async def _say(self, line: str) -> None:
        if is_out_of_character(line):
            self._note("Out of character: nobody on stage heard it.")
            return
        characters = addressed(line, self._names) or (self._seat.partner,)
        said, told = (
            IncomingLine(self._seat.user_id, self._seat.name, self._new_id(), line),
            self._house.stage.told,
        )
        await self._house.hearing.hear(self.scene, said, Addressee(characters))
        await self._running.runner.wait_until_idle()
        turns = await self._house.store.turns(self._seat.scene_id)
        if turns and turns[-1].kind is TurnKind.LINE and self._house.stage.told == told:
            self._note("Nobody answers: whom you spoke to is not played by the model.")

    def _new_id(self) -> int:
        """Return the number of a line said here: below zero, where no message of Discord's is, and never twice."""
        self._last_id = min(self._last_id - 1, -time.time_ns())
        return self._last_id

    async def _help(self, _command: Command) -> None:
        help_pages.show_help(self._house.screen)

    async def _cast(self, _command: Command) -> None:
        help_pages.show_cast(self._house.screen, self.scene, self._seat.user_id, self._seat.partner)

    async def _history(self, _command: Command) -> None:
        turns = await self._house.theatre.queries.read_history(self.scene)
        if not turns:
            self._note("Nothing has been said yet.")
        for turn in turns:
            self._house.stage.retell(turn)

    async def _clear(self, _command: Command) -> None:
        hidden = await self._house.theatre.controls.clear(self.scene, self._seat.user_id)
        if not hidden:
            raise Refused("Nothing has been said yet.")
        turns = "one turn is" if hidden == 1 else f"{hidden} turns are"
        self._note(f"The story begins anew: {turns} out of everyone's mind.")

    async def _retry(self, command: Command) -> None:
        turn = await self._last_reply(command.rest)
        if turn.state is TurnState.FAILED:
            await self._house.takes.retry(turn.id, self._seat.user_id)
        else:
            await self._house.takes.retake(turn.id, self._seat.user_id)
        await self._running.runner.wait_until_idle()

    async def _thoughts(self, command: Command) -> None:
        stage = self._house.stage
        if command.rest:
            stage.showing = help_pages.parse_thoughts_word(command.rest.casefold())
            self._note(help_pages.describe_showing(stage.showing))
            return
        turn = await self._last_reply("")
        freed = release_to_gm(turn.take.beats if turn.take else ())
        if not freed:
            raise Refused(f"Nothing lies behind what {turn.speaker} said last.")
        stage.reveal(freed)

    async def _prompt(self, command: Command) -> None:
        name = command.rest.removeprefix("@") or self._seat.partner
        self._house.screen.line(
            await self._house.theatre.queries.read_prompt(self.scene, name, self._seat.user_id)
        )

    async def _save(self, command: Command) -> None:
        if not command.rest:
            raise Refused("Say where: `save FILE`.")
        path = await asyncio.to_thread(lambda: Path(command.rest).expanduser().absolute())
        text = format_transcript(
            self.scene.scenario,
            await self._house.theatre.queries.read_history(self.scene),
            self._house.stage.showing,
        )
        await asyncio.to_thread(write_transcript, path, text, over=path in self._written)
        self._written.add(path)
        self._note(f"Written to {path}.")

    async def _last_reply(self, name: str) -> Turn:
        """Return the latest reply, or that character's latest. Raises Refused where there is none, and UnknownName."""
        who = cast.find_part(self.scene, name.removeprefix("@")).character if name else ""
        for turn in reversed(await self._house.store.turns(self._seat.scene_id)):
            if turn.kind is TurnKind.REPLY and who in ("", turn.speaker):
                return turn
        raise Refused(f"{who} has not replied yet." if who else "Nobody has replied yet.")

    def _note(self, text: str) -> None:
        self._house.screen.line(text, QUIET)
