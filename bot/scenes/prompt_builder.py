"""Builds prompts from minds, in the model's dialect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.engine.protocol import Dialect
from bot.her import layout, plain_layout, stand_in_layout
from bot.her.chatml import PREFILL, render_chatml
from bot.her.grammar import (
    build_her_continuation_grammar,
    build_her_grammar,
    build_stand_in_continuation_grammar,
    build_stand_in_grammar,
)
from bot.scenes import mind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.engine.protocol import PromptFormat
    from bot.her.layout import Message
    from bot.her.prompt import Prompt
    from bot.library.scenario import Scenario
    from bot.scenes.turn import Turn


def build_prompt(
    scenario: Scenario,
    character: str,
    turns: Sequence[Turn],
    dialect: Dialect,
    *,
    requirements: str = "",
    empty_think: bool = False,
    notes: Sequence[str] = (),
    left_out: Sequence[Turn] = (),
    memory: str = "",
    opening: str = "",
    prompt_format: PromptFormat | None = None,
) -> Prompt:
    """Return the prompt for this character's next turn after `turns`.

    `notes` are the game master's notes for it. `left_out` are the turns before `turns`: only their
    changes of setting count. `memory` is what it remembers of them. `opening` is the text of a turn
    that has already begun. `requirements` is the model's own Requirements section, if it has one.
    Raises KeyError if the scenario has no such character.
    """
    person = scenario.character(character)
    sheet = mind.build_sheet(
        scenario, person, (*left_out, *turns), requirements=requirements, memory=memory
    )
    heard = mind.build_history(character, turns, notes)
    prefill = opening or PREFILL
    match dialect:
        case Dialect.HER:
            messages = layout.build_messages(sheet, heard)
            return render_prompt(messages, prompt_format, prefill, empty_think=empty_think)
        case Dialect.PLAIN:
            messages = plain_layout.build_messages(sheet, mind.build_examples(person), heard)
        case Dialect.STAND_IN:
            messages = stand_in_layout.build_messages(sheet, mind.build_examples(person), heard)
    return render_prompt(messages, prompt_format, prefill)


def render_prompt(
    messages: Sequence[Message],
    prompt_format: PromptFormat | None,
    prefill: str,
    *,
    empty_think: bool = False,
) -> Prompt:
    """Return the prompt in the model's own format, or in ChatML if that is None."""
    if prompt_format:
        return prompt_format.render(messages, prefill=prefill)
    return render_chatml(messages, prefill=prefill, empty_think=empty_think)


def build_grammar(
    character: str, dialect: Dialect, language: str = "en", *, more: bool = False
) -> str:
    """Return the grammar (GBNF) that keeps this character's reply in HER's structure.

    With `more`, it is the grammar of a continuation. `language` is the scenario's language tag.
    """
    if dialect is Dialect.STAND_IN:
        if more:
            return build_stand_in_continuation_grammar(language)
        return build_stand_in_grammar(character, language)
    return build_her_continuation_grammar() if more else build_her_grammar(character)
