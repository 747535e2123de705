"""The messages for a stand-in model that was never trained on HER's layout: little to read, and examples to follow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.her.layout import CharacterSheet, Message, Role, conversation
from bot.her.sanitise import sanitise_name, sanitise_text, without_headings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.her.layout import Heard

_MANNER = "Stay in character. Answer in one to three short sentences."


def messages(
    sheet: CharacterSheet, examples: Sequence[Heard], heard: Sequence[Heard]
) -> tuple[Message, ...]:
    """Return a short chat: who the character is in a few lines, the scenario's worked exchanges, what was heard.

    The roles alternate strictly, and the last message is a user's unless there is nothing but the system message.
    """
    return (Message(Role.SYSTEM, _system(sheet)), *conversation(sheet, (*examples, *heard)))


def _system(sheet: CharacterSheet) -> str:
    book = f" from {' '.join(sheet.book.split())}" if sheet.book.strip() else ""
    parts = (
        f"You are {sanitise_name(sheet.character)}{book}.",
        sheet.profile,
        sheet.scenario,
        sheet.motivation,
        _MANNER,
    )
    return sanitise_text("\n".join(told for part in parts if (told := without_headings(part))))
