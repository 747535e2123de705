"""A reply as a model writes it, read into beats while it streams. The rules stand in reading.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.her.beats import BeatKind, select_public
from bot.her.repetition import RepetitionDetector
from bot.her.speaker_names import Speakers
from bot.her.tag_scanner import TagScanner
from bot.her.tags import TurnEnd
from bot.her.token_parser import TokenParser

if TYPE_CHECKING:
    from bot.her.beats import Beat, PublicBeat
    from bot.her.tags import Token


@dataclass(frozen=True, slots=True)
class ParsedReply:
    """One reply in beats."""

    beats: tuple[Beat, ...]
    closed: bool
    """False where planning or a thought was opened and never closed."""
    stopped: bool = False
    """True where the model went on after its turn, or in a loop, and the rest was dropped."""

    @property
    def public(self) -> tuple[PublicBeat, ...]:
        """What everyone in the scene hears and sees."""
        return select_public(self.beats)

    @property
    def has_speech(self) -> bool:
        """Whether anything is said aloud."""
        return any(beat.kind is BeatKind.SPEECH for beat in self.beats)


class ReplyParser:
    """Reads the reply of `character` as it streams. The same beats come out however the stream is cut.

    `others` are the names of everyone else who may be tempted to speak in it: the cast's and the players'. `aliases`
    are the character's further names. `prefilled`: `<system_thinking>` stands at the end of the prompt and so not in
    the stream. `well_formed`: a grammar guarantees the structure, so that public text is certain word by word; without
    it text is certain only when the next tag opens or the reply ends.
    """

    def __init__(
        self,
        character: str,
        others: tuple[str, ...] = (),
        *,
        prefilled: bool,
        well_formed: bool = False,
        aliases: tuple[str, ...] = (),
    ) -> None:
        speakers = Speakers(character, others, aliases)
        self._reading = TokenParser(speakers, prefilled=prefilled, well_formed=well_formed)
        self._scanner = TagScanner()
        self._loops = RepetitionDetector()

    @property
    def beats(self) -> tuple[Beat, ...]:
        """What is settled: it only ever grows, in its last beat's text or by further beats."""
        return self._reading.script.beats

    @property
    def stopped(self) -> bool:
        """True when nothing more will count, so that the generation can be cancelled."""
        return self._reading.stopped

    def feed(self, text: str) -> None:
        """Take a piece of the stream. Once `stopped`, or after `close`, it is ignored."""
        if self._reading.over:
            return
        cut = self._loops.feed(text)
        self._read(self._scanner.feed(text[:cut]))
        if cut is not None and not self._reading.over:
            self._reading.looped = self._reading.stopped = True
            self._finish()

    def close(self, *, cut: bool = False) -> ParsedReply:
        """Take the end of the stream and return the whole reply. `cut`: the model had no room to write on."""
        self._finish(cut=cut)
        return ParsedReply(self.beats, closed=self._reading.closed, stopped=self._reading.stopped)

    def _finish(self, *, cut: bool = False) -> None:
        if not self._reading.over:
            self._read([*self._scanner.close(), TurnEnd("", cut=cut)])

    def _read(self, tokens: list[Token]) -> None:
        for token in tokens:
            self._reading.take(token)
            if self._reading.over:
                return


def parse_reply(
    text: str,
    character: str,
    others: tuple[str, ...] = (),
    *,
    prefilled: bool = False,
    well_formed: bool = False,
    aliases: tuple[str, ...] = (),
) -> ParsedReply:
    """Read a whole reply; see ReplyParser."""
    parser = ReplyParser(
        character, others, prefilled=prefilled, well_formed=well_formed, aliases=aliases
    )
    parser.feed(text)
    return parser.close()
