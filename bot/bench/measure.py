"""Measurements of any Engine through its own interface."""

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
_TOKENS_PER_SENTENCE = 20  # about


@dataclass(frozen=True, slots=True)
class BenchOptions:
    """Size of the benchmark."""

    streams: int = 8
    tokens: int = 128  # of each reply; with fewer, other work on the machine distorts the result
    history: int = 2000  # approximate tokens of each scene in the rotation
    rounds: int = 5


@dataclass(frozen=True, slots=True)
class _TimedReply:
    """Times of a reply: of its request, and of each chunk with its length in characters."""

    finish: Finish
    requested_at: float
    chunk_times: tuple[float, ...]
    chunk_lengths: tuple[int, ...]

    @property
    def seconds_to_first_chunk(self) -> float:
        return self.chunk_times[0] - self.requested_at

    @property
    def seconds(self) -> float:
        return self.chunk_times[-1] - self.requested_at

    def count_tokens(self, start: float, end: float) -> float:
        """Return the tokens that arrived after `start` and until `end`.

        A chunk has one or more tokens. Their number is estimated from its length.
        """
        chunks = zip(self.chunk_times, self.chunk_lengths, strict=True)
        within = sum(length for time_, length in chunks if start < time_ <= end)
        return self.finish.reply_tokens * within / max(1, sum(self.chunk_lengths))


@dataclass
class EngineMeasurement:
    """Measures one started engine round by round.

    Call `measure_generation` a few times per round, then `measure_prefill`.
    """

    engine: Engine
    options: BenchOptions
    name: str
    _written: list[Written] = field(default_factory=list)
    _throughputs: list[float] = field(default_factory=list)
    _prefill_speeds: list[float] = field(default_factory=list)
    _first_chunk_times: list[float] = field(default_factory=list)
    _restore_ratios: list[float] = field(default_factory=list)
    _rotation_times: list[float] = field(default_factory=list)
    _returning_tokens: tuple[int, int] = (0, 0)

    async def measure_generation(self) -> None:
        """Generate with one stream, with all streams, and with all streams and HER's grammar."""
        turn = len(self._written)
        one = _compute_speed([await self._generate(f"one {turn}", _build_prompt("one", 20))])
        started = time.perf_counter()
        many = await self._generate_all(f"many {turn}", 20)
        tokens = sum(reply.finish.reply_tokens for reply in many)
        self._throughputs.append(tokens / (time.perf_counter() - started))
        held = None
        if self.engine.info.supports_grammar:
            replies = await self._generate_all(
                f"held {turn}", 20, grammar=build_her_grammar("Miss")
            )
            held = _compute_speed(replies)
        self._written.append(Written(one=one, many=_compute_speed(many), held=held))

    async def measure_prefill(self, round_: int) -> None:
        """Prefill long prompts and continue them later."""
        await self._measure_restore(round_)
        started = time.perf_counter()
        await self._generate_all("scene", self.options.history, lines=round_, tokens=8)
        if round_ or self.options.rounds == 1:  # no scene can be continued in the first round
            self._rotation_times.append(time.perf_counter() - started)
        self._returning_tokens = await self._measure_return(round_)

    def figures(self) -> Figures:
        """Return the medians of all rounds."""
        return Figures(
            name=self.name,
            written=tuple(self._written),
            answer_many=median(self._throughputs),
            streams=self.options.streams,
            read=median(self._prefill_speeds),
            first_word=median(self._first_chunk_times),
            return_new=self._returning_tokens[0],
            return_read=self._returning_tokens[1],
            return_stored=median(self._restore_ratios),
            rotation=median(self._rotation_times),
        )

    async def _measure_restore(self, round_: int) -> None:
        """Prefill a long prompt, and request it again after other minds have taken its slot."""
        mind = f"long {round_}"
        prompt = _build_prompt(mind, self.options.history)
        first = await self._generate(mind, prompt, tokens=1)
        self._prefill_speeds.append(first.finish.prompt_tokens_read / first.seconds)
        self._first_chunk_times.append(first.seconds_to_first_chunk)
        await self._generate_all(f"other {round_}", 20, tokens=1)
        again = await self._generate(mind, prompt, tokens=1)
        self._restore_ratios.append(again.seconds / first.seconds)

    async def _measure_return(self, round_: int) -> tuple[int, int]:
        """Return the new tokens and the prefilled tokens when a mind continues by one line."""
        mind, size = f"known {round_}", self.options.history // 4
        before = _build_prompt(mind, size)
        after = _build_prompt(mind, size, lines=1)
        await self._generate(mind, before, tokens=1)
        again = await self._generate(mind, after, tokens=1)
        pairs = zip(before.parts, after.parts, strict=False)
        common = Prompt(tuple(one for one, other in pairs if one == other))
        new = again.finish.prompt_tokens - await self.engine.count(common)
        return new, again.finish.prompt_tokens_read

    async def _generate_all(
        self,
        name: str,
        size: int,
        lines: int = 0,
        tokens: int | None = None,
        grammar: str | None = None,
    ) -> list[_TimedReply]:
        """Generate a reply for each stream's mind at once. See `_build_prompt` for the prompts."""
        minds = [f"{name} {number}" for number in range(self.options.streams)]
        return await asyncio.gather(
            *(
                self._generate(mind, _build_prompt(mind, size, lines), tokens, grammar)
                for mind in minds
            )
        )

    async def _generate(
        self, mind: str, prompt: Prompt, tokens: int | None = None, grammar: str | None = None
    ) -> _TimedReply:
        request = Request(
            prompt,
            mind,
            max_tokens=tokens or self.options.tokens,
            planning_tokens=None,
            seed=1,
            grammar=grammar,
        )
        requested_at = time.perf_counter()
        times, lengths = [], []
        async for chunk in self.engine.generate(request):
            times.append(time.perf_counter())
            lengths.append(len(chunk.text))
            if chunk.finish:
                return _TimedReply(chunk.finish, requested_at, tuple(times), tuple(lengths))
        raise AssertionError("the last chunk has no finish")


async def measure(engine: Engine, options: BenchOptions, name: str) -> Figures:
    """Return the figures of a started engine."""
    measurement = EngineMeasurement(engine, options, name)
    for round_ in range(options.rounds):
        await measurement.measure_generation()
        await measurement.measure_prefill(round_)
    return measurement.figures()


def _compute_speed(replies: Sequence[_TimedReply]) -> float | None:
    """Return the tokens per second while all replies were active, or None if they never were."""
    start = max(reply.chunk_times[0] for reply in replies)
    end = min(reply.chunk_times[-1] for reply in replies)
    if start >= end:
        return None
    return sum(reply.count_tokens(start, end) for reply in replies) / (end - start)


def _build_prompt(name: str, tokens: int, lines: int = 0) -> Prompt:
    """Return a conversation of about `tokens` tokens, followed by `lines` more turns."""
    sentences = "".join(
        _SENTENCE.format(name=name, number=number)
        for number in range(max(1, tokens // _TOKENS_PER_SENTENCE))
    )
    turns = [sentences, *(f"And the {line}. question?" for line in range(lines))]
    parts: list[Control | Text] = []
    for turn in turns:
        parts += [
            Control("<|im_start|>"),
            Text(f"user\n{turn}"),
            Control("<|im_end|>"),
            Text("\n"),
        ]
    return Prompt((*parts, Control("<|im_start|>"), Text("assistant\n")))
