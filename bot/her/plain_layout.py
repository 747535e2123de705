"""Build chat messages for a capable model that was never trained on HER's layout.

They have HER's sections, describe the structure of a reply in plain words and show examples of it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bot.her import layout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.her.layout import CharacterSheet, HeardItem, Message

REQUIREMENTS: Final = """\
Write {character}'s next turn in this conversation, and nothing else.
1. Begin with a plan: one or two sentences about how to play {character} now, in the third person, \
between <system_thinking> and </system_thinking>. Only you see it.
2. Then write the turn itself. Put each thought of {character} between <role_thinking> and \
</role_thinking>. Put each action between <role_action> and </role_action>. Write spoken words \
without tags. Use thoughts, actions and speech in any order, and always some speech or action.
The turns in the conversation show only part 2. This is a whole reply:
<system_thinking>{character} is glad of the visit but wants to hide it, so the answer is cool.\
</system_thinking>{character}: <role_thinking>At last. I must not smile.</role_thinking>\
<role_action>puts the book down slowly</role_action>You are late.
Stay {character}. Do not write other people's words or actions. Answer in the language of the \
conversation, in at most 200 words."""


def build_messages(
    sheet: CharacterSheet, examples: Sequence[HeardItem], heard: Sequence[HeardItem]
) -> tuple[Message, ...]:
    """Return a chat of HER's system message in plain words, the `examples`, and then `heard`.

    `examples` are the scenario's. A Requirements section that the operator has set is kept.
    """
    if sheet.requirements == layout.REQUIREMENTS:
        sheet = replace(sheet, requirements=REQUIREMENTS)
    return layout.build_messages(sheet, (*examples, *heard))
