"""Every message fits, closes its markup, and keeps the text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.library.normalise import is_blank
from bot.posting.escaping import escape_text
from bot.posting.graphemes import ZERO_WIDTH_SPACE, utf16_length
from bot.posting.speech_markdown import parse_speech
from bot.posting.split import MESSAGE_LIMIT, FormattedRun, Markup, split_into_messages
from tests.posting.hostile_texts import bare, marked, some, words
from tests.posting.markdown_reader import everything, kinds, of, shown

ITALICS = Markup("*", "*")
SPOILER = Markup("💭 ||", "||")
FENCE = Markup("```py\n", "\n```", verbatim=True)
MARKS: list[tuple[Markup, ...]] = [
    (),
    (ITALICS,),
    (SPOILER,),
    (FENCE,),
    (Markup("**", "**"), ITALICS),
]

runs = st.lists(
    st.builds(
        lambda text, marks: FormattedRun(escape_text(text), marks),
        marked | words,
        st.sampled_from(MARKS),
    )
)


def plain(text: str, limit: int = MESSAGE_LIMIT) -> list[str]:
    return split_into_messages([FormattedRun(text)], limit)


def test_short_text_is_one_message() -> None:
    assert plain("Come here, child.") == ["Come here, child."]


@pytest.mark.parametrize("text", ["", "   ", "\n\n", "\u200b \u3164"])
def test_blank_text_has_no_messages(text: str) -> None:
    assert plain(text) == []
    assert (
        split_into_messages(
            [FormattedRun(text, (ITALICS,)), FormattedRun("\n"), FormattedRun(text, (FENCE,))]
        )
        == []
    )


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("One two.\n\nThree. Four\nfive six seven", "One two.\n\nThree. Four"),
        ("Some words here.\n\nMore. And more of them", "Some words here."),
        ("Here is a line\nand more of that line", "Here is a line"),
        ("Are you quite well? I hope you are", "Are you quite well?"),
        ("She said: “Never!” And then she left us", "She said: “Never!”"),
        ("there are only words here and no stops", "there are only words here"),
        ("supercalifragilisticexpialidocious", "supercalifragilisticexpialid"),
        (
            "她来了。他走了。大家都在花园里等着他们。可是谁也没有说话，除了她",
            "她来了。他走了。大家都在花园里等着他们。",
        ),
    ],
)
def test_a_cut_is_made_at_the_best_place(text: str, first: str) -> None:
    assert plain(text, 29)[0] == first


@pytest.mark.parametrize("letter", ["x", "漢", "🙂", "👩‍👩‍👧", "e\u0301"])
def test_a_line_longer_than_a_message_is_cut_between_characters(letter: str) -> None:
    messages = plain(letter * 3000)
    assert "".join(messages) == letter * 3000
    assert all(
        utf16_length(message) <= MESSAGE_LIMIT and len(message) % len(letter) == 0
        for message in messages
    )
    assert len(messages) <= utf16_length(letter) * 3000 // (MESSAGE_LIMIT - 10) + 1


def test_a_message_holds_as_many_chinese_as_english_characters() -> None:
    assert len(plain("漢" * 2 * 1999)) == 2


def test_a_code_block_that_is_cut_is_complete_in_both_messages() -> None:
    code = "\n".join(f"    line_{number} = {number}" for number in range(300))
    messages = split_into_messages(parse_speech(f"Here:\n```py\n{code}\n```\nDone."))
    assert len(messages) > 2
    assert all(utf16_length(message) <= MESSAGE_LIMIT for message in messages)
    assert all(message.startswith("```py\n    line_") for message in messages[1:])
    assert all(message.endswith("\n```") for message in messages[:-1])
    assert "\n".join(text for message in messages for text in of(message, "fence")) == code


def test_a_spoiler_that_is_cut_hides_both_halves() -> None:
    messages = split_into_messages([FormattedRun(escape_text("I hate him. " * 300), (SPOILER,))])
    assert len(messages) == 2
    assert [shown(message) for message in messages] == ["💭 ", "💭 "]


def test_italics_that_are_cut_are_italics_in_both_messages() -> None:
    messages = split_into_messages([FormattedRun(escape_text("walks on and " * 300), (ITALICS,))])
    assert [kinds(message) for message in messages] == [{"italics"}, {"italics"}]
    assert all(message[1] != " " and message[-2] != " " for message in messages)


def test_emphasis_in_speech_continues_after_a_cut() -> None:
    messages = split_into_messages(parse_speech(f"**{'I will not, *never*, do it. ' * 100}No.**"))
    assert len(messages) > 1
    assert all(message.startswith("**") and message.endswith("**") for message in messages)


def test_a_cut_does_not_turn_the_middle_of_a_line_into_a_heading_or_list() -> None:
    for start in ("# one", "- one", "1. one", "> one"):
        assert plain(f"{'x' * 28} {start} two three", 29) == [
            "x" * 28,
            f"{ZERO_WIDTH_SPACE}{start} two three",
        ]


def test_a_list_stays_a_list_after_a_cut() -> None:
    assert plain("- one two three four\n- five six seven", 29)[1] == "- five six seven"


@some
@given(words)
def test_words_keep_their_order(text: str) -> None:
    messages = plain(text)
    assert " ".join(messages) == text
    assert all(len(message) <= MESSAGE_LIMIT for message in messages)


@some
@given(runs, st.integers(60, 300))
def test_every_message_fits_and_is_complete_and_every_letter_is_kept(
    given_runs: list[FormattedRun], limit: int
) -> None:
    apart = [piece for run in given_runs for piece in (run, FormattedRun("\n"))]
    messages = split_into_messages(apart, limit)
    assert all(utf16_length(message) <= limit and not is_blank(message) for message in messages)
    assert all(
        message.count("||") % 2 == 0 and message.count("```") % 2 == 0 for message in messages
    )
    texts = (everything(message).replace("💭 ", "") for message in messages)
    assert bare("".join(texts)) == bare("".join(everything(run.text) for run in given_runs))
    hidden = "".join(text for message in messages for text in of(message, "spoiler"))
    assert bare(hidden) == bare(
        "".join(everything(run.text) for run in given_runs if SPOILER in run.marks)
    )


@some
@given(marked, st.integers(60, 200))
def test_speech_of_any_kind_fits(text: str, limit: int) -> None:
    assert all(
        utf16_length(message) <= limit and not is_blank(message)
        for message in split_into_messages(parse_speech(text), limit)
    )
