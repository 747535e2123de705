"""Reading what is private: the planning at the beginning, and a thought, up to where each really ends."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bot.her.beats import BeatKind
from bot.her.label_filter import LabelFilter
from bot.her.speaker_names import LabelOwner
from bot.her.tags import PRIVATE, Family, Tag, Token, TurnEnd, Words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bot.her.beats import PrivateKind
    from bot.her.speaker_names import Speakers

_LONGEST_PREAMBLE = 200


@dataclass(frozen=True, slots=True)
class PrivateBlock:
    """What was private, and the tokens after it that have been seen already and are to be read anew."""

    kind: PrivateKind
    text: str
    replay: tuple[Token, ...] = ()
    closed: bool = True
    is_planning: bool = False
    """Whether this was the reply's planning, so that none is due any more."""
    clean: bool = False
    """Whether it was nothing but words and a closer of its own family."""
    cut: bool = False
    """Whether it may lack nothing but its closer, which there was no room for."""


class PlanningReader:
    """Reads planning (rules 1 to 4 of reading.py): open from the start, or `assumed` to have lost its opener."""

    def __init__(self, speakers: Speakers, *, assumed: bool) -> None:
        self._speakers = speakers
        self._assumed = assumed
        self._tokens: list[Token] = []
        self._length = 0
        self._depth = 1
        self._quote: Tag | None = None  # a closer after a backtick, perhaps quoted
        self._doubted: list[Token] | None = (
            None  # what follows a closer after which another may come
        )

    def take(self, token: Token) -> PrivateBlock | None:
        """Read one token; return the planning once it is known to have ended."""
        if self._quote is not None:
            return self._after_quote(self._quote, token)
        if isinstance(token, TurnEnd):
            return self._end(token)
        if isinstance(token, Tag) and token.may_be(Family.PLANNING) and not self._is_quoted(token):
            return self._close(token) if token.closing else self._open(token)
        self._keep(token)
        return None

    def _keep(self, *tokens: Token) -> None:
        kept = self._tokens if self._doubted is None else self._doubted
        kept.extend(tokens)
        if self._length <= _LONGEST_PREAMBLE:
            self._length += sum(len(_raw(token)) for token in tokens)

    def _is_quoted(self, tag: Tag) -> bool:
        """Whether a backtick stands before the tag; a closer must have another one behind it."""
        if (
            self._doubted is not None
            or not self._tokens
            or not _raw(self._tokens[-1]).endswith("`")
        ):
            return False
        if tag.closing:
            self._quote = tag
        return True

    def _after_quote(self, tag: Tag, token: Token) -> PrivateBlock | None:
        self._quote = None
        if isinstance(token, Words) and token.text.startswith("`"):
            self._keep(token)
            return None
        self._tokens.pop()
        secret = self._close(tag)
        if secret is None:
            return self.take(token)
        return replace(secret, replay=(*secret.replay, token))

    def _open(self, tag: Tag) -> PrivateBlock | None:
        if self._doubted is not None:
            return self._ended(self._doubted, tag)
        if self._says_nothing():
            self._tokens.clear()
            self._assumed = False
        elif self._assumed:
            return self._late(tag)
        else:
            self._keep(tag)
            self._depth += 1
        return None

    def _close(self, tag: Tag) -> PrivateBlock | None:
        if self._doubted is not None:
            self._tokens += self._doubted
        self._doubted = []
        self._depth = 0 if self._assumed else self._depth - 1
        if self._depth == 0:
            return self._planned(self._tokens)
        self._doubted.append(tag)
        return None

    def _ended(self, doubted: list[Token], token: Token) -> PrivateBlock:
        """The planning ended with the last closer: what came after it is read anew."""
        return self._planned(self._tokens, (*doubted[1:], token))

    def _late(self, tag: Tag) -> PrivateBlock:
        if all(isinstance(token, Words) for token in self._tokens):
            return PrivateBlock(BeatKind.PLANNING, _text(self._tokens), (tag,))
        return PrivateBlock(BeatKind.PLANNING, "", (*self._tokens, tag))

    def _end(self, end: TurnEnd) -> PrivateBlock:
        if self._doubted is not None:
            return self._ended(self._doubted, end)
        if self._assumed:
            return PrivateBlock(BeatKind.PLANNING, "", (*self._tokens, end))
        wrong = self._wrong_closer()
        if wrong is not None:
            return self._planned(self._tokens[:wrong], (*self._tokens[wrong + 1 :], end))
        return self._planned(self._tokens, (end,), closed=False)

    @staticmethod
    def _planned(
        tokens: Iterable[Token], replay: tuple[Token, ...] = (), *, closed: bool = True
    ) -> PrivateBlock:
        return PrivateBlock(BeatKind.PLANNING, _text(tokens), replay, closed, is_planning=True)

    def _says_nothing(self) -> bool:
        return self._length <= _LONGEST_PREAMBLE and _is_label(self._speakers, _text(self._tokens))

    def _wrong_closer(self) -> int | None:
        """Where a closer of another family, opened by nothing, is followed at once by the name or an opening tag."""
        opened = dict.fromkeys(Family, 0)
        for index, token in enumerate(self._tokens):
            if not isinstance(token, Tag):
                continue
            for family in token.families:
                opened[family] += -1 if token.closing else 1
            if min(opened.values()) < 0:
                if self._begins_role(self._tokens[index + 1 :]):
                    return index
                opened = {family: max(count, 0) for family, count in opened.items()}
        return None

    def _begins_role(self, tokens: list[Token]) -> bool:
        words = ""
        for token in tokens:
            if isinstance(token, Words) and len(words) <= _LONGEST_PREAMBLE:
                words += token.text
            elif not words.strip():
                return isinstance(token, Tag) and not token.closing
            else:
                break
        return self._speakers.label(words, final=True).voice is LabelOwner.OWN


class ThoughtReader:
    """Reads a thought (rules 8 to 10 of reading.py) from behind its `opener`."""

    def __init__(self, opener: Tag) -> None:
        self._opener = opener
        self._tokens: list[Token] = []
        self._doubted: list[Token] = []  # what stands after an opener inside the thought
        self._depth = 1
        self._may_nest = True
        self._opened_behind = False  # whether another private tag was opened behind a public one, and none closed since

    def take(self, token: Token) -> PrivateBlock | None:
        """Read one token; return the thought once it is known to have ended."""
        if isinstance(token, TurnEnd) and (token.cut or self._opened_behind):
            words = _words([*self._tokens, *self._doubted])
            return PrivateBlock(BeatKind.THOUGHT, words, (token,), closed=False, cut=token.cut)
        if isinstance(token, TurnEnd) or (
            isinstance(token, Tag) and token.system and not token.closing
        ):
            return self._left_open(token)
        if self._doubted:
            return self._doubt(token)
        if isinstance(token, Words):
            self._tokens.append(token)
        elif token.closing:
            return PrivateBlock(
                BeatKind.THOUGHT, _words(self._tokens), clean=token.may_be(*self._opener.families)
            )
        else:
            return self._doubt(token)
        return None

    def _doubt(self, token: Words | Tag) -> PrivateBlock | None:
        if isinstance(token, Tag) and token.may_be(*PRIVATE):
            if token.closing:
                self._depth -= 1
                self._opened_behind = False
            elif self._may_nest:
                self._may_nest, self._depth = False, 2
                self._opened_behind = bool(self._doubted)
            else:
                return self._left_open(token)
        self._doubted.append(token)
        return (
            None
            if self._depth
            else PrivateBlock(BeatKind.THOUGHT, _words([*self._tokens, *self._doubted]))
        )

    def _left_open(self, token: Token) -> PrivateBlock:
        return PrivateBlock(
            BeatKind.THOUGHT, _words(self._tokens), (*self._doubted, token), closed=False
        )


def _is_label(speakers: Speakers, text: str) -> bool:
    """Whether `text` is nothing but white space and the character's own name with its colon."""
    lines = LabelFilter(speakers)
    return not (lines.feed(text) + lines.close()).strip() and not lines.stopped


def _raw(token: Token) -> str:
    return token.text if isinstance(token, Words) else token.raw


def _text(tokens: Iterable[Token]) -> str:
    return "".join(map(_raw, tokens))


def _words(tokens: Iterable[Token]) -> str:
    return "".join(token.text for token in tokens if isinstance(token, Words))
