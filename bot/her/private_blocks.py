"""Read private blocks, planning and thoughts, up to their real ends."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bot.her.beats import BeatKind
from bot.her.label_filter import LabelFilter
from bot.her.speaker_names import LabelOwner
from bot.her.tags import PRIVATE, Family, Noise, Tag, Token, TurnEnd, Words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bot.her.beats import PrivateKind
    from bot.her.speaker_names import Speakers

_LONGEST_PREAMBLE = 200
_BARRED = ("<|", "<｜")


@dataclass(frozen=True, slots=True)
class PrivateBlock:
    """A private block. The `remaining` tokens were read ahead and must be parsed again."""

    kind: PrivateKind
    text: str
    remaining: tuple[Token, ...] = ()
    closed: bool = True
    is_planning: bool = False
    """True if this was the reply's planning, so that no more planning is expected."""
    well_formed: bool = False
    """True if the block held only words and ended with a closer of its own family."""
    truncated: bool = False
    """True if the reply hit its length limit, so that only the closer may be missing."""


class PlanningReader:
    """Reads planning (rules 1 to 4 of `token_parser`).

    The planning is open from the start, or `assumed` to have lost its opener.
    """

    def __init__(self, speakers: Speakers, opener: Tag | None = None, *, assumed: bool) -> None:
        self._speakers = speakers
        self._opener = opener
        self._assumed = assumed
        self._tokens: list[Token] = []
        self._length = 0
        self._depth = 1
        self._quote: Tag | None = None  # a closer after a backtick, which may be quoted
        self._doubted: list[Token] | None = None  # tokens after a closer that may not be the last

    def feed(self, token: Token) -> PrivateBlock | None:
        """Take a token and return the planning once its end is certain."""
        if self._quote is not None:
            return self._after_quote(self._quote, token)
        if self._doubted is None and _ends_message(self._opener, token):
            return self._make_planning(self._tokens)
        if isinstance(token, TurnEnd):
            return None if token.is_header and self._is_blank() else self._end(token)
        if isinstance(token, Tag) and token.is_channel:
            return self._open_channel(token)
        if isinstance(token, Tag) and self._assumed and token.closing and token.is_ambiguous:
            self._store(token)
            return None
        if isinstance(token, Tag) and token.may_be(Family.PLANNING) and not self._is_quoted(token):
            return self._close(token) if token.closing else self._open(token)
        self._store(token)
        return None

    def _store(self, *tokens: Token) -> None:
        kept = self._tokens if self._doubted is None else self._doubted
        kept.extend(tokens)
        if self._length <= _LONGEST_PREAMBLE:
            self._length += sum(len(_raw(token)) for token in tokens)

    def _is_quoted(self, tag: Tag) -> bool:
        """Whether a backtick precedes the tag. A closer must also have one after it."""
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
            self._store(token)
            return None
        self._tokens.pop()
        block = self._close(tag)
        if block is None:
            return self.feed(token)
        return replace(block, remaining=(*block.remaining, token))

    def _open(self, tag: Tag) -> PrivateBlock | None:
        if self._doubted is not None:
            return self._end_before(self._doubted, tag)
        if self._is_empty():
            self._tokens.clear()
            self._assumed = False
            self._opener = self._opener or tag
        elif self._assumed:
            return self._open_late(tag)
        else:
            self._store(tag)
            self._depth += 1
        return None

    def _close(self, tag: Tag) -> PrivateBlock | None:
        if self._doubted is not None:
            self._tokens += self._doubted
        self._doubted = []
        self._depth = 0 if self._assumed else self._depth - 1
        if self._depth == 0:
            return self._make_planning(self._tokens)
        self._doubted.append(tag)
        return None

    def _end_before(self, doubted: list[Token], token: Token) -> PrivateBlock:
        """End the planning at the last closer. The tokens after it are parsed again."""
        return self._make_planning(self._tokens, (*doubted[1:], token))

    def _is_blank(self) -> bool:
        return self._assumed and self._is_empty()

    def _open_channel(self, tag: Tag) -> PrivateBlock | None:
        """Give way to a channel, unless the planning has begun."""
        if self._assumed:
            return self._open_late(tag)
        if self._is_empty() and self._doubted is None:
            return self._make_planning((), (tag,))
        self._store(tag)
        return None

    def _open_late(self, tag: Tag) -> PrivateBlock:
        if all(isinstance(token, Words | Noise) for token in self._tokens):
            return PrivateBlock(BeatKind.PLANNING, _text(self._tokens), (tag,))
        return PrivateBlock(BeatKind.PLANNING, "", (*self._tokens, tag))

    def _end(self, end: TurnEnd) -> PrivateBlock:
        if self._doubted is not None:
            return self._end_before(self._doubted, end)
        if self._assumed:
            return PrivateBlock(BeatKind.PLANNING, "", (*self._tokens, end))
        wrong = self._wrong_closer()
        if wrong is not None:
            return self._make_planning(self._tokens[:wrong], (*self._tokens[wrong + 1 :], end))
        return self._make_planning(self._tokens, (end,), closed=False)

    @staticmethod
    def _make_planning(
        tokens: Iterable[Token], remaining: tuple[Token, ...] = (), *, closed: bool = True
    ) -> PrivateBlock:
        return PrivateBlock(BeatKind.PLANNING, _text(tokens), remaining, closed, is_planning=True)

    def _is_empty(self) -> bool:
        return self._length <= _LONGEST_PREAMBLE and _is_label(self._speakers, _text(self._tokens))

    def _wrong_closer(self) -> int | None:
        """Return the index of a closer of another family that ended the planning (rule 4), if any.

        It has no opener and is followed directly by the character's name or an opening tag.
        """
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
        return self._speakers.read_label(words, final=True).owner is LabelOwner.OWN


class ThoughtReader:
    """Reads a thought (rules 8 to 10 of `token_parser`) that follows its `opener`."""

    def __init__(self, opener: Tag) -> None:
        self._opener = opener
        self._tokens: list[Token] = []
        self._doubted: list[Token] = []  # tokens from an opener inside the thought on
        self._depth = 1
        self._may_nest = True
        # True while a private tag, opened after a public one, is unclosed.
        self._opened_after_public = False

    def feed(self, token: Token) -> PrivateBlock | None:
        """Take a token and return the thought once its end is certain."""
        if _ends_message(self._opener, token):
            return PrivateBlock(BeatKind.THOUGHT, _words([*self._tokens, *self._doubted]))
        if isinstance(token, Noise):
            return None
        if isinstance(token, Tag) and token.may_be(Family.HIDDEN):
            token = Words(token.raw)
        if isinstance(token, TurnEnd) and (token.truncated or self._opened_after_public):
            words = _words([*self._tokens, *self._doubted])
            return PrivateBlock(
                BeatKind.THOUGHT, words, (token,), closed=False, truncated=token.truncated
            )
        if isinstance(token, TurnEnd) or (
            isinstance(token, Tag) and token.system and not token.closing
        ):
            return self._leave_open(token)
        if self._doubted:
            return self._doubt(token)
        if isinstance(token, Words):
            self._tokens.append(token)
        elif token.closing:
            return PrivateBlock(
                BeatKind.THOUGHT,
                _words(self._tokens),
                well_formed=token.may_be(*self._opener.families),
            )
        else:
            return self._doubt(token)
        return None

    def _doubt(self, token: Words | Tag) -> PrivateBlock | None:
        if isinstance(token, Tag) and token.may_be(*PRIVATE):
            if token.closing:
                self._depth -= 1
                self._opened_after_public = False
            elif self._may_nest:
                self._may_nest, self._depth = False, 2
                self._opened_after_public = bool(self._doubted)
            else:
                return self._leave_open(token)
        self._doubted.append(token)
        return (
            None
            if self._depth
            else PrivateBlock(BeatKind.THOUGHT, _words([*self._tokens, *self._doubted]))
        )

    def _leave_open(self, token: Token) -> PrivateBlock:
        return PrivateBlock(
            BeatKind.THOUGHT, _words(self._tokens), (*self._doubted, token), closed=False
        )


class HiddenReader:
    """Reads machine text, such as a tool call or a channel, that follows its `opener`."""

    def __init__(self, opener: Tag) -> None:
        self._opener = opener
        self._tokens: list[Token] = [opener]

    def feed(self, token: Token) -> PrivateBlock | None:
        """Take a token and return the block once its end is certain."""
        if isinstance(token, TurnEnd):
            if self._opener.is_channel and token.closes_channel:
                return self._make_block()
            return self._make_block(token, closed=bool(token.raw))
        if self._opener.is_channel and isinstance(token, Tag | Noise) and token.is_channel:
            return self._make_block(token)
        self._tokens.append(token)
        is_closer = isinstance(token, Tag) and token.closing and token.may_be(Family.HIDDEN)
        return self._make_block() if is_closer and not self._opener.is_channel else None

    def _make_block(self, *remaining: Token, closed: bool = True) -> PrivateBlock:
        return PrivateBlock(BeatKind.PLANNING, _text(self._tokens), remaining, closed)


def _ends_message(opener: Tag | None, token: Token) -> bool:
    """Whether a control token ends the block that another control token opened.

    The answer begins, or the message ends.
    """
    if opener is None or not opener.raw.startswith(_BARRED):
        return False
    if isinstance(token, Noise):
        return token.begins_answer or token.is_channel
    return isinstance(token, TurnEnd) and token.closes_channel


def _is_label(speakers: Speakers, text: str) -> bool:
    """Whether `text` holds only white space and the character's own label."""
    lines = LabelFilter(speakers)
    passed = "".join(text for text, _ in (*lines.feed(text), *lines.close()))
    return not passed.strip() and not lines.stopped


def _raw(token: Token) -> str:
    return token.text if isinstance(token, Words) else token.raw


def _text(tokens: Iterable[Token]) -> str:
    return "".join(map(_raw, tokens))


def _words(tokens: Iterable[Token]) -> str:
    return "".join(token.text for token in tokens if isinstance(token, Words))
