"""One reply: from a mind's prompt through the engine and the parser to the beats of a take."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from bot.engine.protocol import Dialect, FinishReason, Request
from bot.errors import EmptyReply, EngineDied
from bot.her import layout
from bot.her.beats import BeatKind, PrivateBeat, select_public
from bot.her.chatml import PREFILL, STOPS
from bot.her.reply_parser import ReplyParser
from bot.scenes import prompt_builder
from bot.scenes.turn import TurnKind

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from bot.engine.protocol import Engine
    from bot.her.beats import Beat, PublicBeat
    from bot.scenes.scene import Scene
    from bot.scenes.turn import Turn

Progress: TypeAlias = "Callable[[tuple[PublicBeat, ...]], Awaitable[None]]"
"""Is told the public beats that have settled so far, each time there are more."""

THOUGHT_ENDS = "</role_thinking>"
_HURRIED_PLANNING = 48  # tokens a second attempt may plan: the first one planned and never spoke


@dataclass(frozen=True, slots=True)
class ReplyLimits:
    """How long replies may be, and how strictly the model is held to HER's structure."""

    max_tokens: int = 2048
    planning_tokens: int = 1024
    guided: bool = True  # hold replies to a grammar where the engine can
    empty_think: bool = False  # put Qwen3's empty <think> block before the reply


@dataclass(frozen=True, slots=True, repr=False)
class GeneratedReply:
    """What a performance brought."""

    beats: tuple[Beat, ...]
    raw: str  # as the model wrote it, its prefill put back
    seed: int
    left_out: int  # how many of the oldest turns didn't fit the context


@dataclass(frozen=True, slots=True)
class ReplyGenerator:
    """Plays characters on an engine. `new_seed` gives a seed for each attempt, 0 to 2**32 - 1."""

    engine: Engine
    limits: ReplyLimits
    new_seed: Callable[[], int]

    async def reply(
        self,
        scene: Scene,
        character: str,
        turns: Sequence[Turn],
        progress: Progress,
        notes: Sequence[str] = (),
    ) -> GeneratedReply:
        """Return this character's next turn after `turns`, with the game master's `notes` for it in mind.

        An engine that dies in the middle is asked once more; so is one that brought no public beat, with little
        room for planning. Raises NoWords where that failed too, and EngineError.
        """
        fitted = await self.fitted(scene, character, turns, notes)
        request = self._request(scene, character, fitted)
        others = _others(scene, character, turns)
        beats, raw = await self._attempt(scene, character, others, request, progress)
        if not select_public(beats):
            request = replace(request, seed=self.new_seed(), planning_tokens=_HURRIED_PLANNING)
            beats, raw = await self._attempt(scene, character, others, request, progress)
        if not select_public(beats):
            raise EmptyReply(
                f"{character} was lost in thought and said nothing. Try again, or say it another way."
            )
        return GeneratedReply(beats, raw, request.seed, len(fitted.left_out))

    async def longer(
        self,
        scene: Scene,
        character: str,
        turns: Sequence[Turn],
        beats: tuple[Beat, ...],
        progress: Progress,
        notes: Sequence[str] = (),
    ) -> GeneratedReply:
        """Return this character's turn after `turns`, which has come as far as `beats`, with more behind them.

        An engine that dies in the middle is asked once more; so is one that adds nothing. Raises NoWords where that
        failed too, and EngineError.
        """
        opening = layout.format_open_turn(character, beats)
        fitted = await self.fitted(scene, character, turns, notes, opening=opening)
        request = replace(self._request(scene, character, fitted), planning_tokens=None)
        if request.grammar is not None:
            request = replace(
                request,
                grammar=prompt_builder.build_grammar(
                    character, self.engine.info.dialect, more=True
                ),
            )
        others = _others(scene, character, turns)
        before = select_public(beats)
        for _ in range(2):
            now, raw = await self._attempt(scene, character, others, request, progress, before)
            if _goes_on(now, before):
                return GeneratedReply(now, raw, request.seed, len(fitted.left_out))
            request = replace(request, seed=self.new_seed())
        raise EmptyReply(f"{character} has nothing to add. Try again, or let somebody else speak.")

    async def think(
        self, scene: Scene, character: str, turns: Sequence[Turn], notes: Sequence[str] = ()
    ) -> tuple[PrivateBeat, ...]:
        """Return what this character thinks after `turns`, without its saying or doing anything.

        Raises NoWords where it thinks nothing, and EngineError.
        """
        fitted = await self.fitted(scene, character, turns, notes)
        request = self._request(scene, character, fitted)
        request = replace(request, stop=(*STOPS, THOUGHT_ENDS))
        beats, _ = await self._attempt(
            scene, character, _others(scene, character, turns), request, _unheard
        )
        thoughts = (
            beat
            for beat in beats
            if isinstance(beat, PrivateBeat) and beat.kind is BeatKind.THOUGHT
        )
        if not (found := tuple(beat for beat in thoughts if beat.text.strip())):
            raise EmptyReply(
                f"{character} has nothing in mind that it would put into words. Ask once more."
            )
        return found

    async def fitted(
        self,
        scene: Scene,
        character: str,
        turns: Sequence[Turn],
        notes: Sequence[str] = (),
        *,
        opening: str = "",
    ) -> prompt_builder.FittedPrompt:
        """Return the prompt for this character's next turn, begun already with `opening`, cut to the context.

        Raises PromptTooLong, EngineError.
        """
        return await prompt_builder.fit_prompt(
            *(scene.scenario, character, turns, self.engine, self._room),
            empty_think=self.limits.empty_think,
            notes=notes,
            opening=opening,
        )

    @property
    def _room(self) -> int:
        """Tokens kept free for a reply: the whole limit, but never more than a quarter of a small context."""
        return min(self.limits.max_tokens, self.engine.info.context // 4)

    def _request(
        self, scene: Scene, character: str, fitted: prompt_builder.FittedPrompt
    ) -> Request:
        info = self.engine.info
        return Request(
            prompt=fitted.prompt,
            mind=mind_key(scene, character),
            guild=str(scene.place.guild_id),
            seed=self.new_seed(),
            max_tokens=self._room,
            planning_tokens=self.limits.planning_tokens,
            stop=STOPS,
            grammar=prompt_builder.build_grammar(character, info.dialect)
            if self._held(info.dialect)
            else None,
        )

    def _held(self, dialect: Dialect) -> bool:
        """Whether a grammar holds the reply; always for a stand-in, which never knew HER's structure."""
        return self.engine.info.supports_grammar and (
            self.limits.guided or dialect is Dialect.STAND_IN
        )

    async def _attempt(
        self,
        scene: Scene,
        character: str,
        others: tuple[str, ...],
        request: Request,
        progress: Progress,
        before: tuple[PublicBeat, ...] = (),
    ) -> tuple[tuple[Beat, ...], str]:
        """Ask the engine, once more where it dies. `before` is what is public of a reply that goes on."""

        def parser() -> ReplyParser:
            planned = request.prompt.prefill == PREFILL
            parser = ReplyParser(
                character,
                others,
                prefilled=planned,
                well_formed=request.grammar is not None,
                aliases=scene.character(character).aliases,
            )
            if not planned:
                parser.feed(request.prompt.prefill)
            return parser

        try:
            return await self._stream(request, parser(), progress, before)
        except EngineDied:
            return await self._stream(request, parser(), progress, before)

    async def _stream(
        self,
        request: Request,
        parser: ReplyParser,
        progress: Progress,
        before: tuple[PublicBeat, ...],
    ) -> tuple[tuple[Beat, ...], str]:
        raw = [request.prompt.prefill]
        shown: tuple[PublicBeat, ...] = ()
        cut = False
        async with aclosing(self.engine.generate(request)) as chunks:
            async for chunk in chunks:
                raw.append(chunk.text)
                parser.feed(chunk.text)
                cut = chunk.finish is not None and chunk.finish.reason is FinishReason.LENGTH
                if (settled := select_public(parser.beats)) != shown:
                    shown = settled
                    if not before or _goes_on(shown, before):
                        await progress(shown)
                if parser.stopped:
                    break
        return parser.close(truncated=cut).beats, "".join(raw)


def mind_key(scene: Scene, character: str) -> str:
    """Return the key by which an engine knows this character's mind again."""
    return f"{scene.id}/{character}"


async def _unheard(_beats: tuple[PublicBeat, ...]) -> None:
    """Where nobody is told how a reply goes on."""


def _goes_on(beats: Sequence[Beat], before: tuple[PublicBeat, ...]) -> bool:
    """Whether more is public in these beats than before."""
    return sum(len(beat.text) for beat in select_public(tuple(beats))) > sum(
        len(beat.text) for beat in before
    )


def _others(scene: Scene, character: str, turns: Sequence[Turn]) -> tuple[str, ...]:
    """Return everyone the model must not speak for: the rest of the cast, and people under their own names."""
    spoke = (turn.speaker for turn in turns if turn.kind is not TurnKind.SETTING)
    names = (*(other.name for other in scene.scenario.characters), *spoke)
    return tuple(name for name in dict.fromkeys(names) if name != character)
