"""Measures any Engine through its own interface."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bot.bench.report import Figures, Written, median
from bot.engine.protocol import Request
from bot.her.grammar import build_her_grammar
from bot.her.prompt import Control, Prompt, Text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.engine.protocol import Engine, Finish

_SENTENCE = "Miss {name} walked round the lake for the {number}. time and spoke of the weather. "


@dataclass(frozen=True, slots=True)
class BenchOptions:
    """What is asked of an engine."""

    streams: int = 8
    tokens: int = 128  # of each reply: with fewer, what else the machine does weighs more than what is measured
    history: int = 2000  # tokens of each scene in the rotation, about
    rounds: int = 5


@dataclass(frozen=True, slots=True)
class _Timed:
    """A reply: when it was asked for, when each piece of it came, and how many characters that had."""

    finish: Finish
    began: float
    pieces: tuple[float, ...]
    lengths: tuple[int, ...]

    @property
    def first(self) -> float:
        return self.pieces[0] - self.began

    @property
    def whole(self) -> float:
        return self.pieces[-1] - self.began

    def tokens(self, start: float, end: float) -> float:
        """Tokens that came after `start`, until `end`: pieces are of one token, or of a few, told by their length."""
        timed = zip(self.pieces, self.lengths, strict=True)
        within = sum(length for piece, length in timed if start < piece <= end)
        return self.finish.reply_tokens * within / max(1, sum(self.lengths))


@dataclass
class Measuring:
    """One engine, started, going through the course round by round: `write` a few times, then `remember`."""

    engine: Engine
    course: BenchOptions
    name: str
    _written: list[Written] = field(default_factory=list)
    _answers: list[float] = field(default_factory=list)
    _reads: list[float] = field(default_factory=list)
    _firsts: list[float] = field(default_factory=list)
    _stored: list[float] = field(default_factory=list)
    _rotations: list[float] = field(default_factory=list)
    _returned: tuple[int, int] = (0, 0)

    async def write(self) -> None:
        """Have one stream written, and all at once, free and held to HER's form."""
        turn = len(self._written)
        one = _rate([await self._reply(f"one {turn}", _prompt("one", 20))])
        began = time.perf_counter()
        many = await self._all(f"many {turn}", 20)
        self._answers.append(
            sum(reply.finish.reply_tokens for reply in many) / (time.perf_counter() - began)
        )
        held = None
        if self.engine.info.supports_grammar:
            held = _rate(await self._all(f"held {turn}", 20, grammar=build_her_grammar("Miss")))
        self._written.append(Written(one=one, many=_rate(many), held=held))

    async def remember(self, turn: int) -> None:
        """Have long prompts read, and come back to them."""
        await self._long(turn)
        began = time.perf_counter()
        await self._all("scene", self.course.history, lines=turn, tokens=8)
        if turn or self.course.rounds == 1:  # in the first round there is nothing to come back to
            self._rotations.append(time.perf_counter() - began)
        self._returned = await self._return(turn)

    def figures(self) -> Figures:
        """Return the medians of all rounds."""
        return Figures(
            name=self.name,
            written=tuple(self._written),
            answer_many=median(self._answers),
            streams=self.course.streams,
            read=median(self._reads),
            first_word=median(self._firsts),
            return_new=self._returned[0],
            return_read=self._returned[1],
            return_stored=median(self._stored),
            rotation=median(self._rotations),
        )

    async def _long(self, turn: int) -> None:
        """Read a long prompt, and come back to it when other minds have taken its place."""
        mind = f"long {turn}"
        prompt = _prompt(mind, self.course.history)
        read = await self._reply(mind, prompt, tokens=1)
        self._reads.append(read.finish.prompt_tokens_read / read.whole)
        self._firsts.append(read.first)
        await self._all(f"other {turn}", 20, tokens=1)
        again = await self._reply(mind, prompt, tokens=1)
        self._stored.append(again.whole / read.whole)

    async def _return(self, turn: int) -> tuple[int, int]:
        """New tokens and tokens read when a mind comes back with one more line."""
        mind, size = f"known {turn}", self.course.history // 4
        before, after = _prompt(mind, size), _prompt(mind, size, lines=1)
        await self._reply(mind, before, tokens=1)
        again = await self._reply(mind, after, tokens=1)
        common = Prompt(
            tuple(
                one for one, other in zip(before.parts, after.parts, strict=False) if one == other
            )
        )
        return again.finish.prompt_tokens - await self.engine.count(
            common
        ), again.finish.prompt_tokens_read

    async def _all(
        self,
        name: str,
        size: int,
        lines: int = 0,
        tokens: int | None = None,
        grammar: str | None = None,
    ) -> list[_Timed]:
        """A reply of each stream's mind, all at once, to prompts of about `size` tokens and so many more lines."""
        minds = [f"{name} {number}" for number in range(self.course.streams)]
        return await asyncio.gather(
            *(self._reply(mind, _prompt(mind, size, lines), tokens, grammar) for mind in minds)
        )

    async def _reply(
        self, mind: str, prompt: Prompt, tokens: int | None = None, grammar: str | None = None
    ) -> _Timed:
        limit = tokens or self.course.tokens
        request = Request(
            prompt, mind, max_tokens=limit, planning_tokens=None, seed=1, grammar=grammar
        )
        began = time.perf_counter()
        pieces, lengths = [], []
        async for chunk in self.engine.generate(request):
            pieces.append(time.perf_counter())
            lengths.append(len(chunk.text))
            if chunk.finish:
                return _Timed(chunk.finish, began, tuple(pieces), tuple(lengths))
        raise AssertionError("an engine's last chunk carries its finish")


async def measure(engine: Engine, course: BenchOptions, name: str) -> Figures:
    """Return the figures of an engine that has been started."""
    measuring = Measuring(engine, course, name)
    for turn in range(course.rounds):
        await measuring.write()
        await measuring.remember(turn)
    return measuring.figures()


def _rate(replies: Sequence[_Timed]) -> float | None:
    """Tokens a second while all of them were being written; None where they never were at once."""
    start, end = (
        max(reply.pieces[0] for reply in replies),
        min(reply.pieces[-1] for reply in replies),
    )
    return (
        sum(reply.tokens(start, end) for reply in replies) / (end - start) if start < end else None
    )


def _prompt(name: str, tokens: int, lines: int = 0) -> Prompt:
    """A conversation of about so many tokens, and `lines` more turns at its end."""
    sentences = "".join(
        _SENTENCE.format(name=name, number=number) for number in range(max(1, tokens // 20))
    )
    parts: list[Control | Text] = [
        Control("<|im_start|>"),
        Text(f"user\n{sentences}"),
        Control("<|im_end|>"),
        Text("\n"),
    ]
    for line in range(lines):
        parts += [
            Control("<|im_start|>"),
            Text(f"user\nAnd the {line}. question?"),
            Control("<|im_end|>"),
            Text("\n"),
        ]
    return Prompt((*parts, Control("<|im_start|>"), Text("assistant\n")))
