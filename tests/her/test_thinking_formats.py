"""Thinking is private in the format of every known family of models."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.her.beats import select_public
from bot.her.reply_parser import ParsedReply, ReplyParser

SECRET = "SECRET plan of hers"
NAMES = (
    "think",
    "thinking",
    "thought",
    "THINK",
    "reasoning",
    "reason",
    "reflection",
    "scratchpad",
    "inner_monologue",
    "inner thoughts",
    "chain_of_thought",
    "cot",
    "rationale",
    "analysis",
    "seed:think",
    "seed:cot_budget_reflect",
    "ns.thinking",
    "assistant_thinking",
    "internal",
    "private",
    "tool_call",
    "function_call",
    "tool_response",
    "system-reminder",
)
BRACKETS = (
    "<{}>",
    "< {} >",
    "\\<{}>",
    "\\<{}\\>",
    "&lt;{}&gt;",
    "&amp;lt;{}&amp;gt;",
    "&#60;{}&#62;",
    "\\u003c{}\\u003e",
    "＜{}＞",
    "◁{}▷",
    "<|{}|>",
)
STRICT_BRACKETS = ("[{}]", "【{}】", "［{}］", "{{{}}}", "({})", "«{}»")
STRICT_NAMES = ("think", "THINK", "thinking", "thought", "inner thoughts", "role_thinking")
PAIRS = [
    *((bracket, name) for bracket in BRACKETS for name in NAMES),
    *((bracket, name) for bracket in STRICT_BRACKETS for name in STRICT_NAMES),
]
TAG_PAIRS = tuple((bracket.format(name), bracket.format(f"/{name}")) for bracket, name in PAIRS)
OTHER_PAIRS = (
    ("<|channel|>analysis<|message|>", "<|end|>"),
    ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
    ("<|start|>assistant<|channel|>analysis<|message|>", "<|channel|>final<|message|>"),
    ("<|channel|>commentary to=functions.x <|constrain|>json<|message|>", "<|call|>"),
    ("&lt;|channel|&gt;analysis&lt;|message|&gt;", "&lt;|end|&gt;"),
    ("\\<|channel|\\>analysis\\<|message|\\>", "\\<|end|\\>"),
    ("<details><summary>Thinking</summary>", "</details>"),
    ("<|channel>thought\n", "<channel|>"),
    ("<unused94>thought\n", "<unused95>"),
    ("<ctrl94>thought\n", "<ctrl95>"),
    ("<|START_THINKING|>", "<|END_THINKING|><|START_RESPONSE|>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>\n\n<|begin_of_solution|>"),
    ("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"),
    ("<!-- ", " -->"),
    ("<?think ", "?>"),
    ("<?thinking?>", "<?/thinking?>"),
    ("&lt;?think ", " ?&gt;"),
    ("<% think %>", "<% /think %>"),
    ("{% think %}", "{% endthink %}"),
    ("<#think>", "</#think>"),
    ("<think_start>", "<think_end>"),
    ("<begin_of_thought>", "<end_of_thought>"),
    ("[THINK_START]", "[THINK_END]"),
    ("[BEGIN THINKING]", "[END THINKING]"),
    ("<antThinking>", "</antThinking>"),
    ("<mm:think>", "</mm:think>"),  # MiniMax M3
    ("<think:opensource>", "</think:opensource>"),  # Hunyuan
    ("<|inner_prefix|>", "<|inner_suffix|>"),  # Apertus
    ("<|think|>", "<|end|><|begin|>assistant<|content|>"),  # Solar Open
    ("<|open|>think<|sep|>", "<|close|>think<|sep|><|open|>response<|sep|>"),  # Kimi K3
    ("<|START_THINKING|>", "<|END_THINKING|><|START_TEXT|>"),  # Command A
    ("<|START_ACTION|>[", "]<|END_ACTION|>"),
    ("<think>", "</think><|begin_of_box|>"),  # GLM V
    ("<think>\n", "\n</think>\n<answer>\n"),  # Hunyuan, ERNIE
    ("<Thought>", "</Thought>\n<Output>"),  # Marco-o1
    ("<SUMMARY>", "</SUMMARY><CONCLUSION>"),  # LLaVA-CoT
    ("<|im_start|>think\n", "<|im_start|>answer\n"),  # s1
    ("analysisThe ", "assistantfinal"),  # gpt-oss without its control tokens
    ("analysisThe ", "assistantcommentaryNo.assistantfinal"),
    ("<TOOLCALL>[", "]</TOOLCALL>"),  # Nemotron
    ("<|tool_call_start|>[", "]<|tool_call_end|>"),  # LFM2
    ("<|tool_call>call:f{", "}<tool_call|>"),  # Gemma 4
    (
        "<|tool_calls_section_begin|><|tool_call_begin|>f:0<|tool_call_argument_begin|>",
        "<|tool_call_end|><|tool_calls_section_end|>",
    ),  # Kimi K2
    (
        '<｜DSML｜function_calls>\n<｜DSML｜invoke name="x">',
        "</｜DSML｜invoke>\n</｜DSML｜function_calls>",
    ),  # DeepSeek V3.2
    (
        '<minimax:tool_call>\n<invoke name="x">\n<parameter name="y">',
        "</parameter>\n</invoke>\n</minimax:tool_call>",
    ),  # MiniMax M2
    ("```thinking\n", "\n```\n"),
    ("### Thinking\n", "\n### Response\n"),
    ("**Thinking:** ", "\n\n**Answer:** "),
    ("Thought: ", "\nElizabeth Bennet: "),
    ("Elizabeth (thinking): ", "\nElizabeth: "),
    ("Elizabeth's inner thoughts: ", "\nElizabeth: "),
    ("[Thought: ", "] "),
    ("[", "] "),
    ("(Thinking: ", ") "),
    ("*Inner thoughts: ", "* "),
    ("<think>", "[/think]"),
    ("[THINK]", "</think>"),
    ("<thinking>", "&lt;/thinking&gt;"),
)
FAMILIES = (*TAG_PAIRS, *OTHER_PAIRS)
families = st.sampled_from(FAMILIES)
modes = st.sampled_from(((False, False), (True, False), (True, True)))


def parse_in_chunks(
    text: str, size: int, *, prefilled: bool, well_formed: bool
) -> tuple[ParsedReply, list[str]]:
    """Return the reply, and the public text after each chunk."""
    parser = ReplyParser(
        "Elizabeth Bennet", ("Mr. Darcy",), prefilled=prefilled, well_formed=well_formed
    )
    text = f"plan</system_thinking>{text}" if prefilled else text
    snapshots = []
    for start in range(0, len(text), size):
        parser.feed(text[start : start + size])
        snapshots.append("\n".join(beat.text for beat in select_public(parser.beats)))
    reply = parser.close()
    return reply, [*snapshots, "\n".join(beat.text for beat in reply.public)]


@pytest.mark.parametrize(("opener", "closer"), FAMILIES)
def test_a_known_pair_encloses_private_text_and_the_speech_after_it_is_heard(
    opener: str, closer: str
) -> None:
    for prefilled, well_formed in ((False, False), (True, False), (True, True)):
        text = f"{opener}{SECRET}{closer}Good day, sir."
        reply, snapshots = parse_in_chunks(
            text, len(text), prefilled=prefilled, well_formed=well_formed
        )
        assert not any("SECRET" in heard for heard in snapshots)
        assert snapshots[-1] == "Good day, sir."
        assert reply.closed


@pytest.mark.parametrize(("opener", "closer"), OTHER_PAIRS)
def test_no_format_leaks_wherever_the_stream_is_split(opener: str, closer: str) -> None:
    text = f"{opener}{SECRET}{closer}Good day, sir."
    for prefilled, well_formed in ((False, False), (True, False), (True, True)):
        before = "plan</system_thinking>" if prefilled else ""
        for split in range(len(text)):
            parser = ReplyParser(
                "Elizabeth Bennet", ("Mr. Darcy",), prefilled=prefilled, well_formed=well_formed
            )
            parser.feed(before + text[:split])
            heard = [beat.text for beat in select_public(parser.beats)]
            parser.feed(text[split:])
            heard += [beat.text for beat in parser.close().public]
            assert heard[-1] == "Good day, sir."
            assert not any("SECRET" in one for one in heard)


@given(families, families, modes, st.integers(1, 12))
@settings(max_examples=100, deadline=None)
def test_no_family_leaks_in_any_chunks(
    first: tuple[str, str], second: tuple[str, str], mode: tuple[bool, bool], size: int
) -> None:
    text = (
        f"{first[0]}{SECRET}{first[1]}Good day.\n{second[0]}{SECRET}{second[1]}"
        f"<role_action>bows</role_action>Sir."
    )
    prefilled, well_formed = mode
    whole, _ = parse_in_chunks(text, len(text), prefilled=prefilled, well_formed=well_formed)
    reply, snapshots = parse_in_chunks(text, size, prefilled=prefilled, well_formed=well_formed)
    assert reply == whole
    assert not any("SECRET" in heard for heard in snapshots)


@given(families, modes, st.integers(1, 12), st.integers(0, 60))
@settings(max_examples=100, deadline=None)
def test_an_unclosed_family_leaks_nothing_wherever_the_reply_is_cut(
    family: tuple[str, str], mode: tuple[bool, bool], size: int, cut: int
) -> None:
    prefilled, well_formed = mode
    text = (family[0] + SECRET + family[1])[: len(family[0]) + min(cut, len(SECRET))]
    _, snapshots = parse_in_chunks(text, size, prefilled=prefilled, well_formed=well_formed)
    assert not any("SECRET" in heard for heard in snapshots)


@pytest.mark.parametrize(
    "opener", ["<think>", "[THINK]", "&lt;think&gt;", "\\<think>", "{think}", "<a:think>"]
)
@pytest.mark.parametrize("closer", ["</think>", "[/think]", "&lt;/thought&gt;", "\\</thinking\\>"])
def test_a_closer_closes_in_any_brackets(opener: str, closer: str) -> None:
    reply, snapshots = parse_in_chunks(
        f"{opener}{SECRET}{closer}Sir.", 3, prefilled=True, well_formed=False
    )
    assert snapshots[-1] == "Sir."
    assert reply.closed


@pytest.mark.parametrize(
    "text",
    [
        "<answer>Sir.</answer>",
        "<think>x</think><response>Sir.</response>",
        "<|assistant|>Sir.<|user|>Well?",
        "<|im_start|>assistant\nSir.<|im_end|>",
        "<|start_header_id|>assistant<|end_header_id|>\n\nSir.<|eot_id|>",
        "<start_of_turn>model\nSir.<end_of_turn>",
        "<s>Sir.</s>",
        "<bos>Sir.<eos>",
        "Sir.[/INST] Well?",
        "Sir.<|eom_id|>",
        "Sir.<!-- a comment -->",
        'Sir.[TOOL_CALLS][{"name": "x"}]',
        '<function=say>{"a": 1}</function>Sir.',
        "Sir.</",
        "Sir.</r",
        "Sir.</role_",
        "Sir.<",
        "Sir.\nuser: What?",
        "Sir.\nassistant: What?",
        "Sir.\n**User:** What?",
        "Sir.\nHuman: What?",
        "Sir.\n## Mr. Darcy\nWhat?",
        "Sir.\n**Mr. Darcy**\nWhat?",
        "Sir.\n# Environment\nRain.",
        "## Elizabeth Bennet\nSir.",
        "**Response:** Sir.",
    ],
)
def test_control_tokens_wrappers_and_chat_roles_never_show(text: str) -> None:
    for prefilled in (False, True):
        for size in (1, 3, len(text)):
            _, snapshots = parse_in_chunks(text, size, prefilled=prefilled, well_formed=False)
            assert snapshots[-1] == "Sir."


@pytest.mark.parametrize(
    "text",
    [
        "I think: never. My answer: no.",
        "The plan: we ride at dawn.",
        "He said (softly) that it rained.",
        "Reason (if any) escapes me.",
        "See [the letter](https://example.org).",
        "a[0] = {x}, 1 < 2, --> here, 3/4, C:\\dir",
        "My analysis: he lies. The assistant, finally, came.",
        "<?php and <!DOCTYPE> and {% x %} are not for me.",
        "Answer: yes.",
        "I wrote `[x]` and `(y)`.",
    ],
)
def test_ordinary_speech_stays_public(text: str) -> None:
    for size in (1, 4, len(text)):
        reply, _ = parse_in_chunks(text, size, prefilled=True, well_formed=False)
        assert "".join(beat.text for beat in reply.public) == text
