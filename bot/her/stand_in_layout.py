"""Build chat messages for a stand-in model, which was never trained on HER's layout.

They are short and contain examples to follow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.her.layout import CharacterSheet, Message, Role, build_conversation
from bot.her.sanitise import remove_headings, sanitise_name, sanitise_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.her.layout import HeardItem

_MANNER = "Stay in character. Answer in one to three short sentences."


def build_messages(
    sheet: CharacterSheet, examples: Sequence[HeardItem], heard: Sequence[HeardItem]
) -> tuple[Message, ...]:
    """Return a short chat: the character in a few lines, the scenario's `examples`, then `heard`.

    Roles alternate strictly. The last message is a user's, unless the system message is the only
    one.
    """
    return (Message(Role.SYSTEM, _system(sheet)), *build_conversation(sheet, (*examples, *heard)))


def _system(sheet: CharacterSheet) -> str:
    book = f" from {' '.join(sheet.book.split())}" if sheet.book.strip() else ""
    parts = (
        f"You are {sanitise_name(sheet.character)}{book}.",
        sheet.profile,
        sheet.memory,
        sheet.scenario,
        sheet.motivation,
        _MANNER,
    )
    return sanitise_text("\n".join(text for part in parts if (text := remove_headings(part))))
