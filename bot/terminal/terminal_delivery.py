"""The stage at a terminal: replies appear as they come, and what was thought beneath them for who wants to see it."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from bot.her.beats import BeatKind, select_public
from bot.scenes.reveal import release_to_gm
from bot.terminal.remedy_texts import describe_notice
from bot.terminal.screen import ACTION, FAULT, NAME, PRIVATE, QUIET

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

    from bot.her.beats import PublicBeat
    from bot.scenes.notices import Notice
    from bot.scenes.reveal import Revealed
    from bot.scenes.scene import Scene
    from bot.scenes.turn import Take, Turn
    from bot.terminal.screen import Screen

LABELS: Final = {BeatKind.THOUGHT: "💭", BeatKind.PLANNING: "📝"}


class TerminalDelivery:
    """Shows a scene on a screen: what `bot.scenes.interfaces.Delivery` requires.

    `showing` are the kinds of private beats that are shown beneath each reply: whoever sits here directs the scene.
    """

    def __init__(self, screen: Screen, showing: Iterable[BeatKind] = ()) -> None:
        self._screen = screen
        self._spoken: TurnPrinter | None = None
        self.showing = frozenset(showing)
        self.told = 0
        """How often something of Aside's own was said."""

    @asynccontextmanager
    async def thinking(self, _scene: Scene, turn: Turn) -> AsyncIterator[None]:
        """Show that a character thinks, until its first words come."""
        self._spoken = TurnPrinter(self._screen, turn.speaker)
        self._screen.notice(f"{turn.speaker} is thinking …")
        try:
            yield
        finally:
            self._screen.calm()

    async def progress(self, _scene: Scene, _turn: Turn, beats: tuple[PublicBeat, ...]) -> None:
        """Show what has settled of a reply."""
        if self._spoken is not None:
            self._spoken.show(beats)

    async def deliver(self, _scene: Scene, turn: Turn, take: Take) -> None:
        """Show the rest of a reply, and what is to be seen of its thoughts."""
        spoken, self._spoken = self._spoken or TurnPrinter(self._screen, turn.speaker), None
        spoken.show(select_public(take.beats), whole=True)
        self.reveal(freed for freed in release_to_gm(take.beats) if freed.beat.kind in self.showing)

    async def withdraw(self, _scene: Scene, turn: Turn) -> None:
        """Say that a reply will not be finished; what was shown of it can't be taken from a screen."""
        self._spoken = None
        self._screen.line(f"{turn.speaker} says no more: that reply does not count.", QUIET)

    async def cover(self, _scene: Scene, turn: Turn) -> None:
        """Say that a reply was taken out of the story."""
        self._screen.line(f"What {turn.speaker} said is out of the story.", QUIET)

    async def fail(self, _scene: Scene, _turn: Turn, sentence: str) -> None:
        """Say that a reply failed, and how to try again."""
        self._spoken = None
        self._screen.line(f"⚠ {sentence} (`retry` asks once more.)", FAULT)

    async def announce(self, _scene: Scene, notice: Notice) -> None:
        """Show a notice, with its remedy if the terminal has one."""
        self._spoken = None
        self.told += 1
        self._screen.line(describe_notice(notice), QUIET)

    def retell(self, turn: Turn) -> None:
        """Show a turn of the story again; what was whispered on Discord is nobody's business here."""
        if turn.take is not None and turn.public:
            TurnPrinter(self._screen, turn.speaker).show(select_public(turn.take.beats), whole=True)
            self.reveal(
                freed for freed in release_to_gm(turn.take.beats) if freed.beat.kind in self.showing
            )

    def reveal(self, freed: Iterable[Revealed]) -> None:
        """Show private beats that were freed for whoever directs the scene."""
        for one in freed:
            self._screen.line(f"  {LABELS[one.beat.kind]} {one.beat.text}", PRIVATE)


class TurnPrinter:
    """One turn on the screen, as it grows: the name, then speech and `*actions*`."""

    def __init__(self, screen: Screen, speaker: str) -> None:
        self._screen = screen
        self._speaker = speaker
        self._shown: tuple[PublicBeat, ...] = ()

    def show(self, beats: tuple[PublicBeat, ...], *, whole: bool = False) -> None:
        """Show what these beats add to those shown before; where they are others, all of them on a new line."""
        if self._shown and not _grown(self._shown, beats):
            self._screen.line("(begins anew)", QUIET)
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
            begun = "*" if before is None and beat.kind is BeatKind.ACTION else ""
            self._screen.write(begun + beat.text[len(before.text) if before else 0 :], _style(beat))


def _grown(before: tuple[PublicBeat, ...], now: tuple[PublicBeat, ...]) -> bool:
    """Whether `now` is `before` with more behind it: of beats shown once only the last one's text may grow."""
    if len(now) < len(before) or now[: len(before) - 1] != before[:-1]:
        return False
    last = now[len(before) - 1]
    return last.kind is before[-1].kind and last.text.startswith(before[-1].text)


def _end(beat: PublicBeat) -> str:
    return "*" if beat.kind is BeatKind.ACTION else ""


def _style(beat: PublicBeat) -> str:
    return ACTION if beat.kind is BeatKind.ACTION else ""
