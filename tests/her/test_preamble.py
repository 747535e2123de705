"""Thinking without tags, as distilled reasoning models write it, and speech that resembles it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.her.test_thinking_formats import parse_in_chunks

PREAMBLES = (
    "Okay, the user wants me to play Elizabeth. SECRET\n\n",
    "Okay, the user wants me to play Elizabeth. SECRET\nElizabeth Bennet: ",
    "OK, so the user said hello as Mr Darcy, SECRET.\n\nElizabeth: ",
    "The user is asking about the ball. SECRET\n\n",
    "User wants a reply. SECRET\n\n",
    "We need to respond as Elizabeth. SECRET\n\n",
    "Let me think about how Elizabeth would respond here. SECRET\n\n",
    "So, I'm supposed to stay in character. SECRET\n\n",
    (
        "Alright, I need to respond as Elizabeth Bennet. SECRET SECRET.\n\n"
        "First, I should consider her personality. SECRET\n\n"
    ),
    (
        "Okay, so I need to write a reply as Elizabeth. SECRET\n\n"
        "Maybe she would tease him. SECRET\n\nElizabeth: "
    ),
    (
        "Okay. Let me see. The user has written a line as Mr Darcy. SECRET\n- tone: SECRET\n\n"
        "I should keep my response short. SECRET\n\nElizabeth Bennet: "
    ),
    "嗯，用户让我扮演伊丽莎白，SECRET。\n\n",
    "好的，我需要扮演伊丽莎白·班内特这个角色。SECRET\n\n首先，我应该考虑她的性格。SECRET\n\n",
    "D'accord, l'utilisateur me demande de jouer. SECRET\n\n",
    "Okay, der Nutzer möchte, dass ich spiele. SECRET\n\n",
    "Vale, el usuario quiere que responda. SECRET\n\n",
    "Хорошо, пользователь хочет SECRET\n\n",
    "まず、ユーザーは私に SECRET\n\n",
    "Here is my thought process:\nSECRET\n\nHere is my response:\n",
    "Here are my reasoning steps:\nSECRET\n[BEGIN FINAL RESPONSE]\n",
    "Thinking...\nSECRET\n...done thinking.\n\n",
    "--- Thinking ---\nSECRET\n--- End thinking ---\n",
    "::: thinking\nSECRET\n:::\n",
)
SPEECH = (
    "Okay, let me think about it, Lizzy.",
    "Alright, I need to go now, Papa.\n\nGood night.",
    "Let me think… no, I can't.",
    "I need to play the piano.",
    "Well, the part of a fool suits you.",
    "Hmm, what would Papa say?",
    "Okay! The user of this sword must be brave.",
    "First, I shall dance. Then I shall sing.",
    "So you wish me to stay?",
    "Now, the response was unkind.",
    "I should write a letter to Jane.",
    "嗯，我需要想一想。",
    "好的，我们走吧。",
    "Right, you play the villain, I'll play the maid.",
    "Let's play a scene from Hamlet, Jane!",
    "I have to answer as a lady, not as your daughter.",
    "I must speak as a friend.",
    "Alright, alright. The player wants his fee.",
    "My reply will reach you by post.",
    "I must write a reply to Lady Catherine.",
    "You play the part of a dutiful son well.",
    "Let's roleplay the interview.",
    "我们来玩角色扮演吧。",
    "你扮演什么角色？",
    "Elizabeth would never say so, they claim. But Elizabeth does.",
    "Thought for thought, I prefer mine.",
    "… do you hear?",
    "The end of thought is action.",
)
MODES = ((False, False), (True, False), (True, True))
sizes = st.integers(1, 40)


@given(st.sampled_from(PREAMBLES), st.sampled_from(MODES), sizes)
@settings(max_examples=200, deadline=None)
def test_a_reply_that_begins_with_its_task_keeps_that_private(
    preamble: str, mode: tuple[bool, bool], size: int
) -> None:
    prefilled, well_formed = mode
    reply, snapshots = parse_in_chunks(
        f"{preamble}Good day, sir.", size, prefilled=prefilled, well_formed=well_formed
    )
    assert not any("SECRET" in heard for heard in snapshots)
    assert snapshots[-1] == "Good day, sir."
    assert any("SECRET" in beat.text for beat in reply.beats)


@pytest.mark.parametrize("text", SPEECH)
def test_speech_that_resembles_thinking_stays_speech(text: str) -> None:
    for prefilled, well_formed in MODES:
        for size in (1, 4, len(text)):
            reply, _ = parse_in_chunks(text, size, prefilled=prefilled, well_formed=well_formed)
            assert "".join(beat.text for beat in reply.public) == text


def test_a_reply_that_is_only_about_its_task_has_no_speech() -> None:
    reply, _ = parse_in_chunks(
        "Okay, the user wants me to play Elizabeth, so good day it is.",
        5,
        prefilled=True,
        well_formed=False,
    )
    assert reply.public == ()
