"""A model's own chat template, which turns messages into a prompt.

The template is a Jinja2 program from the model's file (`tokenizer.chat_template`). It runs in
Jinja2's sandbox and never sees the text of a message, only a placeholder for it. Text can therefore
neither act as a control token nor switch the template's modes.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NoReturn

from jinja2 import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from bot.her.layout import Message, Role
from bot.her.prompt import Control, Prompt, Text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jinja2 import Template

    from bot.her.prompt import PromptPart

_TURNS: Final = "{{{{ bos_token }}}}{{% for message in messages %}}{}{{% endfor %}}{}"
FALLBACK_TEMPLATES: Final = {
    "<start_of_turn>": _TURNS.format(
        "{% if message.role == 'system' %}{{ raise_exception('no system role') }}{% endif %}"
        "<start_of_turn>{{ 'model' if message.role == 'assistant' else message.role }}\n"
        "{{ message.content }}<end_of_turn>\n",
        "<start_of_turn>model{{ '\\n' }}",  # Jinja2 drops a line break at the end
    ),
    "<|start_header_id|>": _TURNS.format(
        "<|start_header_id|>{{ message.role }}<|end_header_id|>\n\n{{ message.content }}<|eot_id|>",
        "<|start_header_id|>assistant<|end_header_id|>{{ '\\n\\n' }}",
    ),
}
"""Templates of Gemma and Llama 3 by a control token that only these families have. Some files lack
the template of their model."""

# Characters of a private use area, since a template may trim, split or quote other placeholders.
_PLACEHOLDER: Final = re.compile("\ue0f0(\\d+)\ue0f1")
_OPEN_THINKING: Final = re.compile(r"<think>\s*\Z")
_HARMONY_REPLY: Final = "<|start|>assistant"
_OPENING_MESSAGE: Final = "The scene begins."
_PROBE: Final = (
    Message(Role.SYSTEM, "system"),
    Message(Role.USER, "one"),
    Message(Role.ASSISTANT, "two"),
    Message(Role.USER, "three"),
)


@dataclass(frozen=True, slots=True)
class ChatTemplate:
    """A chat template and the special tokens that it may use. Create it with `load`."""

    source: str
    bos: str = ""
    eos: str = ""
    merges_system: bool = False
    """Whether the system message becomes part of the first user message, as in Gemma's template."""

    @classmethod
    def load(cls, source: str, *, bos: str = "", eos: str = "") -> ChatTemplate | None:
        """Return a template, or None if it cannot render a conversation of several turns."""
        for merges_system in (False, True):
            template = cls(source, bos, eos, merges_system)
            try:
                if template._renders_everything(_PROBE):
                    return template
            except (TemplateError, TypeError, ValueError, ArithmeticError, LookupError):
                continue
        return None

    @classmethod
    def load_fallback(cls, control: str, *, bos: str = "", eos: str = "") -> ChatTemplate | None:
        """Return the template of the family that has this control token, or None."""
        return cls.load(FALLBACK_TEMPLATES.get(control, ""), bos=bos, eos=eos)

    def render(self, messages: Sequence[Message], *, prefill: str) -> Prompt:
        """Return the prompt for the assistant's next message, which begins with `prefill`."""
        messages = _arrange(messages, merges_system=self.merges_system)
        parts: list[PromptPart] = []
        pieces = _PLACEHOLDER.split(self._run(messages))
        for control, number in zip(pieces[::2], [*pieces[1::2], ""], strict=True):
            if control:
                parts.append(Control(control))
            if number:
                parts.append(Text(messages[int(number)].text))
        if parts and isinstance(parts[-1], Control):
            parts[-1] = Control(_finish_header(parts[-1].token))
        if prefill:
            parts.append(Text(prefill))
        return Prompt(tuple(parts), prefill)

    def _renders_everything(self, messages: Sequence[Message]) -> bool:
        arranged = _arrange(messages, merges_system=self.merges_system)
        rendered = {int(number) for number in _PLACEHOLDER.findall(self._run(arranged))}
        return rendered == set(range(len(arranged)))

    def _run(self, messages: Sequence[Message]) -> str:
        placeholders = [
            {"role": str(message.role), "content": f"\ue0f0{number}\ue0f1"}
            for number, message in enumerate(messages)
        ]
        return _compile(self.source).render(
            messages=placeholders,
            add_generation_prompt=True,
            bos_token=self.bos,
            eos_token=self.eos,
            enable_thinking=False,
            tools=None,
            documents=None,
        )


@lru_cache(maxsize=8)
def _compile(source: str) -> Template:
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )
    environment.filters["tojson"] = _to_json
    environment.globals |= {"raise_exception": _raise_error, "strftime_now": _format_date}
    return environment.from_string(source)


def _to_json(value: object, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _raise_error(message: str) -> NoReturn:
    raise TemplateError(message)


def _format_date(_format: str) -> str:
    """Return a fixed date, so that the same conversation always has the same prompt."""
    return datetime(2024, 7, 26, tzinfo=UTC).strftime(_format)


def _arrange(messages: Sequence[Message], *, merges_system: bool) -> list[Message]:
    """Return messages that every template accepts: a user message first, then alternating roles."""
    system = [message for message in messages if message.role is Role.SYSTEM]
    turns = [message for message in messages if message.role is not Role.SYSTEM]
    if not turns or turns[0].role is Role.ASSISTANT:
        turns.insert(0, Message(Role.USER, _OPENING_MESSAGE))
    if merges_system and system:
        text = "\n\n".join(message.text for message in (*system, turns[0]))
        return [replace(turns[0], text=text), *turns[1:]]
    return [*system, *turns]


def _finish_header(control: str) -> str:
    """Return the header of the reply so that the reply itself follows, and no thinking block."""
    if _OPEN_THINKING.search(control):
        return f"{control.rstrip()}\n\n</think>\n\n"
    if control.endswith(_HARMONY_REPLY):
        return f"{control}<|channel|>final<|message|>"
    return control
