"""Ten thousand hostile replies in the parser, in posts and in other characters' prompts."""

from __future__ import annotations

import re
from itertools import cycle, product
from typing import TYPE_CHECKING

import pytest

from bot.engine.protocol import FinishReason
from bot.her.beats import select_public
from bot.her.layout import CharacterSheet, HeardLine, build_messages
from bot.her.reply_parser import ReplyParser
from bot.posting.render import render_public_messages
from bot.scenes.reveal import Destination, RevealPolicy
from tests.her.sample_replies import CHARACTER, OTHERS, SECRET
from tests.proof.hostile_replies import ALL, corpus

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bot.her.beats import Beat
    from tests.proof.hostile_replies import Hostile

pytestmark = pytest.mark.timeout(600)
SPOILED = re.compile(r"\|\|.*?\|\|", re.DOTALL)
POLICIES = [
    RevealPolicy(*where) for where in product((Destination.SPOILER, Destination.OFF), repeat=2)
]
EVERYONE_ELSE = CharacterSheet(OTHERS[0], others=((CHARACTER, ""),))


def test_no_public_post_or_other_prompt_contains_a_secret_of_ten_thousand_replies() -> None:
    for hostile, policy in zip(corpus(ALL), cycle(POLICIES), strict=False):
        for beats in stages(hostile):
            aloud = "\n".join(beat.text for beat in select_public(beats))
            assert SECRET not in aloud, hostile
        for message in render_public_messages(policy.select_for_channel(beats)):
            assert SECRET not in SPOILED.sub("", message.text), hostile
        prompt = build_messages(EVERYONE_ELSE, [HeardLine(CHARACTER, select_public(beats))])
        assert SECRET not in "\n".join(message.text for message in prompt), hostile


def stages(hostile: Hostile) -> Iterator[tuple[Beat, ...]]:
    """Yield the settled beats after each chunk, and at last those of the whole reply.

    If the engine died, the whole reply is missing.
    """
    scripted = hostile.scripted
    parser = ReplyParser(CHARACTER, OTHERS, prefilled=True)
    before: tuple[Beat, ...] = ()
    yield before
    for start in range(0, len(scripted.text), scripted.chunk):
        parser.feed(scripted.text[start : start + scripted.chunk])
        if parser.beats is not before:
            yield (before := parser.beats)
    if scripted.error is None:
        yield parser.close(truncated=scripted.reason is FinishReason.LENGTH).beats
