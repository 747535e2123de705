"""Properties of any reply in any chunks: secrets stay private, final beats stay unchanged."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.her.beats import Beat, PublicBeat, select_public
from bot.her.layout import format_open_turn, format_others_history, format_own_history
from bot.her.reply_parser import ParsedReply, ReplyParser
from tests.her.malformed_replies import (
    generate_with_one_fault,
    generate_with_two_faults,
    list_pieces,
)
from tests.her.sample_replies import (
    CHARACTER,
    DOUBTFUL_FAULTS,
    HARMLESS_FAULTS,
    OTHERS,
    SECRET,
    SWAPPED_TAGS,
    TEXT_AFTER_THE_END,
    SampleReply,
    faulty_replies,
    well_formed_replies,
)

FRAGMENTS = (
    "<role_thinking>",
    "</role_thinking>",
    "<role_action>",
    "</role_action>",
    "<role_speech>",
    "</role_speech>",
    "<system_thinking>",
    "</system_thinking>",
    "<think>",
    "</think>",
    "</role_",
    "</",
    "<",
    "＜",
    ">",
    "role_thinking",
    "role_thinking:",
    "< ",
    "[role_thinking]",
    "【内心】",
    "&lt;",
    "&",
    "<|im_end|>",
    "<|",
    "|>",
    "a=1 ",
    "Elizabeth",
    "Elizabeth Bennet: ",
    "Mr. Darcy:",
    "Jane",
    "(softly)",
    ":",
    "===",
    "===Conversation Start===",
    "*",
    "**",
    "*waves* ",
    "`",
    "```",
    "\\",
    "\n",
    "\n\n",
    " ",
    "Hello there. ",
    "word ",
    "你好",
    "b" * 30,
)
fragments = st.lists(st.sampled_from(FRAGMENTS), max_size=25).map("".join)
modes = st.fixed_dictionaries({"prefilled": st.booleans(), "well_formed": st.booleans()})


def stream_reply(
    text: str, size: int, *, prefilled: bool, well_formed: bool = False
) -> tuple[ParsedReply, list[tuple[Beat, ...]]]:
    """Return the reply, and the beats after each chunk of `size` characters."""
    parser = ReplyParser(CHARACTER, OTHERS, prefilled=prefilled, well_formed=well_formed)
    snapshots = []
    for start in range(0, len(text), size):
        parser.feed(text[start : start + size])
        snapshots.append(parser.beats)
    return parser.close(), snapshots


def is_prefix(part: tuple[Beat, ...], whole: tuple[Beat, ...]) -> bool:
    if not part:
        return True
    *before, last = part
    return (
        len(part) <= len(whole)
        and tuple(before) == whole[: len(before)]
        and last.kind is whole[len(before)].kind
        and whole[len(before)].text.startswith(last.text)
    )


def join_public(beats: tuple[Beat, ...]) -> str:
    return "\n".join(beat.text for beat in select_public(beats))


def assert_no_secret_leaks(sample: SampleReply) -> None:
    for size in (3, len(sample.text) or 1):
        reply, snapshots = stream_reply(sample.text, size, prefilled=sample.prefilled)
        for beats in (*snapshots, reply.beats):
            assert SECRET not in join_public(beats)
        assert SECRET not in format_others_history(CHARACTER, reply.beats)


@given(fragments, modes, st.integers(1, 9))
@settings(max_examples=100, deadline=None)
def test_chunks_do_not_matter_and_final_beats_never_change(
    text: str, mode: dict[str, bool], size: int
) -> None:
    whole, _ = stream_reply(text, len(text) or 1, **mode)
    reply, snapshots = stream_reply(text, size, **mode)
    assert reply == whole
    assert all(is_prefix(beats, reply.beats) for beats in snapshots)


@given(
    st.one_of(
        faulty_replies({**HARMLESS_FAULTS, **DOUBTFUL_FAULTS}, 4),
        faulty_replies({**DOUBTFUL_FAULTS, **SWAPPED_TAGS}, 2),
    ),
    st.integers(1, 9),
)
@settings(max_examples=50, deadline=None)
def test_beats_of_a_malformed_reply_never_change_once_final(sample: SampleReply, size: int) -> None:
    reply, snapshots = stream_reply(sample.text, size, prefilled=sample.prefilled)
    assert reply == stream_reply(sample.text, len(sample.text) or 1, prefilled=sample.prefilled)[0]
    assert all(is_prefix(beats, reply.beats) for beats in snapshots)


@given(faulty_replies({**HARMLESS_FAULTS, **DOUBTFUL_FAULTS}, 4))
@settings(max_examples=100, deadline=None)
def test_no_secret_leaks_from_a_reply_with_several_faults(sample: SampleReply) -> None:
    assert_no_secret_leaks(sample)


@given(well_formed_replies(), st.data())
@settings(max_examples=50, deadline=None)
def test_no_secret_leaks_from_a_reply_truncated_anywhere(
    sample: SampleReply, data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(sample.text)))
    reply, _ = (
        stream_reply(sample.text[:cut], 4, prefilled=True)
        if sample.prefilled
        else stream_reply(sample.text[: max(cut, len(sample.planning.opener))], 4, prefilled=False)
    )
    assert SECRET not in join_public(reply.beats)


@given(faulty_replies(HARMLESS_FAULTS, 6), st.sampled_from(("", *TEXT_AFTER_THE_END)))
@settings(max_examples=100, deadline=None)
def test_clearly_public_text_is_kept_in_order_without_secrets(
    sample: SampleReply, tail: str
) -> None:
    sample = replace(sample, tail=tail)
    reply, _ = stream_reply(sample.text, 5, prefilled=sample.prefilled)
    heard = join_public(reply.beats)
    places = [heard.index(words) for _, words in sample.public]
    assert places == sorted(places)
    assert SECRET not in heard
    assert CHARACTER.split()[0] not in heard
    assert reply.closed
    assert reply.stopped == bool(tail)


@given(well_formed_replies())
@settings(max_examples=40, deadline=None)
def test_kinds_are_kept_and_thoughts_enter_the_own_history_only(sample: SampleReply) -> None:
    reply, _ = stream_reply(sample.text, 7, prefilled=sample.prefilled)
    for kind, words in sample.public:
        assert any(
            isinstance(beat, PublicBeat) and beat.kind == kind and words in beat.text
            for beat in reply.beats
        )
    own = format_own_history(CHARACTER, reply.beats)
    for piece in sample.role:
        assert piece.words in own
    assert sample.planning.words not in own


@given(well_formed_replies())
@settings(max_examples=40, deadline=None)
def test_an_open_turn_parses_to_the_same_beats(sample: SampleReply) -> None:
    beats = stream_reply(sample.text, 7, prefilled=sample.prefilled)[0].beats
    assert stream_reply(format_open_turn(CHARACTER, beats), 5, prefilled=False)[0].beats == beats


@given(well_formed_replies(), st.sampled_from(TEXT_AFTER_THE_END))
@settings(max_examples=40, deadline=None)
def test_with_a_grammar_words_are_final_one_by_one(sample: SampleReply, tail: str) -> None:
    text = sample.text + tail
    reply, snapshots = stream_reply(text, 1, prefilled=sample.prefilled, well_formed=True)
    assert reply == stream_reply(text, len(text), prefilled=sample.prefilled, well_formed=True)[0]
    assert join_public(reply.beats) == join_public(
        stream_reply(text, len(text), prefilled=sample.prefilled)[0].beats
    )
    assert len({join_public(beats) for beats in snapshots}) > len(sample.public)
    assert SECRET not in join_public(reply.beats)


def test_no_secret_leaks_from_any_short_reply_with_two_faults() -> None:
    for sample in generate_with_two_faults(2):
        reply, _ = stream_reply(sample.text, len(sample.text), prefilled=sample.prefilled)
        assert SECRET not in join_public(reply.beats), sample


@given(faulty_replies({**HARMLESS_FAULTS, **DOUBTFUL_FAULTS, **SWAPPED_TAGS}, 2))
@settings(max_examples=150, deadline=None)
def test_no_secret_leaks_from_a_longer_reply_with_two_faults(sample: SampleReply) -> None:
    assert_no_secret_leaks(sample)


def test_one_fault_affects_text_up_to_the_next_tag_only() -> None:
    """Text between a fault and the next tag may be in doubt. Everything after it is public."""
    for sample, place, faulty in generate_with_one_fault(3):
        heard = join_public(
            stream_reply(faulty.text, len(faulty.text), prefilled=faulty.prefilled)[0].beats
        )
        for other, piece in enumerate(list_pieces(sample)):
            first, last = sorted((place, other))
            apart = any(between.opener for between in list_pieces(sample)[first + 1 : last])
            if place and apart and piece.kind in ("action", "speech"):
                assert piece.words in heard, faulty
