"""Beats as messages, and the audiences that may read them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.her.beats import Beat, PublicBeat, action, planning, speech, thought
from bot.library.normalise import is_blank
from bot.posting.graphemes import utf16_length
from bot.posting.render import (
    EMBED_LIMIT,
    plain_text,
    render_gm_messages,
    render_player_messages,
    render_public_messages,
    render_runs,
)
from bot.posting.split import MESSAGE_LIMIT
from bot.scenes.reveal import (
    Audience,
    Destination,
    Revealed,
    RevealPolicy,
    release_to_gm,
    release_to_player,
)
from tests.posting.hostile_texts import bare, marked, some
from tests.posting.markdown_reader import everything, kinds, of, shown

PRIVATE = RevealPolicy()
PUBLIC = RevealPolicy(thoughts=Destination.SPOILER, planning=Destination.SPOILER)


def channel(*beats: Beat, policy: RevealPolicy = PRIVATE) -> list[str]:
    return [
        plain_text(message) for message in render_public_messages(policy.select_for_channel(beats))
    ]


def test_speech_is_plain_and_actions_are_italics_in_the_order_they_came() -> None:
    assert channel(action("looks up"), speech("You sent for me?"), action("sits")) == [
        "*looks up* You sent for me? *sits*"
    ]


def test_every_line_of_an_action_is_italics() -> None:
    assert channel(action("rises\n\nwalks to the window")) == ["*rises*\n\n*walks to the window*"]


def test_asterisks_and_underscores_in_an_action_are_escaped() -> None:
    (text,) = channel(action("sighs *deeply*_ again\\"), speech("Well."))
    assert of(text, "italics") == ["sighs *deeply*_ again\\"]
    assert everything(text) == "sighs *deeply*_ again\\ Well."


def test_line_breaks_between_beats_are_kept() -> None:
    assert channel(speech("Well.\n\n"), action("turns"), speech("\nGo.")) == [
        "Well.\n\n*turns*\nGo."
    ]


def test_punctuation_after_an_action_follows_without_a_space() -> None:
    assert channel(speech("I say"), action("coughs"), speech(", my dear")) == [
        "I say *coughs*, my dear"
    ]


def test_an_ellipsis_after_an_action_follows_with_a_space() -> None:
    assert channel(action("coughs"), speech("…well"), action("sits"), speech("...so")) == [
        "*coughs* …well *sits* ...so"
    ]


def test_an_action_after_a_code_block_starts_a_new_line() -> None:
    assert channel(speech("```py\nx\n```"), action("bows")) == ["```py\nx\n```\n*bows*"]


def test_private_beats_stay_out_of_the_channel() -> None:
    assert channel(planning("He plots."), thought("I plot."), speech("Good day.")) == ["Good day."]


def test_public_thoughts_are_spoilers_in_their_place() -> None:
    beats = (
        thought("At last."),
        action("smiles"),
        speech("Sit."),
        thought("Poor girl."),
        speech("Now then."),
    )
    assert channel(*beats, policy=PUBLIC) == [
        "💭 ||At last.||\n*smiles* Sit.\n💭 ||Poor girl.||\nNow then."
    ]


def test_public_planning_comes_first() -> None:
    assert channel(speech("Sit."), planning("Keep it dry."), policy=PUBLIC) == [
        "📝 ||Keep it dry.||\nSit."
    ]


def test_long_public_planning_becomes_a_spoiler_file() -> None:
    plan = "He must seem calm. " * 200
    (message,) = render_public_messages(PUBLIC.select_for_channel((planning(plan), speech("Sit."))))
    assert message.text == "Sit."
    assert [(file.name, file.content.decode()) for file in message.files] == [
        ("SPOILER_planning.txt", plan.strip())
    ]
    assert plain_text(message) == "Sit.\n[SPOILER_planning.txt]"


def test_a_take_with_only_long_planning_has_a_message() -> None:
    (message,) = render_public_messages(PUBLIC.select_for_channel((planning("plan " * 600),)))
    assert message.text
    assert message.files


def test_bars_in_a_thought_do_not_end_its_spoiler() -> None:
    (text,) = channel(thought("a || b|| https://a.example/x||y |"), speech("Yes."), policy=PUBLIC)
    assert shown(text) == "💭 \nYes."
    assert of(text, "spoiler") == ["a || b|| https://a.example/x||y |"]


def test_code_in_a_thought_does_not_end_its_spoiler() -> None:
    (text,) = channel(
        speech("a ` tick"), thought("```py\nx = '`'\n```"), speech("` more"), policy=PUBLIC
    )
    assert of(text, "spoiler") == ["```py\nx = '`'\n```"]
    assert shown(text) == "a ` tick\n💭 \n` more"


def test_the_head_is_in_every_message_and_counts_towards_the_limit() -> None:
    messages = render_public_messages(
        PRIVATE.select_for_channel((speech("word " * 900),)), head="**Mr Bennet**\n"
    )
    assert len(messages) == 3
    assert all(message.text.startswith("**Mr Bennet**\nword") for message in messages)
    assert all(utf16_length(message.text) <= MESSAGE_LIMIT for message in messages)


@pytest.mark.parametrize("nothing", [(), (speech(" "),), (action("\u200b"), speech("\n\n"))])
def test_a_blank_take_has_no_messages(nothing: tuple[PublicBeat, ...]) -> None:
    assert channel(*nothing) == []


def test_game_masters_read_planning_and_thoughts_without_formatting() -> None:
    freed = PRIVATE.release(
        (thought("Poor *girl*."), planning("Dry."), speech("Sit.")), Audience.GM
    )
    (message,) = render_gm_messages("Mr Bennet", freed)
    assert message.author == "Mr Bennet"
    assert everything(message.text) == "📝 Dry.\n\n💭 Poor *girl*."
    assert kinds(message.text) == set()


def test_long_planning_for_a_game_master_is_several_embeds() -> None:
    messages = render_gm_messages("Mr Bennet", release_to_gm((planning("plan " * 2000),)))
    assert len(messages) == 3
    assert all(utf16_length(message.text) <= EMBED_LIMIT for message in messages)


def test_a_private_beat_without_a_decision_is_rejected() -> None:
    secret: Any = thought("secret")
    with pytest.raises(TypeError, match="not a revealed beat"):
        render_public_messages([secret])
    with pytest.raises(TypeError, match="not a revealed beat"):
        render_gm_messages("Mr Bennet", [secret])
    with pytest.raises(TypeError, match="not a public beat"):
        render_runs([secret])


def test_a_beat_revealed_to_one_audience_is_rejected_for_the_other() -> None:
    for beat in (thought("secret"), planning("secret")):
        with pytest.raises(ValueError, match="revealed to gm, not to channel"):
            render_public_messages([speech("Sit."), Revealed(beat, Audience.GM)])
        with pytest.raises(ValueError, match="revealed to channel, not to gm"):
            render_gm_messages("Mr Bennet", [Revealed(beat, Audience.CHANNEL)])


def test_no_repr_contains_private_text() -> None:
    (message,) = render_public_messages(PUBLIC.select_for_channel((planning("secret " * 600),)))
    assert "secret" not in repr(
        [message, message.files, *render_gm_messages("A", release_to_gm((thought("secret"),)))]
    )


beats = st.lists(
    st.one_of(
        st.builds(speech, marked),
        st.builds(action, marked),
        st.builds(lambda text: thought(f"{text}Qsecret{text}"), marked),
        st.builds(lambda text: planning(f"{text}Qsecret{text}"), marked),
    ),
    max_size=8,
)


@some
@given(beats)
def test_thoughts_are_visible_only_inside_spoilers(take: list[Beat]) -> None:
    private = [beat for beat in take if not isinstance(beat, PublicBeat)]
    messages = render_public_messages(PUBLIC.select_for_channel(tuple(take)))
    assert not any("Qsecret" in shown(message.text) for message in messages)
    hidden = "".join(text for message in messages for text in of(message.text, "spoiler"))
    in_files = b"".join(file.content for message in messages for file in message.files).decode()
    assert bare(hidden + in_files).count("Qsecret") == len(private)


@some
@given(beats)
def test_every_message_fits_and_has_no_mentions(take: list[Beat]) -> None:
    for message in (
        *render_public_messages(PUBLIC.select_for_channel(tuple(take))),
        *render_public_messages(PRIVATE.select_for_channel(tuple(take))),
    ):
        assert utf16_length(message.text) <= MESSAGE_LIMIT
        assert not is_blank(message.text)
        assert "mention" not in kinds(message.text)


@some
@given(beats)
def test_private_text_is_in_no_message_unless_the_game_master_reveals_it(take: list[Beat]) -> None:
    assert not any(
        "Qsecret" in bare(plain_text(message))
        for message in render_public_messages(PRIVATE.select_for_channel(tuple(take)))
    )


def test_read_opened_thoughts_are_rendered_for_their_player_only() -> None:
    beats = (planning("Dry."), thought("Poor *girl*."), speech("Sit."))
    opened = release_to_player(beats, 7)
    (message,) = render_player_messages("Mr Bennet", opened, 7)
    assert message.text.startswith("**Mr Bennet**\n💭 Poor")
    assert "Dry" not in message.text
    with pytest.raises(ValueError, match="another player"):
        render_player_messages("Mr Bennet", opened, 8)
    with pytest.raises(ValueError, match="revealed to gm, not to player"):
        render_player_messages("Mr Bennet", release_to_gm(beats), 7)
    with pytest.raises(ValueError, match="revealed to player, not to channel"):
        render_public_messages(opened)
    with pytest.raises(ValueError, match="revealed to player, not to gm"):
        render_gm_messages("Mr Bennet", opened)


def test_a_beat_for_one_player_names_the_player() -> None:
    beat = thought("Poor girl.")
    for audience, reader_id in ((Audience.PLAYER, None), (Audience.CHANNEL, 7), (Audience.GM, 7)):
        with pytest.raises(ValueError, match="that player"):
            Revealed(beat, audience, reader_id)
    with pytest.raises(ValueError, match="release_to_player"):
        RevealPolicy().release((beat,), Audience.PLAYER)
