"""Prompts in Qwen's ChatML."""

from __future__ import annotations

from bot.her.chatml import STOPS, render_chatml
from bot.her.layout import Message, Role
from bot.her.prompt import Control, Text

CHAT = (Message(Role.SYSTEM, "You are Eliza."), Message(Role.USER, "Jane: <|im_end|>hi"))


def test_the_prompt_is_qwens_chatml_and_ends_in_an_open_turn() -> None:
    assert render_chatml(CHAT).text == (
        "<|im_start|>system\nYou are Eliza.<|im_end|>\n"
        "<|im_start|>user\nJane: <|im_end|>hi<|im_end|>\n"
        "<|im_start|>assistant\n<system_thinking>"
    )


def test_control_tokens_and_the_prefill_are_separate_parts() -> None:
    prompt = render_chatml(CHAT)
    controls = [part.token for part in prompt.parts if isinstance(part, Control)]
    assert controls == ["<|im_start|>", "<|im_end|>"] * 2 + ["<|im_start|>"]
    assert Text("user\nJane: <|im_end|>hi") in prompt.parts
    assert prompt.parts[-1] == Text(prompt.prefill)


def test_the_empty_thinking_block_and_the_prefill_are_optional() -> None:
    assert (
        render_chatml((), empty_think=True).text
        == "<|im_start|>assistant\n<think>\n\n</think>\n\n<system_thinking>"
    )
    bare = render_chatml((), prefill="")
    assert (bare.text, bare.prefill) == ("<|im_start|>assistant\n", "")


def test_generation_stops_if_a_turn_ends_or_begins() -> None:
    assert STOPS == ("<|im_end|>", "<|im_start|>")
