"""Late answers that only one person sees. Discord keeps an interaction open for 15 minutes."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import discord

from bot.posting.attachments import create_files

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.posting.render import Outgoing

_log = logging.getLogger(__name__)


class EphemeralAnswers:
    """Keeps each person's latest `/whisper` interaction in a channel to answer it later.

    It implements `bot.posting.whisper_poster.PrivateAnswers`.
    """

    def __init__(self) -> None:
        self._latest: dict[tuple[int, int], discord.Interaction] = {}

    def keep(self, interaction: discord.Interaction) -> None:
        """Keep an answered interaction, and drop expired ones."""
        self._latest = {key: kept for key, kept in self._latest.items() if not kept.is_expired()}
        self._latest[interaction.channel_id or 0, interaction.user.id] = interaction

    async def confide(
        self,
        channel_id: int,
        user_id: int,
        messages: Sequence[Outgoing],
        view: discord.ui.View | None,
    ) -> list[int] | None:
        """Show the messages to that person only and return their ids.

        Return None if no open interaction is left or Discord refuses.
        """
        interaction = self._latest.get((channel_id, user_id))
        if interaction is None or interaction.is_expired():
            return None
        extras: dict[str, Any] = {"view": view} if view else {}
        try:
            sent = [
                await interaction.followup.send(
                    one.text, files=create_files(one), ephemeral=True, wait=True, **extras
                )
                for one in messages
            ]
        except discord.HTTPException as error:
            _log.info("A whisper could not be answered in its channel: %s", error)
            return None
        return [message.id for message in sent]
