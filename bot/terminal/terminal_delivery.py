"""A scene on a terminal: streamed replies, with thoughts beneath them on request."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from bot.her.beats import BeatKind, select_public
from bot.scenes.reveal import release_to_gm
from bot.terminal.screen import ACTION, FAULT, NAME, PRIVATE, QUIET
from bot.terminal.typed_remedies import describe_notice

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

    from bot.her.beats import PrivateBeat, PublicBeat
    from bot.scenes.notices import Notice
    from bot.scenes.reveal import Revealed
    from bot.scenes.scene import Scene
    from bot.scenes.turn import Take, Turn
    from bot.terminal.screen import Screen

LABELS: Final = {BeatKind.THOUGHT: "💭", BeatKind.PLANNING: "📝"}


class TerminalDelivery:
    """Shows a scene on a screen. It implements `bot.scenes.scene_delivery.Delivery`.

    `showing` are the kinds of private beats to show beneath each reply. The person at the terminal
    directs the scene, so they may see all of them.
    """

    def __init__(self, screen: Screen, showing: Iterable[BeatKind] = ()) -> None:
        self._screen = screen
        self._printer: TurnPrinter | None = None
        self.showing = frozenset(showing)
        self.notices = 0
        """The number of notices shown so far."""

    @asynccontextmanager
    async def show_thinking(self, _scene: Scene, turn: Turn) -> AsyncIterator[None]:
        """Show that a character is thinking until its first words arrive."""
        self._printer = TurnPrinter(self._screen, turn.speaker)
        self._screen.notice(f"{turn.speaker} is thinking …")
        try:
            yield
        finally:
            self._screen.clear_notice()

    async def progress(self, _scene: Scene, _turn: Turn, beats: tuple[PublicBeat, ...]) -> None:
        """Show the finished part of a streaming reply."""
        if self._printer is not None:
            self._printer.show(beats)

    async def deliver(self, _scene: Scene, turn: Turn, take: Take) -> None:
        """Show the rest of a reply and its requested private beats."""
        printer = self._printer or TurnPrinter(self._screen, turn.speaker)
        self._printer = None
        printer.show(select_public(take.beats), whole=True)
        self.reveal(freed for freed in release_to_gm(take.beats) if freed.beat.kind in self.showing)

    async def withdraw(self, _scene: Scene, turn: Turn) -> None:
        """Say that a reply is cancelled. Its shown part stays on the screen."""
        self._printer = None
        self._screen.line(f"The reply of {turn.speaker} was cancelled and does not count.", QUIET)

    async def remove_posts(self, _scene: Scene, _turn: Turn) -> None:
        """Do nothing: what a terminal has shown can't be deleted."""

    async def cover(self, _scene: Scene, turn: Turn) -> None:
        """Say that a reply was removed from the story."""
        self._screen.line(f"The reply of {turn.speaker} was removed from the story.", QUIET)

    async def fail(self, _scene: Scene, _turn: Turn, sentence: str) -> None:
        """Show an error and the command to try again."""
        self._printer = None
        self._screen.line(f"⚠ {sentence} Use `retry` to try again.", FAULT)

    async def show_thoughts(
        self, _scene: Scene, _turn: Turn, beats: tuple[PrivateBeat, ...]
    ) -> None:
        """Show the requested private beats of a reply without words."""
        self.reveal(freed for freed in release_to_gm(beats) if freed.beat.kind in self.showing)

    async def announce(self, _scene: Scene, notice: Notice) -> None:
        """Show a notice, with its remedy if the terminal has one."""
        self._printer = None
        self.notices += 1
        self._screen.line(describe_notice(notice), QUIET)

    async def tell(self, scene: Scene, _user_id: int, notice: Notice) -> None:
        """Show a notice. Only one person is at a terminal."""
        await self.announce(scene, notice)

    def retell(self, turn: Turn) -> None:
        """Show a past turn again. Skip whispers, which stay private."""
        if turn.take is not None and turn.public:
            TurnPrinter(self._screen, turn.speaker).show(select_public(turn.take.beats), whole=True)
            self.reveal(
                freed for freed in release_to_gm(turn.take.beats) if freed.beat.kind in self.showing
            )

    def reveal(self, freed: Iterable[Revealed]) -> None:
        """Show released private beats."""
        for one in freed:
            self._screen.line(f"  {LABELS[one.beat.kind]} {one.beat.text}", PRIVATE)


class TurnPrinter:
    """Prints one growing turn: the name, then speech and `*actions*`."""

    def __init__(self, screen: Screen, speaker: str) -> None:
        self._screen = screen
        self._speaker = speaker
        self._shown: tuple[PublicBeat, ...] = ()

    def show(self, beats: tuple[PublicBeat, ...], *, whole: bool = False) -> None:
        """Print the additions to the beats printed before.

        If the earlier beats changed, print all beats again on a new line.
        """
        if self._shown and not _extends(self._shown, beats):
            self._screen.line("(starts over)", QUIET)
            self._shown = ()
        if beats and not self._shown:
            self._screen.end_line()
            self._screen.write(f"{self._speaker}: ", NAME)
        self._add(beats)
        self._shown = beats
        if whole and beats:
            self._screen.write(_end(beats[-1]), _style(beats[-1]))
            self._screen.end_line()

    def _add(self, beats: tuple[PublicBeat, ...]) -> None:
        for number, beat in enumerate(beats):
            before = self._shown[number] if number < len(self._shown) else None
            if before is None and number:
                self._screen.write(_end(beats[number - 1]), _style(beats[number - 1]))
                self._screen.write(" ")
            opening = "*" if before is None and beat.kind is BeatKind.ACTION else ""
            self._screen.write(
                opening + beat.text[len(before.text) if before else 0 :], _style(beat)
            )


def _extends(before: tuple[PublicBeat, ...], now: tuple[PublicBeat, ...]) -> bool:
    """Return whether `now` only adds to `before`: more beats, or more text in the last one."""
    if len(now) < len(before) or now[: len(before) - 1] != before[:-1]:
        return False
    last = now[len(before) - 1]
    return last.kind is before[-1].kind and last.text.startswith(before[-1].text)


def _end(beat: PublicBeat) -> str:
    return "*" if beat.kind is BeatKind.ACTION else ""


def _style(beat: PublicBeat) -> str:
    return ACTION if beat.kind is BeatKind.ACTION else ""
