"""The result of an interaction, as the person who began it sees it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .conversation import DiscordMessage, Interaction
    from .entities import Json


@dataclass(frozen=True, slots=True)
class Choice:
    """An option value offered while a person types."""

    name: str
    value: str | int | float


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answers to an interaction so far. It grows while the bot goes on answering."""

    interaction: Interaction

    @property
    def failed(self) -> bool:
        """Return whether the person reads "The application did not respond"."""
        return self.interaction.answer is None

    @property
    def thinking(self) -> bool:
        """Return whether the person still reads "… is thinking"."""
        original = self.interaction.original
        return original is not None and original.thinking

    @property
    def messages(self) -> list[DiscordMessage]:
        """The bot's answers that still exist, oldest first.

        An edited source message is not among them.
        """
        original = self.interaction.original
        mine = [original] if original and original is not self.interaction.source else []
        return [
            each
            for each in (*mine, *self.interaction.followups)
            if not each.deleted and not each.thinking
        ]

    @property
    def message(self) -> DiscordMessage:
        """The first answer."""
        assert self.messages, "there is no answer" if self.failed else "the answer has no message"
        return self.messages[0]

    @property
    def text(self) -> str:
        """The text of all answers, embeds included, joined by line breaks."""
        return "\n".join(
            "\n".join(text for text in each.now.texts() if text) for each in self.messages
        )

    @property
    def ephemeral(self) -> bool:
        """Return whether only this person can read the answers."""
        return all(each.ephemeral for each in self.messages)

    @property
    def modal(self) -> Json | None:
        """The form that opened."""
        return self.interaction.modal

    @property
    def updated(self) -> DiscordMessage | None:
        """The message with the pressed button, if the answer changed it."""
        original = self.interaction.original
        return original if original is self.interaction.source else None
