"""Answers that only one person sees, given later: their interaction is good for a quarter of an hour."""

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
    """Keeps the latest interaction with which each person whispered in a channel: a `bot.posting.whisper_poster.PrivateAnswers`."""

    def __init__(self) -> None:
        self._latest: dict[tuple[int, int], discord.Interaction] = {}

    def keep(self, interaction: discord.Interaction) -> None:
        """Remember an interaction that has been answered, and forget dead ones."""
        self._latest = {key: kept for key, kept in self._latest.items() if not kept.is_expired()}
        self._latest[interaction.channel_id or 0, interaction.user.id] = interaction

    async def confide(
        self,
        channel_id: int,
        user_id: int,
        messages: Sequence[Outgoing],
        view: discord.ui.View | None,
    ) -> list[int] | None:
        """Show these messages to that person alone; return their ids, or None where there is no way any more."""
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
            _log.info("A person could not be answered where they whispered: %s", error)
            return None
        return [message.id for message in sent]
