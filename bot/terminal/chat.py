"""A chat at a terminal: each typed line is a line of the scene or a command."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bot.errors import AsideError, Refused
from bot.her.player_text import is_out_of_character
from bot.library.name_matching import addressable_names, find_addressed
from bot.scenes import cast
from bot.scenes.director import Addressee
from bot.scenes.player_lines import IncomingLine
from bot.scenes.reveal import release_to_gm
from bot.scenes.turn import TurnKind, TurnState
from bot.terminal import help_pages, typed_remedies
from bot.terminal.screen import FAULT, QUIET
from bot.terminal.transcript import format_transcript, write_transcript
from bot.terminal.typed_commands import QUIT_WORDS, parse_command

if TYPE_CHECKING:
    from bot.scenes.player_lines import PlayerLines
    from bot.scenes.running_scenes import RunningScene
    from bot.scenes.scene import Scene
    from bot.scenes.scene_store import SceneStore
    from bot.scenes.takes import Takes
    from bot.scenes.theatre import Theatre
    from bot.scenes.turn import Turn
    from bot.terminal.screen import Screen
    from bot.terminal.terminal_delivery import TerminalDelivery
    from bot.terminal.typed_commands import Command


@dataclass(frozen=True, slots=True)
class ChatServices:
    """The services that a chat uses."""

    theatre: Theatre
    lines: PlayerLines
    takes: Takes
    store: SceneStore
    delivery: TerminalDelivery
    screen: Screen


@dataclass(frozen=True, slots=True)
class ChatSeat:
    """The person at the terminal, who directs the scene, and the scene's id."""

    scene_id: int
    user_id: int
    name: str  # their name if they play no character
    partner: str  # the character that answers lines without an addressee


class Chat:
    """Handles typed lines one after the other, for a scene that runs in the theatre."""

    def __init__(self, services: ChatServices, seat: ChatSeat) -> None:
        self._services = services
        self._seat = seat
        self._names = addressable_names(self.scene.scenario.characters)
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
        """The current scene."""
        return self._running.scene

    @property
    def speaker(self) -> str:
        """The name under which the person speaks."""
        part = self.scene.part_of(self._seat.user_id)
        return part.character if part else self._seat.name

    async def handle(self, line: str) -> bool:
        """Handle a line and wait for its replies. Return False if the person quits."""
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
            self._services.screen.line(typed_remedies.describe_error(error), FAULT)
        return True

    async def catch_up(self) -> None:
        """Play the replies that were pending at the end of the last session."""
        self._services.theatre.play_owed()
        await self._running.runner.wait_until_idle()

    async def leave(self) -> None:
        """Stop at once.

        In a channel's scene, drop the pending replies. The channel did not see their cues.
        """
        running = self._running
        await running.runner.stop()
        if not running.scene.place.at_terminal:
            owed = await self._services.store.find_owed_turns(running.scene.id)
            await self._services.store.give_up([turn.id for turn in owed])

    @property
    def _running(self) -> RunningScene:
        running = self._services.theatre.find_running(self._seat.scene_id)
        assert running is not None  # noqa: S101 - only this person can end it
        return running

    async def _say(self, line: str) -> None:
        if is_out_of_character(line):
            self._note("Out of character. No character heard it.")
            return
        characters = find_addressed(line, self._names) or (self._seat.partner,)
        incoming = IncomingLine(self._seat.user_id, self._seat.name, self._new_id(), line)
        notices = self._services.delivery.notices
        await self._services.lines.hear(self.scene, incoming, Addressee(characters))
        await self._running.runner.wait_until_idle()
        turns = await self._services.store.latest_turns(self._seat.scene_id, 1)
        if turns and turns[-1].kind is TurnKind.LINE and self._services.delivery.notices == notices:
            self._note("No reply. The model does not play the character you addressed.")

    def _new_id(self) -> int:
        """Return a new id for a line. It is negative, so it differs from every id of Discord's."""
        self._last_id = min(self._last_id - 1, -time.time_ns())
        return self._last_id

    async def _help(self, _command: Command) -> None:
        help_pages.show_help(self._services.screen)

    async def _cast(self, _command: Command) -> None:
        help_pages.show_cast(
            self._services.screen, self.scene, self._seat.user_id, self._seat.partner
        )

    async def _history(self, _command: Command) -> None:
        turns = await self._services.theatre.queries.read_history(self.scene)
        if not turns:
            self._note("The story is still empty.")
        for turn in turns:
            self._services.delivery.retell(turn)

    async def _clear(self, _command: Command) -> None:
        hidden = await self._services.theatre.controls.clear(self.scene, self._seat.user_id)
        if not hidden:
            raise Refused("The story is still empty.")
        turns = "One turn was" if hidden == 1 else f"{hidden} turns were"
        self._note(f"The story starts over. {turns} removed from every mind.")

    async def _retry(self, command: Command) -> None:
        turn = await self._last_reply(command.rest)
        if turn.state is TurnState.FAILED:
            await self._services.takes.retry(turn.id, self._seat.user_id)
        else:
            await self._services.takes.retake(turn.id, self._seat.user_id)
        await self._running.runner.wait_until_idle()

    async def _thoughts(self, command: Command) -> None:
        delivery = self._services.delivery
        if command.rest:
            delivery.showing = help_pages.parse_thoughts_word(command.rest.casefold())
            self._note(help_pages.describe_showing(delivery.showing))
            return
        turn = await self._last_reply("")
        freed = release_to_gm(turn.take.beats if turn.take else ())
        if not freed:
            raise Refused(f"The last reply of {turn.speaker} has no thoughts.")
        delivery.reveal(freed)

    async def _prompt(self, command: Command) -> None:
        name = command.rest.removeprefix("@") or self._seat.partner
        self._services.screen.line(
            await self._services.theatre.queries.read_prompt(self.scene, name, self._seat.user_id)
        )

    async def _save(self, command: Command) -> None:
        if not command.rest:
            raise Refused("Name a file: `save FILE`.")
        path = await asyncio.to_thread(lambda: Path(command.rest).expanduser().absolute())
        text = format_transcript(
            self.scene.scenario,
            await self._services.theatre.queries.read_history(self.scene),
            self._services.delivery.showing,
        )
        await asyncio.to_thread(write_transcript, path, text, overwrite=path in self._written)
        self._written.add(path)
        self._note(f"Saved to {path}.")

    async def _last_reply(self, name: str) -> Turn:
        """Return the latest reply, or the character's latest if `name` is not empty.

        Raise Refused if there is no such reply, and NameNotFound for an unknown name.
        """
        who = cast.find_part(self.scene, name.removeprefix("@")).character if name else ""
        names = [who] if who else [part.character for part in self.scene.parts]
        replies = await self._services.store.latest_replies(self._seat.scene_id, names)
        if replies:
            return replies[-1]
        raise Refused(f"{who} has not replied yet." if who else "There is no reply yet.")

    def _note(self, text: str) -> None:
        self._services.screen.line(text, QUIET)
