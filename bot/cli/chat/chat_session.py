"""Connect engine, store and theatre to a screen and a keyboard, and close them at the end."""

from __future__ import annotations

import errno
import random
import secrets
import shlex
import signal
import sys
import tempfile
import time
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TextIO

from bot import logs
from bot.cli.chat import scene_choices
from bot.cli.console.shared_options import open_library
from bot.engine.reproducible_engine import ReproducibleEngine
from bot.engine_factory import create_engine, engine_warning
from bot.scenes import cast
from bot.scenes.player_lines import PlayerLines
from bot.scenes.reply_generation import ReplyGenerator, ReplyLimits
from bot.scenes.scene import AT_TERMINAL, Place
from bot.scenes.takes import Takes
from bot.scenes.theatre import Theatre
from bot.store.store import Store
from bot.terminal import help_pages
from bot.terminal.chat import Chat, ChatSeat, ChatServices
from bot.terminal.choice_prompt import ChoicePrompt, InputEnded
from bot.terminal.keyboard import Keyboard
from bot.terminal.loop_thread import LoopThread, ignore_interrupts
from bot.terminal.screen import FAULT, QUIET, Screen
from bot.terminal.terminal_delivery import TerminalDelivery
from bot.terminal.typed_commands import HELP

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from bot.engine.protocol import Engine
    from bot.her.beats import BeatKind
    from bot.scenes.scene import Scene
    from bot.settings import Settings

_CHANNEL_SCENE_NOTICE = (
    "This scene is running in a Discord channel and stays there. Its characters will remember this "
    "chat, but the chat is not posted."
)
_RECAP_TURNS = 6  # earlier turns that are shown when a scene continues


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """The options of a chat. None means that the option was left out."""

    scenario: str | None
    partner: str | None
    person: str | None
    showing: frozenset[BeatKind]
    seed: int | None
    store: Path | None
    scene_id: int | None

    @property
    def kept(self) -> bool:
        """Return whether the scene is stored after the chat."""
        return self.store is not None or self.scene_id is not None


def play(settings: Settings, options: ChatOptions) -> None:
    """Play at standard input and output until the person leaves.

    Raises AsideError. Raises KeyboardInterrupt or SystemExit after a signal, once everything is
    closed.
    """
    screen = Screen(sys.stdout)
    keyboard = Keyboard(_replace_invalid_bytes(sys.stdin), sys.stdout)
    with ExitStack() as stack:
        stack.callback(logs.set_up(settings))
        stack.callback(screen.end_line)
        stack.enter_context(_exit_on_signals())
        path = (
            (options.store or settings.store.path) if options.kept else _temporary_database(stack)
        )
        loop = stack.enter_context(LoopThread())
        engine = create_engine(settings)
        if options.seed is not None:
            engine = ReproducibleEngine(engine)
        delivery = TerminalDelivery(screen, options.showing)
        services = stack.enter_context(
            loop.enter(_open_services(settings, options, engine, path, delivery, screen))
        )
        try:
            seat = _choose_seat(loop, services, settings, options, keyboard)
        except InputEnded:
            return
        screen.line(
            f"Loading the model ({settings.engine.model or 'the one on the server'}) …", QUIET
        )
        stack.enter_context(loop.enter(_run_engine(engine)))
        if caution := engine_warning(engine.info):
            screen.line(caution, FAULT)
        _run_prompt(loop, Chat(services, seat), services, seat, keyboard)
        if screen.gone:
            raise BrokenPipeError(errno.EPIPE, "the output is closed")
        if options.kept:
            again = f"aside chat --store {shlex.quote(str(path))} --continue {seat.scene_id}"
            screen.line(
                f"Saved in {path}. Continue with `{again}`, or on Discord with `/scene reopen`.",
                QUIET,
            )


@asynccontextmanager
async def _open_services(
    settings: Settings,
    options: ChatOptions,
    engine: Engine,
    path: Path,
    delivery: TerminalDelivery,
    screen: Screen,
) -> AsyncIterator[ChatServices]:
    async with await Store.open(path) as store:
        generator = ReplyGenerator(
            engine, ReplyLimits(**settings.play.limits()), _make_seed_source(options.seed)
        )
        theatre = Theatre(store, delivery, generator, _now, describe_error=str)
        try:
            lines = PlayerLines(theatre, store, _now)
            takes = Takes(theatre, store, delivery)
            yield ChatServices(theatre, lines, takes, store, delivery, screen)
        finally:
            await theatre.close()


@asynccontextmanager
async def _run_engine(engine: Engine) -> AsyncIterator[None]:
    try:
        await engine.start()
        yield
    finally:
        await engine.close()


def _choose_seat(
    loop: LoopThread,
    services: ChatServices,
    settings: Settings,
    options: ChatOptions,
    keyboard: Keyboard,
) -> ChatSeat:
    """Start or open the scene and give the person the part that they chose."""
    chooser = ChoicePrompt(keyboard, services.screen)
    theatre = services.theatre
    terminal = Place(AT_TERMINAL, -time.time_ns())
    own = None
    if options.scene_id is None:
        scenario = scene_choices.choose_scenario(chooser, open_library(settings), options.scenario)
        free, taken = [character.name for character in scenario.characters], []
    else:
        scene = loop.run(theatre.open_at_terminal(options.scene_id, terminal))
        scenario = scene.scenario
        own = scene.part_of(_director(scene))
        free = [part.character for part in scene.parts if part.answers]
        taken = [
            part.character for part in scene.parts if part.player_id not in (None, _director(scene))
        ]
    partner = scene_choices.choose_partner(chooser, scenario, free, options.partner)
    kept = own.character if own and options.person is None else None
    person = kept or scene_choices.choose_person(
        chooser, keyboard, scenario, (partner, *taken), options.person
    )
    if options.scene_id is None:
        scene = loop.run(theatre.start(terminal, scenario, AT_TERMINAL))
    if loop.run(_take_part(theatre, scene, person)):
        services.screen.line(f"{person} enters the scene.", QUIET)
    return ChatSeat(scene.id, _director(scene), person, partner)


def _director(scene: Scene) -> int:
    """Return the user id of the first game master, or of the person at the terminal."""
    return next(iter(scene.gm_ids), AT_TERMINAL)


async def _take_part(theatre: Theatre, scene: Scene, person: str) -> bool:
    """Give the person the part of this name. A name of their own means no part.

    Return whether the character was off stage. Its lines would not be heard there.
    """
    user_id = _director(scene)
    own = scene.part_of(user_id)
    if own is not None and own.character != person:
        await theatre.controls.leave(scene, user_id)
    if any(part.character == person for part in scene.parts) and (
        own is None or own.character != person
    ):
        scene = await theatre.controls.join(scene, user_id, person)
    own = scene.part_of(user_id)
    absent = own is not None and own.absent
    if absent:
        await theatre.change(scene, lambda now: cast.move(now, user_id, None, absent=False)[0])
    return absent


def _run_prompt(
    loop: LoopThread, chat: Chat, services: ChatServices, seat: ChatSeat, keyboard: Keyboard
) -> None:
    """Take one line after the other until the person leaves."""
    scene, screen = chat.scene, services.screen
    help_pages.show_opening(screen, scene)
    if not scene.place.at_terminal:
        screen.line(_CHANNEL_SCENE_NOTICE, FAULT)
    for turn in loop.run(services.theatre.queries.read_history(scene, _RECAP_TURNS)):
        services.delivery.retell(turn)
    help_pages.show_instructions(screen, chat.speaker, seat.partner)
    keyboard.begin([*HELP, *(f"@{part.character}" for part in scene.parts)])
    try:
        loop.run(chat.catch_up())
        while not screen.gone and (line := keyboard.ask(f"{chat.speaker}> ")) is not None:
            if not loop.run(chat.handle(line)):
                break
    finally:
        with ignore_interrupts():
            loop.run(chat.leave())


def _make_seed_source(seed: int | None) -> Callable[[], int]:
    if seed is None:
        return lambda: secrets.randbits(32)
    generator_of_seeds = random.Random(seed)  # noqa: S311 - a seed must be repeatable
    return lambda: generator_of_seeds.getrandbits(32)


def _temporary_database(stack: ExitStack) -> Path:
    """Return the path of a database that is deleted after the chat."""
    return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="aside-chat-"))) / "aside.db"


def _replace_invalid_bytes(stream: TextIO) -> TextIO:
    """Make a stream replace bytes that its encoding can't read, instead of raising an error."""
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors="replace")
    return stream


@contextmanager
def _exit_on_signals() -> Iterator[None]:
    """Exit as on Ctrl-C if the system asks the program to end or the terminal is closed."""

    def end(number: int, _frame: object) -> NoReturn:
        raise SystemExit(128 + number)

    before = {
        number: signal.signal(number, end)
        for number in {signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)}
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _now() -> datetime:
    return datetime.now(UTC)
