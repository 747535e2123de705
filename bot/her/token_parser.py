"""Turn the tokens of one reply into beats: planning, thoughts, actions and speech.

The rules apply in this order. Text is public only if it is clearly public, and clearly public text
is never lost.

Planning
 1. Planning comes first. If it is prefilled, it is open from the start. Otherwise the reply opens
    it, after the character's name at most. Everything up to its closer is planning, including tags
    of other families. A repeated first opener changes nothing. If planning is never closed, all of
    it is private, unless rule 4 applies.
 2. A tag in backticks is a quotation and does not count. A planning opener within the planning may
    be a quotation too. If closers for it and for the first opener follow before yet another opener,
    the planning ends at the last of them.
 3. A reply that does not begin with planning may have lost the opener. A planning closer then makes
    all text before it planning, so nothing is public until such a closer or the end of the reply.
    Plain text before a late opener is private.
 4. Unclosed planning may have ended with a closer of another family. That is so if this closer has
    no opener and is followed directly by the character's name or an opening tag.
 5. A second `<system_thinking>` after public text begins a second round: the reply ends before it.
    Before any public text it is planning again. `<think>` after the planning is a thought.

Segments (text outside tags)
 6. A segment before an opener or the end of the reply is public. A segment before a closer without
    an opener is private, back to the previous tag, even if that closes an action: it is unknown
    which opener is missing. Such a closer may have been swapped with an opener of its family that
    follows. The segment between the two is public only under two conditions. Both tags are placed
    as in a well-formed reply: the closer directly after a word, the opener after white space. Every
    thought up to a public tag or the end is well-formed. The segments between these thoughts wait
    for the same decision. A thought or an action may also have lost its closer, so that the closer
    of the next thought ended it. The segment between a closed thought (or an action that a
    thought's closer ended) and the next thought is public if the tags are placed as in a
    well-formed reply, or if that next thought is closed and not empty.
 7. A segment that spells out `role_thinking` or `system_thinking` without brackets is private.
    Another speaker's `Name:` at the start of a line or segment ends the reply. The character's own
    name is removed there (see `speaker_names`). `*…*` is an action (see `inline_actions`).

Thoughts
 8. Any closer closes a thought. If a closer of the thought's own family follows, rule 6 applies to
    it.
 9. An opener within a thought is nested if closers for both follow, with at most one more private
    opener between them: all of it is private. Otherwise the thought was unclosed and ended at the
    opener, and the following tokens are parsed as usual. At the end of the reply all of it is
    private in two cases: an opener after a public one is unclosed too, or the reply hit its length
    limit.
10. A thought that is unclosed at the end is private up to the end.

Actions and speech in tags
11. They are public if a public closer ends them, and private if a private one does: either the
    opener or the closer is wrong.
12. An unclosed action ends with its first line, unclosed speech at the next tag. All of it is
    public.
13. They continue after a nested block: the segment up to their own closer is public.

Other formats
14. Tool calls and channels other than the final one are private up to their own end (see
    `control_tokens`). Wrappers (`<answer>`) and comments are left out.
15. Text that says it is thinking is private: a line `Thought: …` or `### Thinking` (see
    `label_filter`), and a passage `[…]` or `(Thinking: …)` (see `inline_actions`). This also holds
    for text that is streamed because a grammar guarantees the structure. A reply that begins by
    talking about its task (“Okay, the user wants me to …”) is private up to its answer (see
    `preamble`).

A closer truncated at the end of the output (`</role_thin`) counts as that closer. If it could have
become several (`</`, `</role_`), it closes an open block. If no block is open, it is left out.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from bot.her.beat_builder import BeatBuilder
from bot.her.beats import BeatKind
from bot.her.pending_segments import PendingSegments, StrayCloser
from bot.her.private_blocks import HiddenReader, PlanningReader, ThoughtReader
from bot.her.tags import PRIVATE, PUBLIC, Family, Noise, Tag, TurnEnd, Words
from bot.her.text_segment import TextSegment

if TYPE_CHECKING:
    from bot.her.beats import PrivateKind, PublicKind
    from bot.her.speaker_names import Speakers
    from bot.her.tags import Token


class TokenParser:
    """Takes tokens and writes beats to `builder`."""

    def __init__(self, speakers: Speakers, *, prefilled: bool, well_formed: bool) -> None:
        self.builder = BeatBuilder()
        self.finished = False
        """True once all further tokens are ignored."""
        self.stopped = False
        """True if the reply ran on: another speaker, a second round or a control token."""
        self.closed = True
        """False if planning or a thought was opened and never closed."""
        self.looped = False
        """Set this before the end if the reply was cut for repeating itself."""
        self._speakers = speakers
        self._streaming = well_formed
        self._private_reader: PlanningReader | ThoughtReader | HiddenReader | None = PlanningReader(
            speakers, assumed=not prefilled
        )
        self._planning_seen = False
        self._said_words = False
        self._kind: PublicKind | None = None  # of the tag around the segment
        self._outer: PublicKind | None = None  # of a tag that continues after a nested block
        self._segment = self._new_segment()
        self._stray_closer = StrayCloser()
        self._preceding: PrivateKind | None = None  # of the block directly before
        self._follows_word = False  # whether the closer before the segment follows a word directly
        self._pending = PendingSegments(self.builder)
        self._queue: deque[Token] = deque()

    def feed(self, token: Token) -> None:
        """Take a token. `TurnEnd` ends the reply."""
        self._queue.append(token)
        while self._queue and not self.finished:
            if self._private_reader is not None:
                self._feed_private(self._private_reader, self._queue.popleft())
            else:
                self._feed_public(self._queue.popleft())

    def _feed_private(
        self, reader: PlanningReader | ThoughtReader | HiddenReader, token: Token
    ) -> None:
        block = reader.feed(token)
        if block is None:
            return
        self._private_reader = None
        self._pending.add_block(block)
        self._planning_seen |= block.is_planning
        self._stray_closer = StrayCloser(
            _PLANNING if block.is_planning and not block.text.strip() else frozenset()
        )
        self._preceding = block.kind
        self._follows_word = _follows_word(block.text)
        self.closed &= block.closed
        self._queue.extendleft(reversed(block.remaining))
        self._segment = self._new_segment()

    def _feed_public(self, token: Token) -> None:
        if isinstance(token, Noise):
            return
        if isinstance(token, Words):
            self._said_words |= bool(token.text.strip())
            self._segment.feed(token.text)
            if self._segment.stopped:
                self._end(stopped=True)
        elif isinstance(token, TurnEnd):
            if not token.is_header or self._said_words:
                self._end(stopped=bool(token.raw))
        elif token.closing and not token.is_ambiguous:
            self._close(token)
        elif token.closing:
            pass  # the stream ends here, and the text before it was clearly public
        else:
            self._open(token)

    def _end(self, *, stopped: bool) -> None:
        self._pending.resolve(public=True)
        self._segment.publish(closed=False, looped=self.looped)
        self.finished = True
        self.stopped |= stopped

    def _open(self, tag: Tag) -> None:
        self._end_segment(tag)
        if self._kind is not None or not self._segment.is_blank:
            self._outer = self._kind
        self._kind = None
        self._begin_block(tag)
        self._segment = self._new_segment()

    def _end_segment(self, opener: Tag) -> None:
        """End the segment before an opener."""
        private = opener.may_be(*PRIVATE) and not self._streaming
        swapped = private and self._stray_closer.may_belong_to(opener)
        if swapped and opener.system:
            self._pending.resolve(public=False)
            self._segment.withhold(BeatKind.PLANNING)
        elif swapped and (self._stray_closer.lone or not self._is_well_placed()):
            self._pending.add_private(self._segment)
        elif swapped or (private and self._pending and not opener.system):
            self._pending.add(self._segment, strict=True)
        elif (
            private
            and not opener.system
            and self._preceding is BeatKind.THOUGHT
            and not self._is_well_placed()
        ):
            self._pending.add(self._segment, strict=False)
        else:
            self._pending.resolve(public=True)
            self._segment.publish(closed=False)

    def _is_well_placed(self) -> bool:
        """Whether the tags around the ended segment are placed as in a well-formed reply."""
        return self._follows_word and self._segment.text[-1:].isspace()

    def _begin_block(self, tag: Tag) -> None:
        self._stray_closer = StrayCloser()
        self._preceding = None
        planning_is_due = not (self._planning_seen or self.builder.has_public)
        if tag.system and self.builder.has_public:
            self.finished = self.stopped = True
        elif tag.system or (tag.may_be(Family.PLANNING) and planning_is_due):
            self._private_reader = PlanningReader(self._speakers, tag, assumed=False)
        elif tag.may_be(Family.HIDDEN):
            self._private_reader = HiddenReader(tag)
        elif tag.may_be(*PRIVATE):
            self._private_reader = ThoughtReader(tag)
        else:
            self._kind = BeatKind.ACTION if tag.may_be(Family.ACTION) else BeatKind.SPEECH

    def _close(self, tag: Tag) -> None:
        inner, outer = self._kind, self._outer
        self._pending.resolve(public=False)
        if inner is not None and (_closes(tag, inner) or tag.families <= PUBLIC):
            self._segment.publish()
            self._stray_closer = StrayCloser()
            self._preceding = None
        elif (
            inner is None and outer is not None and _closes(tag, outer) and not tag.may_be(*PRIVATE)
        ):
            self._segment.publish(outer)
            self._outer = None
            self._stray_closer = StrayCloser()
            self._preceding = None
        else:
            self._withhold(tag)
        self._kind = None
        self._segment = self._new_segment()

    def _withhold(self, tag: Tag) -> None:
        self._segment.withhold(_doubtful_kind(tag))
        repeats = (
            self._segment.is_blank
            and self._preceding is not None
            and tag.may_be(Family(self._preceding))
        )
        self._follows_word = self._follows_word if repeats else _follows_word(self._segment.text)
        if not tag.may_be(*PRIVATE):
            self._stray_closer = StrayCloser()
        elif self._kind is not None:
            self._stray_closer = StrayCloser()
            self._preceding = BeatKind.THOUGHT
            return
        elif not repeats or self._preceding is BeatKind.THOUGHT:
            self._stray_closer = StrayCloser(
                tag.families & PRIVATE, lone=self._segment.is_blank and not repeats
            )
        self._preceding = self._preceding if repeats else None

    def _new_segment(self) -> TextSegment:
        return TextSegment(
            self._kind or BeatKind.SPEECH, self._speakers, self.builder, streaming=self._streaming
        )


_PLANNING = frozenset({Family.PLANNING})


def _closes(tag: Tag, kind: PublicKind) -> bool:
    return tag.may_be(Family.ACTION if kind is BeatKind.ACTION else Family.SPEECH)


def _follows_word(text: str) -> bool:
    """Whether a tag after `text` would directly follow a word."""
    return bool(text[-1:].strip())


def _doubtful_kind(tag: Tag) -> PrivateKind:
    """Return the kind of text in doubt before a stray closer.

    It is planning if the closer may belong to planning, since planning enters no prompt.
    """
    return BeatKind.PLANNING if tag.may_be(Family.PLANNING) else BeatKind.THOUGHT
