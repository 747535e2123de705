"""Replies as models write them, and the beats parsed from them."""

from __future__ import annotations

import time

import pytest

from bot.her.reply_parser import ParsedReply, ReplyParser, parse_reply

PLANNED = "<system_thinking>plan</system_thinking>"
CAST = ("Mr. Darcy", "Jane Bennet", "Zoë O’Neil")


def parse_to_text(text: str, *, prefilled: bool = False, well_formed: bool = False) -> str:
    """Return the beats, each as the first letter of its kind (p, t, a, s) and its text."""
    return format_beats(
        parse_reply(text, "Elizabeth Bennet", CAST, prefilled=prefilled, well_formed=well_formed)
    )


def format_beats(reply: ParsedReply) -> str:
    return " | ".join(f"{beat.kind[0]} {beat.text}" for beat in reply.beats)


@pytest.mark.parametrize(
    ("text", "beats"),
    [
        (
            "<role_thinking>Odd.</role_thinking><role_action>bows</role_action>Sir.",
            "t Odd. | a bows | s Sir.",
        ),
        (
            "\n\n<role_action>bows</role_action>\n\nSir.\n\n<role_thinking>Odd.</role_thinking>",
            "a bows | s Sir. | t Odd.",
        ),
        ("Sir. <role_thinking>Odd.</role_thinking> Good day.", "s Sir. | t Odd. | s Good day."),
        ("Sir.\n\nGood day.", "s Sir.\n\nGood day."),
        ("<role_thinking> </role_thinking>Sir.", "s Sir."),
        ("<role_speech>Sir.</role_speech><role_speech>Good day.</role_speech>", "s Sir. Good day."),
        ("<role_action>bows</role_action><role_action>smiles</role_action>", "a bows, smiles"),
        (
            "<role_action>鞠躬</role_action><role_speech>你好。</role_speech><role_speech>再见。</role_speech>",
            "a 鞠躬 | s 你好。再见。",
        ),
        ("*She curtsies.* “Sir.” *A pause.*", "a She curtsies. | s “Sir.” | a A pause."),
        (
            "<role_action>*bows*</role_action>**Never**, 2 * 3 * 4, `*x*`",
            "a bows | s **Never**, 2 * 3 * 4, `*x*`",
        ),
        ("I <3 you, a < b, <b>x</b>, <looks away>", "s I <3 you, a < b, <b>x</b>, <looks away>"),
        (
            "“He said: never.”\nRemember: tea at 5:00.",
            "s “He said: never.”\nRemember: tea at 5:00.",
        ),
    ],
)
def test_a_well_formed_reply_becomes_beats_in_order(text: str, beats: str) -> None:
    assert parse_to_text(f"{PLANNED}Elizabeth Bennet: {text}") == f"p plan | {beats}"


@pytest.mark.parametrize(
    "text",
    [
        "<system_thinking>plan</system_thinking>Sir.",
        "plan</system_thinking>Sir.",
        "Elizabeth Bennet: <system_thinking>plan</system_thinking>Sir.",
        "<system_thinking>Elizabeth Bennet: <system_thinking>plan</system_thinking>Sir.",
        "<think>plan</think>Elizabeth: Sir.",
        "<SYSTEM_THINK >plan</ system-thinking >Sir.",
        "＜system_thinking＞plan＜/system_thinking＞Sir.",
        "&lt;system_thinking&gt;plan&lt;/system_thinking&gt;Sir.",
        "<system_thinking>plan</system_thinking\nElizabeth: Sir.",
        "<system_thinking>plan</role_thinking>Elizabeth: Sir.",
        "<think>\n\n</think>\n\n<system_thinking>plan</system_thinking>Sir.",
        "plan</system_thinking></system_thinking>Sir.",
        "<sytem_thinking>plan</system_thinking>Sir.",
        "<系统思考>plan</系统思考>Sir.",
    ],
)
def test_planning_is_recognised_in_many_spellings(text: str) -> None:
    assert (
        parse_reply(text, "Elizabeth Bennet").public
        == parse_reply("Sir.", "Elizabeth Bennet").public
    )
    assert parse_to_text(text).startswith("p ")


def test_planning_may_quote_tags() -> None:
    quoting = "use `<role_thinking>`, then `</system_thinking>`, say <role_action>x</role_action>"
    assert (
        parse_to_text(f"{quoting}</system_thinking>Sir.", prefilled=True) == f"p {quoting} | s Sir."
    )
    nested = "write <system_thinking>this</system_thinking> first"
    assert (
        parse_to_text(f"{nested}</system_thinking>Sir.", prefilled=True) == f"p {nested} | s Sir."
    )
    assert parse_to_text(
        "begin <system_thinking>plan</system_thinking>Sir.", prefilled=True
    ).endswith("plan | s Sir.")


@pytest.mark.parametrize(
    "text", ["plan", "plan <role_action>bows</role_action> Sir.", "plan</role_thinking> and more"]
)
def test_unclosed_planning_is_private_to_the_end(text: str) -> None:
    for reply in (
        parse_reply(text, "Eliza", prefilled=True),
        parse_reply(f"<system_thinking>{text}", "Eliza"),
    ):
        assert not reply.public
        assert not reply.closed


@pytest.mark.parametrize(
    ("text", "beats"),
    [
        ("Odd.</role_thinking>Sir.", "t Odd. | s Sir."),
        ("Odd.</role_action>Sir.", "t Odd. | s Sir."),
        ("Odd.</role_thin", "t Odd."),
        ("<role_action>bows</role_action> Odd.</role_thinking>Sir.", "a bows | t Odd. | s Sir."),
        ("<role_thinking>Odd.</role_thin", "t Odd."),
        ("<role_thinking>Odd.</role_action>Sir.", "t Odd. | s Sir."),
        (
            "<role_thinking>Odd.</role_action> He lies.</role_thinking>Sir.",
            "t Odd. He lies. | s Sir.",
        ),
        (
            "<role_thinking>Odd. <role_action>x</role_action> No.</role_thinking>Sir.",
            "t Odd. x No. | s Sir.",
        ),
        (
            "<role_thinking>Odd. <role_thinking>Lies.</role_thinking> Oh.</role_thinking>Sir.",
            "t Odd. Lies. Oh. | s Sir.",
        ),
        ("<role_thinking><role_thinking>Odd.</role_thinking>Sir.", "t Odd. | s Sir."),
        ("<role_thinking>Odd.</role_thinking></role_thinking>Sir.", "t Odd. | s Sir."),
        ("<role_thinking>Odd. <role_action>bows</role_action>Sir.", "t Odd. | a bows | s Sir."),
        (
            (
                "<role_thinking>Odd. <role_action>bows</role_action>Sir."
                "<role_thinking>Hm.</role_thinking>Go."
            ),
            "t Odd. | a bows | s Sir. | t Hm. | s Go.",
        ),
        ("<role_thinking>Odd.<role_thinking>Lies.</role_thinking>Sir.", "t Odd. Lies. | s Sir."),
        (
            "<role_action>bows\nSir.\n<role_thinking>Odd.</role_thinking>",
            "a bows | s Sir. | t Odd.",
        ),
        (
            "<role_action>bows <role_thinking>Odd.</role_thinking> deeply</role_action>Sir.",
            "a bows | t Odd. | a deeply | s Sir.",
        ),
        (
            "<role_speech>Sir, <role_action>bows</role_action> good day.</role_speech>",
            "s Sir, | a bows | s good day.",
        ),
        ("<role_action>Odd.</role_thinking>Sir.", "t Odd. | s Sir."),
        ("<role_action>bows</role_speech>Sir.", "a bows | s Sir."),
        ("</role_thinking>Odd.<role_thinking>", "t Odd."),
        ("Sir.</role_thinking>Odd.<role_thinking>Hm.", "t Sir. Odd. Hm."),
        (
            "Odd.</role_thinking>Sir. <role_thinking>Hm.</role_thinking>Go.",
            "t Odd. | s Sir. | t Hm. | s Go.",
        ),
        (
            "Odd.</role_thinking>Sir.<role_thinking>Hm.</role_thinking>Go.",
            "t Odd. Sir. Hm. | s Go.",
        ),
        (
            "Sir. </role_thinking>Odd.<role_thinking>Hm. Lies.</role_thinking>Go.",
            "t Sir. Odd. Hm. Lies. | s Go.",
        ),
        (
            "Sir. </role_thinking>Odd.<role_thinking>Hm. bows</role_action>Go.",
            "t Sir. Odd. Hm. bows | s Go.",
        ),
        ("<role_action>bows</role_thinking>Odd.<role_thinking>Sir.", "t bows Odd. Sir."),
        ("<role_thinking>Hm.</role_thinking>Odd.<role_thinking>Sir.", "t Hm. Odd. Sir."),
        ("<role_thinking>Hm.</role_thinking>Sir. <role_thinking>Odd.", "t Hm. | s Sir. | t Odd."),
        (
            "<role_thinking>Hm.</role_thinking>Sir.<role_thinking>Odd.</role_thinking>",
            "t Hm. | s Sir. | t Odd.",
        ),
        ("Sir.<think>Odd.</think>Go.", "s Sir. | t Odd. | s Go."),
        ("<role_feelings>Odd.</role_feelings>Sir.", "t Odd. | s Sir."),
        ("role_thinking: Odd.\nrole_action: bows\nSir.", "t Odd. | a bows | s Sir."),
        ("<角色思考>Odd.</角色思考><角色动作>bows</角色动作>Sir.", "t Odd. | a bows | s Sir."),
        (
            "[role_thinking]Odd.[/role_thinking]【动作】bows【/动作】Sir.",
            "t Odd. | a bows | s Sir.",
        ),
    ],
)
def test_only_clearly_public_text_of_a_malformed_reply_is_public(text: str, beats: str) -> None:
    assert parse_to_text(PLANNED + text) == f"p plan | {beats}"


def test_a_reply_truncated_in_a_thought_keeps_its_speech_public() -> None:
    parser = ReplyParser("Eliza", prefilled=True)
    parser.feed("plan</system_thinking><role_thinking>嗯。</role_thinking>你好。<role_thinking>他")
    assert format_beats(parser.close(truncated=True)) == "p plan | t 嗯。 | s 你好。 | t 他"


def test_tags_within_a_truncated_thought_may_be_part_of_it() -> None:
    text = f"{PLANNED}Sir. <role_thinking>Odd. <role_action>frowns</role_action> He lies."
    parser = ReplyParser("Eliza", prefilled=False)
    parser.feed(text)
    assert format_beats(parser.close(truncated=True)) == "p plan | s Sir. | t Odd. frowns He lies."
    assert parse_to_text(text) == "p plan | s Sir. | t Odd. | a frowns | s He lies."
    assert (
        parse_to_text(f"{text} <role_thinking>He") == "p plan | s Sir. | t Odd. frowns He lies. He"
    )


@pytest.mark.parametrize(
    "name",
    [
        "Elizabeth Bennet: ",
        "elizabeth:",
        "**Elizabeth Bennet**: ",
        "**Elizabeth:** ",
        "Elizabeth Bennet：",
        "\nBennet: ",
        "Elizabeth Bennet: Elizabeth Bennet: ",
        "Élizabeth  Bennet :\n\n",
        "[Elizabeth]: ",
        "Lizzy: ",
        "Elizabeth (softly): ",
    ],
)
def test_the_characters_own_name_is_removed_from_the_reply(name: str) -> None:
    for text in (
        f"{PLANNED}{name}Sir.",
        f"{name}{PLANNED}Sir.",
        f"{PLANNED}<role_thinking>x</role_thinking>{name}Sir.",
    ):
        assert [
            beat.text
            for beat in parse_reply(text, "Elizabeth Bennet", CAST, aliases=("Lizzy",)).public
        ] == ["Sir."]


@pytest.mark.parametrize(
    "line",
    [
        "Mr. Darcy: ",
        "mr darcy:",
        "Darcy：",
        "**Jane Bennet:** ",
        "Jane: ",
        "- Zoe O'Neil: ",
        "[Jane]: ",
        "Jane (smiling): ",
        "Environment: ",
        "Narrator: ",
        "===Conversation Start===\n",
        "<|im_end|>",
        "<|im_start|>user\n",
        "<|endoftext|>",
        "<system_thinking>plan</system_thinking>Elizabeth: ",
    ],
)
def test_the_reply_ends_before_another_speakers_line_or_a_second_round(line: str) -> None:
    parser = ReplyParser("Elizabeth Bennet", CAST, prefilled=False)
    parser.feed(f"{PLANNED}<role_action>bows</role_action>Sir.\n\n{line}")
    assert parser.stopped
    parser.feed("What? <role_action>leaves</role_action>")
    assert format_beats(parser.close()) == "p plan | a bows | s Sir."


def test_a_name_inside_a_sentence_or_a_thought_does_not_end_the_reply() -> None:
    text = (
        "<role_thinking>So\nMr. Darcy: proud.</role_thinking>"
        "I said to Jane: never. “Jane: I mean it.”"
    )
    assert (
        parse_to_text(PLANNED + text)
        == "p plan | t So\nMr. Darcy: proud. | s I said to Jane: never. “Jane: I mean it.”"
    )


def test_several_own_lines_are_one_speech() -> None:
    assert parse_to_text(f"{PLANNED}Elizabeth: Sir.\n\nElizabeth: Go.") == "p plan | s Sir.\n\nGo."


def test_an_empty_reply_has_no_beats() -> None:
    assert (
        parse_reply("", "Eliza").beats
        == parse_reply(f"{PLANNED}Eliza: \n", "Eliza").beats[1:]
        == ()
    )
    assert not parse_reply(PLANNED, "Eliza").has_speech


def test_a_phrase_repeated_over_and_over_is_cut_and_kept_once() -> None:
    parser = ReplyParser("Eliza", prefilled=True)
    parser.feed(f"plan</system_thinking>Sir. {'I love you. ' * 50}")
    assert parser.stopped
    assert format_beats(parser.close()) == "p plan | s Sir. I love you."
    streamed = parse_to_text(f"{PLANNED}{'I love you. ' * 50}", well_formed=True)
    assert streamed.count("I love you.") < 15


def test_public_text_is_final_at_the_next_tag_or_with_a_grammar_at_once() -> None:
    parser = ReplyParser("Eliza", CAST, prefilled=True)
    held = ReplyParser("Eliza", CAST, prefilled=True, well_formed=True)
    for each in (parser, held):
        each.feed("plan</system_thinking>Eliza: Good day, sir")
    assert not any(beat.kind == "speech" for beat in parser.beats)
    assert held.beats[-1].text == "Good day, sir"
    parser.feed(".<role_thinking>")
    assert parser.beats[-1].text == "Good day, sir."


def test_a_reply_without_planning_is_final_only_at_its_end() -> None:
    parser = ReplyParser("Eliza", prefilled=False)
    parser.feed("Good day.<role_action>bows</role_action>Sir.<role_thinking>Odd.</role_thinking>")
    assert parser.beats == ()
    assert [beat.text for beat in parser.close().public] == ["Good day.", "bows", "Sir."]


def test_the_repr_of_a_private_beat_hides_its_text() -> None:
    assert "Odd." not in repr(
        parse_reply(f"{PLANNED}<role_thinking>Odd.</role_thinking>Sir.", "Eliza")
    )


@pytest.mark.parametrize("piece", ["word ", "<role_thinking>x<role_action>y", "*a ", "Jane\n"])
@pytest.mark.parametrize("well_formed", [False, True])
def test_a_long_reply_in_small_chunks_is_parsed_quickly(piece: str, well_formed: bool) -> None:
    text = "plan</system_thinking>" + "".join(
        f"{piece}{number}" for number in range(30_000 // (len(piece) + 4))
    )
    parser = ReplyParser("Eliza", CAST, prefilled=True, well_formed=well_formed)
    began = time.process_time()
    for start in range(0, len(text), 4):
        parser.feed(text[start : start + 4])
        _ = parser.beats
    parser.close()
    assert (
        time.process_time() - began < 2
    )  # about half a second; a parser of quadratic cost would take minutes


@pytest.mark.parametrize(
    "thinking",
    [
        "**role_thinking**: SECRET",
        "(role_thinking) SECRET (/role_thinking)",
        "Role-Thinking — SECRET",
    ],
)
def test_thinking_in_a_wrapper_other_than_a_tag_stays_private(thinking: str) -> None:
    reply = parse_reply(
        f"plan</system_thinking>{thinking}\n<role_action>bows</role_action>Sir.",
        "Mr Bennet",
        prefilled=True,
    )
    assert [beat.text for beat in reply.public] == ["bows", "Sir."]
    assert any("SECRET" in beat.text for beat in reply.beats)


@pytest.mark.parametrize("label", ["内心", "内心活动", "心想", "思考过程"])
@pytest.mark.parametrize(
    "form", ["（{}：秘密。）你好。", "({}：秘密。)你好。", "{}：秘密。\n\n你好。"]
)
def test_words_that_chinese_labels_call_thoughts_are_private(label: str, form: str) -> None:
    assert "秘密" not in "".join(
        beat.text for beat in parse_reply(form.format(label), "Ann").public
    )
