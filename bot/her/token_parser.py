"""The reading of one reply's tokens: what is planning, thought, action, speech, and what is in doubt.

The rules, in the order in which they apply. *Public only if clearly public; what is clearly public is never lost.*

Planning
 1. It comes first. Prefilled, it is open from the start; otherwise the reply may open it, after the character's name
    at most. Everything up to its closer is planning, tags of other families too. An opener that repeats the first one
    changes nothing. Never closed, all of it is private, but see 4.
 2. A tag in backticks is quoted and does not count. Another planning opener in the middle may be quoted too: if closers
    follow for it and for the first one before yet another opener, the planning ends with the last of them.
 3. A reply that did not begin with planning may have lost its opener: a planning closer makes everything before it
    planning, so nothing is public until one comes or the reply ends. Plain text before a late opener is private.
 4. Planning that was never closed, but holds a closer of another family without opener, followed at once by the
    character's own name or an opening tag, was closed by the wrong name there.
 5. A second `<system_thinking>` after something public is a second round: the reply ends before it. Before anything
    public it is planning again. `<think>` after the planning is a thought.

Runs (text outside tags)
 6. A run followed by an opener or by the reply's end is public. A run followed by a closer that has no opener is
    private back to the last tag, be it an action's closer: what was opened wrongly can't be known.
    Such a closer and an opener of its family after it may have changed places. The run between the two is public only
    if the two stand where they would in a well-formed reply (a word directly before the closer, white space before the
    opener), and if every thought until a public tag or the end is well-formed. What stands between the first of
    those thoughts and the next ones waits for them too.
    The same may be so where a thought or an action lost its own closer and the next thought's was taken for it. The
    run from a closed thought, or from an action that a thought's closer ended, to the next thought is public if the
    tags stand where they would, or else if that thought says something and is closed.
 7. A run that spells `role_thinking` or `system_thinking` out without brackets is private. In public text another's
    `Name:` at the beginning of a line or run ends the reply there; the character's own is taken off (see names.py).
    `*…*` is an action (see inline.py).

Thoughts
 8. Any closer closes a thought. A closer of its own family that comes after the wrong one falls under 6.
 9. An opener inside a thought is nested if the thought's closer still comes (a closer for each opener, at most one more
    private opener between): all of it is private. Otherwise the thought was left unclosed and ended where the opener
    stands, and what follows is read as if nothing were open; but at the end of the reply all of it is private if an
    opener behind something public was left open too, or if the reply was cut off there for want of room.
10. A thought unclosed at the end is private to the end.

Actions and speech in tags
11. Closed by a public closer they are public, by a private one private: opener or closer is wrong.
12. Left unclosed, an action ends with its first line, speech with the next tag; all of it is public.
13. After a block nested in them they go on: the run up to their own closer is public.

A closer cut short at the end of the output (`</role_`) is any of those it could have become, the most private first.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from bot.her.beat_builder import BeatBuilder
from bot.her.beats import BeatKind
from bot.her.pending_segments import PendingSegments, StrayCloser
from bot.her.private_blocks import PlanningReader, ThoughtReader
from bot.her.tags import PRIVATE, PUBLIC, Family, Tag, TurnEnd, Words
from bot.her.text_segment import TextSegment

if TYPE_CHECKING:
    from bot.her.beats import PrivateKind, PublicKind
    from bot.her.speaker_names import Speakers
    from bot.her.tags import Token


class TokenParser:
    """Takes tokens and writes beats to `script`."""

    def __init__(self, speakers: Speakers, *, prefilled: bool, well_formed: bool) -> None:
        self.script = BeatBuilder()
        self.over = False
        """Whether nothing that follows counts."""
        self.stopped = False
        """Whether the reply went on after its end: for somebody else, into a second round, or past a control token."""
        self.closed = True
        """Whether everything private that was opened was closed."""
        self.looped = False
        """To be set before the end where the reply was cut for repeating itself."""
        self._speakers = speakers
        self._streaming = well_formed
        self._secret: PlanningReader | ThoughtReader | None = PlanningReader(
            speakers, assumed=not prefilled
        )
        self._planned = False
        self._kind: PublicKind | None = None  # of the tag that the run stands in
        self._outer: PublicKind | None = (
            None  # of the tag inside which another one stood before the run
        )
        self._run = self._new_run()
        self._stray = StrayCloser()
        self._after: PrivateKind | None = None  # what ended where the run begins
        self._clings = (
            False  # whether words stand directly before the closer behind which the run begins
        )
        self._suspense = PendingSegments(self.script)
        self._queue: deque[Token] = deque()

    def take(self, token: Token) -> None:
        """Read one token; `TurnEnd` ends the reply."""
        self._queue.append(token)
        while self._queue and not self.over:
            if self._secret is not None:
                self._take_secret(self._secret, self._queue.popleft())
            else:
                self._take_open(self._queue.popleft())

    def _take_secret(self, reader: PlanningReader | ThoughtReader, token: Token) -> None:
        secret = reader.take(token)
        if secret is None:
            return
        self._secret = None
        self._suspense.hear(secret)
        self._planned |= secret.is_planning
        self._stray = StrayCloser(
            _PLANNING if secret.is_planning and not secret.text.strip() else frozenset()
        )
        self._after = secret.kind
        self._clings = _clings(secret.text)
        self.closed &= secret.closed
        self._queue.extendleft(reversed(secret.replay))
        self._run = self._new_run()

    def _take_open(self, token: Token) -> None:
        if isinstance(token, Words):
            self._run.hear(token.text)
            if self._run.stopped:
                self._end(stopped=True)
        elif isinstance(token, TurnEnd):
            self._end(stopped=bool(token.raw))
        elif token.closing:
            self._close(token)
        else:
            self._open(token)

    def _end(self, *, stopped: bool) -> None:
        self._suspense.resolve(public=True)
        self._run.publish(closed=False, looped=self.looped)
        self.over = True
        self.stopped |= stopped

    def _open(self, tag: Tag) -> None:
        self._end_run(tag)
        if self._kind is not None or not self._run.is_blank:
            self._outer = self._kind
        self._kind = None
        self._begin(tag)
        self._run = self._new_run()

    def _end_run(self, opener: Tag) -> None:
        """End the run that an opener follows."""
        private = opener.may_be(*PRIVATE) and not self._streaming
        swapped = private and self._stray.may_belong_to(opener)
        if swapped and opener.system:
            self._suspense.resolve(public=False)
            self._run.withhold(BeatKind.PLANNING)
        elif swapped and (self._stray.lone or not self._in_place()):
            self._suspense.keep_private(self._run)
        elif swapped or (private and self._suspense and not opener.system):
            self._suspense.keep(self._run, strict=True)
        elif (
            private
            and not opener.system
            and self._after is BeatKind.THOUGHT
            and not self._in_place()
        ):
            self._suspense.keep(self._run, strict=False)
        else:
            self._suspense.resolve(public=True)
            self._run.publish(closed=False)

    def _in_place(self) -> bool:
        """Whether the tags round the run that has ended stand where they would in a well-formed reply."""
        return self._clings and self._run.heard[-1:].isspace()

    def _begin(self, tag: Tag) -> None:
        self._stray, self._after = StrayCloser(), None
        planning_is_due = not (self._planned or self.script.is_public)
        if tag.system and self.script.is_public:
            self.over = self.stopped = True
        elif tag.system or (tag.may_be(Family.PLANNING) and planning_is_due):
            self._secret = PlanningReader(self._speakers, assumed=False)
        elif tag.may_be(*PRIVATE):
            self._secret = ThoughtReader(tag)
        else:
            self._kind = BeatKind.ACTION if tag.may_be(Family.ACTION) else BeatKind.SPEECH

    def _close(self, tag: Tag) -> None:
        inner, outer = self._kind, self._outer
        self._suspense.resolve(public=False)
        if inner is not None and (_closes(tag, inner) or tag.families <= PUBLIC):
            self._run.publish()
            self._stray, self._after = StrayCloser(), None
        elif (
            inner is None and outer is not None and _closes(tag, outer) and not tag.may_be(*PRIVATE)
        ):
            self._run.publish(outer)
            self._outer, self._stray, self._after = None, StrayCloser(), None
        else:
            self._withhold(tag)
        self._kind = None
        self._run = self._new_run()

    def _withhold(self, tag: Tag) -> None:
        self._run.withhold(_doubtful(tag))
        repeats = self._run.is_blank and self._after is not None and tag.may_be(Family(self._after))
        self._clings = self._clings if repeats else _clings(self._run.heard)
        if not tag.may_be(*PRIVATE):
            self._stray = StrayCloser()
        elif self._kind is not None:
            self._stray, self._after = StrayCloser(), BeatKind.THOUGHT
            return
        elif not repeats or self._after is BeatKind.THOUGHT:
            self._stray = StrayCloser(
                tag.families & PRIVATE, lone=self._run.is_blank and not repeats
            )
        self._after = self._after if repeats else None

    def _new_run(self) -> TextSegment:
        return TextSegment(
            self._kind or BeatKind.SPEECH, self._speakers, self.script, streaming=self._streaming
        )


_PLANNING = frozenset({Family.PLANNING})


def _closes(tag: Tag, kind: PublicKind) -> bool:
    return tag.may_be(Family.ACTION if kind is BeatKind.ACTION else Family.SPEECH)


def _clings(text: str) -> bool:
    """Whether a tag behind `text` stands directly behind a word."""
    return bool(text[-1:].strip())


def _doubtful(tag: Tag) -> PrivateKind:
    """What text in doubt is taken for: planning, which enters no prompt, where the stray tag may close that."""
    return BeatKind.PLANNING if tag.may_be(Family.PLANNING) else BeatKind.THOUGHT
