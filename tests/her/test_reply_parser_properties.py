"""Whatever a model writes and however it is cut into chunks: no secret leaks, nothing settled changes."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.her.beats import Beat, PublicBeat, select_public
from bot.her.layout import format_open_turn, format_others_history, format_own_history
from bot.her.reply_parser import ParsedReply, ReplyParser
from tests.her.malformed_replies import pieces, with_one_fault, with_two_faults
from tests.her.sample_replies import (
    AFTER_THE_END,
    BROKEN,
    CHARACTER,
    ODD,
    OTHERS,
    SECRET,
    SWAPPED,
    Written,
    well_formed,
    with_faults,
)

SHREDS = (
    "<role_thinking>", "</role_thinking>", "<role_action>", "</role_action>", "<role_speech>", "</role_speech>",
    "<system_thinking>", "</system_thinking>", "<think>", "</think>", "</role_", "</", "<", "＜", ">", "role_thinking",
    "role_thinking:", "< ", "[role_thinking]", "【内心】", "&lt;", "&", "<|im_end|>", "<|", "|>", "a=1 ",
    "Elizabeth", "Elizabeth Bennet: ", "Mr. Darcy:", "Jane", "(softly)", ":", "===", "===Conversation Start===",
    "*", "**", "*waves* ", "`", "```", "\\", "\n", "\n\n", " ", "Hello there. ", "word ", "你好", "b" * 30,
)  # fmt: skip
shreds = st.lists(st.sampled_from(SHREDS), max_size=25).map("".join)
modes = st.fixed_dictionaries({"prefilled": st.booleans(), "well_formed": st.booleans()})


def read(
    text: str, size: int, *, prefilled: bool, well_formed: bool = False
) -> tuple[ParsedReply, list[tuple[Beat, ...]]]:
    """The reply, and what had settled after each chunk of `size` characters."""
    parser = ReplyParser(CHARACTER, OTHERS, prefilled=prefilled, well_formed=well_formed)
    settled = []
    for start in range(0, len(text), size):
        parser.feed(text[start : start + size])
        settled.append(parser.beats)
    return parser.close(), settled


def begins(part: tuple[Beat, ...], whole: tuple[Beat, ...]) -> bool:
    if not part:
        return True
    *before, last = part
    return (
        len(part) <= len(whole)
        and tuple(before) == whole[: len(before)]
        and last.kind is whole[len(before)].kind
        and whole[len(before)].text.startswith(last.text)
    )


def aloud(beats: tuple[Beat, ...]) -> str:
    return "\n".join(beat.text for beat in select_public(beats))


def assert_no_secret_leaks(written: Written) -> None:
    for size in (3, len(written.text) or 1):
        reply, settled = read(written.text, size, prefilled=written.prefilled)
        for beats in (*settled, reply.beats):
            assert SECRET not in aloud(beats)
        assert SECRET not in format_others_history(CHARACTER, reply.beats)


@given(shreds, modes, st.integers(1, 9))
@settings(max_examples=100, deadline=None)
def test_the_chunks_never_matter_and_what_has_settled_stays(
    text: str, mode: dict[str, bool], size: int
) -> None:
    whole, _ = read(text, len(text) or 1, **mode)
    reply, settled = read(text, size, **mode)
    assert reply == whole
    assert all(begins(beats, reply.beats) for beats in settled)


@given(
    st.one_of(with_faults({**ODD, **BROKEN}, 4), with_faults({**BROKEN, **SWAPPED}, 2)),
    st.integers(1, 9),
)
@settings(max_examples=50, deadline=None)
def test_a_malformed_reply_settles_like_any_other(written: Written, size: int) -> None:
    reply, settled = read(written.text, size, prefilled=written.prefilled)
    assert reply == read(written.text, len(written.text) or 1, prefilled=written.prefilled)[0]
    assert all(begins(beats, reply.beats) for beats in settled)


@given(with_faults({**ODD, **BROKEN}, 4))
@settings(max_examples=100, deadline=None)
def test_no_secret_leaks_from_a_reply_with_several_faults(written: Written) -> None:
    assert_no_secret_leaks(written)


@given(well_formed(), st.data())
@settings(max_examples=50, deadline=None)
def test_no_secret_leaks_from_a_reply_cut_short_anywhere(
    written: Written, data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(written.text)))
    reply, _ = (
        read(written.text[:cut], 4, prefilled=True)
        if written.prefilled
        else read(written.text[: max(cut, len(written.planning.opener))], 4, prefilled=False)
    )
    assert SECRET not in aloud(reply.beats)


@given(with_faults(ODD, 6), st.sampled_from(("", *AFTER_THE_END)))
@settings(max_examples=100, deadline=None)
def test_what_is_clearly_public_is_heard_in_order_and_no_more(written: Written, tail: str) -> None:
    written = replace(written, tail=tail)
    reply, _ = read(written.text, 5, prefilled=written.prefilled)
    heard = aloud(reply.beats)
    places = [heard.index(words) for _, words in written.public]
    assert places == sorted(places)
    assert SECRET not in heard
    assert CHARACTER.split()[0] not in heard
    assert reply.closed
    assert reply.stopped == bool(tail)


@given(well_formed())
@settings(max_examples=40, deadline=None)
def test_natures_are_told_apart_and_thoughts_reach_their_own_mind_only(written: Written) -> None:
    reply, _ = read(written.text, 7, prefilled=written.prefilled)
    for nature, words in written.public:
        assert any(
            isinstance(beat, PublicBeat) and beat.kind == nature and words in beat.text
            for beat in reply.beats
        )
    own = format_own_history(CHARACTER, reply.beats)
    for piece in written.role:
        assert piece.words in own
    assert written.planning.words not in own


@given(well_formed())
@settings(max_examples=40, deadline=None)
def test_a_turn_that_is_to_go_on_reads_as_it_was(written: Written) -> None:
    beats = read(written.text, 7, prefilled=written.prefilled)[0].beats
    assert read(format_open_turn(CHARACTER, beats), 5, prefilled=False)[0].beats == beats


@given(well_formed(), st.sampled_from(AFTER_THE_END))
@settings(max_examples=40, deadline=None)
def test_a_grammar_lets_words_settle_one_by_one(written: Written, tail: str) -> None:
    text = written.text + tail
    reply, settled = read(text, 1, prefilled=written.prefilled, well_formed=True)
    assert reply == read(text, len(text), prefilled=written.prefilled, well_formed=True)[0]
    assert aloud(reply.beats) == aloud(read(text, len(text), prefilled=written.prefilled)[0].beats)
    assert len({aloud(beats) for beats in settled}) > len(written.public)
    assert SECRET not in aloud(reply.beats)


def test_no_secret_leaks_from_any_short_reply_with_two_faults() -> None:
    for written in with_two_faults(2):
        reply, _ = read(written.text, len(written.text), prefilled=written.prefilled)
        assert SECRET not in aloud(reply.beats), written


@given(with_faults({**ODD, **BROKEN, **SWAPPED}, 2))
@settings(max_examples=150, deadline=None)
def test_no_secret_leaks_from_a_longer_reply_with_two_faults(written: Written) -> None:
    assert_no_secret_leaks(written)


def test_what_one_fault_costs_ends_with_the_next_tag() -> None:
    """What stands between a fault and the next tag may be in doubt. Everything beyond is heard."""
    for written, place, faulty in with_one_fault(3):
        heard = aloud(read(faulty.text, len(faulty.text), prefilled=faulty.prefilled)[0].beats)
        for other, piece in enumerate(pieces(written)):
            first, last = sorted((place, other))
            apart = any(between.opener for between in pieces(written)[first + 1 : last])
            if place and apart and piece.nature in ("action", "speech"):
                assert piece.words in heard, faulty
