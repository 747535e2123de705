"""Measures any Engine through its own interface."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.engine.bench.report import Figures, median
from bot.engine.protocol import Request
from bot.her.prompt import Control, Prompt, Text

if TYPE_CHECKING:
    from bot.engine.protocol import Engine, Finish

_SENTENCE = "Miss {name} walked round the lake for the {number}. time and spoke of the weather. "


@dataclass(frozen=True, slots=True)
class Course:
    """What is asked of an engine."""

    streams: int = 8
    tokens: int = 64  # of each reply
    history: int = 2000  # tokens of each scene in the rotation, about
    rounds: int = 5


@dataclass(frozen=True, slots=True)
class _Timed:
    finish: Finish
    first: float  # seconds to the first text
    whole: float


async def measure(engine: Engine, course: Course, name: str) -> Figures:
    """Return the figures of an engine that has been started."""
    ones, many, reads, firsts, rotations = [], [], [], [], []
    returned = (0, 0)
    for turn in range(course.rounds):
        one = await _reply(engine, course, f"one {turn}", _prompt("one", 20, turn))
        ones.append(one.finish.reply_tokens / max(1e-6, one.whole - one.first))
        many.append(await _together(engine, course, turn))
        long = await _reply(engine, course, f"long {turn}", _prompt(f"long {turn}", course.history, turn), tokens=1)
        reads.append(long.finish.prompt_tokens_read / long.whole)
        firsts.append(long.first)
        rotations.append(await _rotation(engine, course, turn))
        returned = await _return(engine, course, turn)
    return Figures(
        name=name,
        write_one=median(ones),
        write_many=median(many),
        streams=course.streams,
        read=median(reads),
        first_word=median(firsts),
        return_new=returned[0],
        return_read=returned[1],
        rotation=median(rotations[1:] or rotations),  # the first one has nothing to come back to
    )


async def _together(engine: Engine, course: Course, turn: int) -> float:
    """Tokens a second of all streams together."""
    began = time.perf_counter()
    replies = await asyncio.gather(
        *(
            _reply(engine, course, f"many {number}", _prompt(f"many {number}", 20, turn))
            for number in range(course.streams)
        )
    )
    return sum(reply.finish.reply_tokens for reply in replies) / (time.perf_counter() - began)


async def _rotation(engine: Engine, course: Course, turn: int) -> float:
    """Seconds for a round in which each scene gets one new line and one short reply."""
    began = time.perf_counter()
    await asyncio.gather(
        *(
            _reply(engine, course, f"scene {number}", _prompt(f"scene {number}", course.history, turn), tokens=8)
            for number in range(course.streams)
        )
    )
    return time.perf_counter() - began


async def _return(engine: Engine, course: Course, turn: int) -> tuple[int, int]:
    """New tokens and tokens read when a mind comes back with one more line."""
    mind = f"known {turn}"
    before, after = _prompt(mind, course.history // 4, 0), _prompt(mind, course.history // 4, 1)
    await _reply(engine, course, mind, before, tokens=1)
    again = await _reply(engine, course, mind, after, tokens=1)
    common = Prompt(tuple(one for one, other in zip(before.parts, after.parts, strict=False) if one == other))
    return again.finish.prompt_tokens - await engine.count(common), again.finish.prompt_tokens_read


async def _reply(engine: Engine, course: Course, mind: str, prompt: Prompt, tokens: int | None = None) -> _Timed:
    request = Request(prompt, mind, max_tokens=tokens or course.tokens, planning_tokens=None, seed=1)
    began, first = time.perf_counter(), 0.0
    async for chunk in engine.generate(request):
        if not first:
            first = time.perf_counter() - began
        if chunk.finish:
            return _Timed(chunk.finish, first, time.perf_counter() - began)
    raise AssertionError("an engine's last chunk carries its finish")


def _prompt(name: str, tokens: int, lines: int) -> Prompt:
    """A conversation of about so many tokens, and `lines` more turns at its end."""
    sentences = "".join(_SENTENCE.format(name=name, number=number) for number in range(max(1, tokens // 20)))
    parts: list[Control | Text] = [
        Control("<|im_start|>"),
        Text(f"user\n{sentences}"),
        Control("<|im_end|>"),
        Text("\n"),
    ]
    for line in range(lines):
        parts += [Control("<|im_start|>"), Text(f"user\nAnd the {line}. question?"), Control("<|im_end|>"), Text("\n")]
    return Prompt((*parts, Control("<|im_start|>"), Text("assistant\n")))
