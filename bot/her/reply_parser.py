"""Parse a streamed reply into beats. The rules are in `token_parser`."""

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
    """A reply as beats."""

    beats: tuple[Beat, ...]
    closed: bool
    """False if planning or a thought was opened and never closed."""
    stopped: bool = False
    """True if the model wrote past the end of its turn or in a loop. The rest was dropped."""

    @property
    def public(self) -> tuple[PublicBeat, ...]:
        """The beats that everyone in the scene hears and sees."""
        return select_public(self.beats)

    @property
    def has_speech(self) -> bool:
        """True if the reply contains speech."""
        return any(beat.kind is BeatKind.SPEECH for beat in self.beats)


class ReplyParser:
    """Parses a streamed reply of `character`. The chunks of the stream do not affect the beats.

    `others` are the names of everyone else in the scene: the rest of the cast and the players.
    `aliases` are other names of the character.

    Pass `prefilled=True` if the prompt ends with `<system_thinking>`, since the stream then lacks
    it. Pass `well_formed=True` if a grammar guarantees the structure: public text is then final
    word by word. Without a grammar it is final once the next tag opens or the reply ends.
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
        self._parser = TokenParser(speakers, prefilled=prefilled, well_formed=well_formed)
        self._scanner = TagScanner()
        self._repetition = RepetitionDetector()

    @property
    def beats(self) -> tuple[Beat, ...]:
        """The final beats so far. Later calls add beats or extend the last one's text."""
        return self._parser.builder.beats

    @property
    def stopped(self) -> bool:
        """True once the rest of the stream is ignored, so that generation can be cancelled."""
        return self._parser.stopped

    def feed(self, text: str) -> None:
        """Take a piece of the stream. It is ignored if the parser has `stopped` or is closed."""
        if self._parser.finished:
            return
        truncated = self._repetition.feed(text)
        self._parse(self._scanner.feed(text[:truncated]))
        if truncated is not None and not self._parser.finished:
            self._parser.looped = self._parser.stopped = True
            self._finish()

    def close(self, *, truncated: bool = False) -> ParsedReply:
        """End the stream and return the reply. `truncated`: it hit the limit of its length."""
        self._finish(truncated=truncated)
        return ParsedReply(self.beats, closed=self._parser.closed, stopped=self._parser.stopped)

    def _finish(self, *, truncated: bool = False) -> None:
        if not self._parser.finished:
            self._parse([*self._scanner.close(), TurnEnd("", truncated=truncated)])

    def _parse(self, tokens: list[Token]) -> None:
        for token in tokens:
            self._parser.feed(token)
            if self._parser.finished:
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
    """Parse a whole reply. See `ReplyParser` for the parameters."""
    parser = ReplyParser(
        character, others, prefilled=prefilled, well_formed=well_formed, aliases=aliases
    )
    parser.feed(text)
    return parser.close()
