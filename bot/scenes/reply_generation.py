"""Generates one reply: from a mind's prompt through engine and parser to the beats of a take."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from bot.engine.protocol import Dialect, FinishReason, GrammarCheckingEngine, Request
from bot.errors import EmptyReply, EngineDied
from bot.her.beats import BeatKind, PrivateBeat, select_private, select_public
from bot.her.chatml import STOPS
from bot.her.reply_parser import ReplyParser
from bot.her.sanitise import sanitise_name
from bot.scenes import prompt_builder
from bot.scenes.continuation import ContinuationParser
from bot.scenes.prompt_assembly import PromptSource, assemble_prompt

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from bot.engine.protocol import Engine
    from bot.her.beats import Beat, PublicBeat
    from bot.scenes.prompt_assembly import AssembledPrompt
    from bot.scenes.recollection import Recollection
    from bot.scenes.scene import Scene

Progress: TypeAlias = "Callable[[tuple[PublicBeat, ...]], Awaitable[None]]"
"""Awaited with the public beats that are final so far, each time there are more."""

THOUGHT_ENDS = "</role_thinking>"
_SHORT_PLANNING = 48  # tokens for the planning of a second attempt, as the first one never spoke


@dataclass(frozen=True, slots=True)
class ReplyLimits:
    """The limits of a reply: tokens in total and of planning, and the use of a grammar."""

    max_tokens: int = 2048
    planning_tokens: int = 1024
    guided: bool = True  # constrain replies by a grammar if the engine supports one
    empty_think: bool = False  # put Qwen3's empty <think> block before the reply


@dataclass(frozen=True, slots=True, repr=False)
class GeneratedReply:
    """A generated reply, parsed and raw."""

    beats: tuple[Beat, ...]
    raw: str  # the model's text, with the prefill in front
    seed: int
    history_cut: bool = False  # whether the prompt lacked the oldest turns


class LostInThought(EmptyReply):
    """Two attempts brought no public beat. `thoughts` are the private beats of the latest one."""

    def __init__(self, sentence: str, thoughts: tuple[PrivateBeat, ...]) -> None:
        super().__init__(sentence)
        self.thoughts = thoughts


@dataclass(frozen=True, slots=True)
class ReplyGenerator:
    """Generates replies on an engine.

    `new_seed` returns a seed for each attempt, from 0 to 2**32 - 1.
    """

    engine: Engine
    limits: ReplyLimits
    new_seed: Callable[[], int]

    async def reply(
        self, scene: Scene, character: str, assembled: AssembledPrompt, progress: Progress
    ) -> GeneratedReply:
        """Return this character's next turn.

        Retries once if the engine dies, and once if the reply has no public beat, then with little
        room for planning. Raises LostInThought if the retry has no public beat either, and
        EngineError.
        """
        request = self._request(scene, character, assembled)
        others = _list_others(scene, character, assembled)
        beats, raw = await self._attempt(scene, character, others, request, progress)
        if not select_public(beats):
            thoughts = select_private(beats)
            request = replace(request, seed=self.new_seed(), planning_tokens=_SHORT_PLANNING)
            beats, raw = await self._attempt(scene, character, others, request, progress)
            if not select_public(beats):
                raise LostInThought(
                    f"{character} was lost in thought and did not speak. Try again, or rephrase "
                    "the line.",
                    select_private(beats) or thoughts,
                )
        return GeneratedReply(beats, raw, request.seed, history_cut=assembled.recollection.cut)

    async def extend(
        self,
        scene: Scene,
        character: str,
        assembled: AssembledPrompt,
        beats: tuple[Beat, ...],
        progress: Progress,
    ) -> GeneratedReply:
        """Return a character's turn: the finished `beats`, with more after them.

        `assembled` is the prompt that ends with these beats. Retries once if the engine dies, and
        once if it added no text. Raises LostInThought if the retry adds no text either, and
        EngineError.
        """
        request = replace(self._request(scene, character, assembled), planning_tokens=None)
        if request.grammar is not None:
            request = replace(
                request,
                grammar=prompt_builder.build_grammar(
                    character, self.engine.info.dialect, scene.scenario.language, more=True
                ),
            )
        others = _list_others(scene, character, assembled)
        before = select_public(beats)
        thoughts: tuple[PrivateBeat, ...] = ()
        for _ in range(2):
            extended, raw = await self._attempt(
                scene, character, others, request, progress, continued=beats
            )
            if _is_longer(extended, before):
                cut = assembled.recollection.cut
                return GeneratedReply(extended, raw, request.seed, history_cut=cut)
            thoughts = select_private(extended[len(beats) :]) or thoughts
            request = replace(request, seed=self.new_seed())
        raise LostInThought(
            f"{character} added no words. Try again, or let another character speak.", thoughts
        )

    async def think(
        self, scene: Scene, character: str, assembled: AssembledPrompt
    ) -> tuple[PrivateBeat, ...]:
        """Return this character's thoughts. The character takes no turn.

        Raises EmptyReply if the model writes no thought, and EngineError.
        """
        request = self._request(scene, character, assembled)
        request = replace(request, stop=(*STOPS, THOUGHT_ENDS))
        beats, _ = await self._attempt(
            scene, character, _list_others(scene, character, assembled), request, _ignore_progress
        )
        thoughts = (
            beat
            for beat in beats
            if isinstance(beat, PrivateBeat) and beat.kind is BeatKind.THOUGHT
        )
        if not (found := tuple(beat for beat in thoughts if beat.text.strip())):
            raise EmptyReply(f"The model wrote no thought for {character}. Try again.")
        return found

    async def assemble(
        self, scene: Scene, character: str, recollection: Recollection, opening: str = ""
    ) -> AssembledPrompt:
        """Return the prompt for this character's next turn, within the context.

        `opening` is the text of a turn that has already begun. Raises PromptTooLong and
        EngineError.
        """
        return await assemble_prompt(
            self.source(scene, character, opening), recollection, self.engine, self._room
        )

    def source(self, scene: Scene, character: str, opening: str = "") -> PromptSource:
        """Return the source of this character's prompts."""
        return PromptSource(scene.scenario, character, self.limits.empty_think, opening)

    @property
    def _room(self) -> int:
        """The tokens reserved for a reply: the limit, but at most a quarter of the context."""
        return min(self.limits.max_tokens, self.engine.info.context // 4)

    def _request(self, scene: Scene, character: str, assembled: AssembledPrompt) -> Request:
        info = self.engine.info
        return Request(
            prompt=assembled.prompt,
            mind=mind_key(scene, character),
            guild=str(scene.place.guild_id),
            seed=self.new_seed(),
            max_tokens=self._room,
            planning_tokens=self.limits.planning_tokens,
            stop=STOPS,
            grammar=prompt_builder.build_grammar(character, info.dialect, scene.scenario.language)
            if self._uses_grammar(info.dialect)
            else None,
            grammar_after_planning=prompt_builder.build_grammar(character, info.dialect, more=True)
            if self._uses_grammar(info.dialect)
            else None,
            speaker=sanitise_name(character),
        )

    def _uses_grammar(self, dialect: Dialect) -> bool:
        """Return whether a grammar constrains replies. All models but HER always need one."""
        return self.engine.info.supports_grammar and (
            self.limits.guided or dialect is not Dialect.HER
        )

    async def _attempt(
        self,
        scene: Scene,
        character: str,
        others: tuple[str, ...],
        request: Request,
        progress: Progress,
        continued: tuple[Beat, ...] = (),
    ) -> tuple[tuple[Beat, ...], str]:
        """Generate once, and again if the engine dies. `continued` are the beats to continue."""

        def start_parser() -> ReplyParser | ContinuationParser:
            well_formed = held.grammar is not None
            aliases = scene.character(character).aliases
            if continued:
                return ContinuationParser(
                    continued, character, others, well_formed=well_formed, aliases=aliases
                )
            return ReplyParser(
                character, others, prefilled=True, well_formed=well_formed, aliases=aliases
            )

        held = request
        before = select_public(continued)
        try:
            return await self._stream(held, start_parser(), progress, before)
        except EngineDied:
            if not self.engine.info.supports_grammar:
                held = replace(request, grammar=None, grammar_after_planning=None)
            return await self._stream(held, start_parser(), progress, before)

    async def _stream(
        self,
        request: Request,
        parser: ReplyParser | ContinuationParser,
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
                if (final := select_public(parser.beats)) != shown:
                    shown = final
                    if not before or _is_longer(shown, before):
                        await progress(shown)
                if parser.stopped:
                    break
        reply = parser.close(truncated=cut)
        if isinstance(reply, tuple):
            return reply, "".join(raw)
        malformed = not (reply.closed or cut or reply.stopped)
        if malformed and request.grammar is not None and request.stop == STOPS:
            self._recheck_grammar()
        return reply.beats, "".join(raw)

    def _recheck_grammar(self) -> None:
        if isinstance(self.engine, GrammarCheckingEngine):
            self.engine.recheck_grammar()


def mind_key(scene: Scene, character: str) -> str:
    """Return the key under which an engine caches this character's mind."""
    return f"{scene.id}/{character}"


async def _ignore_progress(_beats: tuple[PublicBeat, ...]) -> None:
    """Show no progress."""


def _is_longer(beats: Sequence[Beat], before: tuple[PublicBeat, ...]) -> bool:
    """Return whether these beats have more public text than before."""
    return sum(len(beat.text) for beat in select_public(tuple(beats))) > sum(
        len(beat.text) for beat in before
    )


def _list_others(scene: Scene, character: str, assembled: AssembledPrompt) -> tuple[str, ...]:
    """Return the names that the model must not speak for: the rest of the cast, and people."""
    names = (*(other.name for other in scene.scenario.characters), *assembled.recollection.people)
    return tuple(name for name in dict.fromkeys(names) if name != character)
