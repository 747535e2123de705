"""Private notices for game masters whose direct messages are closed.

A notice answers the game master's latest interaction while it is open, otherwise their next one.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import discord
from discord.ext import commands

if TYPE_CHECKING:
    from bot.posting.delivery import DiscordDelivery
    from bot.scenes.scene import Scene
    from bot.scenes.theatre import Theatre

_log = logging.getLogger(__name__)


class Undelivered(commands.Cog):
    """Keeps each game master's latest interaction, which can be answered for 15 minutes."""

    def __init__(self, theatre: Theatre, delivery: DiscordDelivery) -> None:
        self._theatre = theatre
        self._delivery = delivery
        self._latest: dict[int, discord.Interaction] = {}

    @commands.Cog.listener()
    async def on_interaction(self, interaction: discord.Interaction) -> None:
        """Keep a game master's latest interaction, and drop expired ones."""
        self._latest = {user: kept for user, kept in self._latest.items() if not kept.is_expired()}
        if any(scene.is_gm(interaction.user.id) for scene in self._theatre.scenes()):
            self._latest[interaction.user.id] = interaction

    @commands.Cog.listener()
    async def on_app_command_completion(
        self, interaction: discord.Interaction, _command: object
    ) -> None:
        """Tell a user after a command that a direct message failed.

        A command after that notice may mean that they have opened their direct messages.
        """
        if not await self._notify(interaction):
            self._delivery.retry_direct_messages(interaction.user.id)

    async def notify_unreached(self, _scene: Scene, gm_id: int) -> None:
        """Tell a game master that a direct message failed, if an interaction of theirs is open."""
        interaction = self._latest.get(gm_id)
        if (
            interaction is not None
            and not interaction.is_expired()
            and interaction.response.is_done()
        ):
            await self._notify(interaction)

    async def _notify(self, interaction: discord.Interaction) -> bool:
        """Show the notice for this user. Return whether there was one."""
        if not interaction.response.is_done():
            return False
        sentence = self._delivery.pop_undelivered(interaction.user.id)
        if sentence is None:
            return False
        try:
            await interaction.followup.send(sentence, ephemeral=True)
            await self._delivery.save_notified(interaction.user.id)
        except discord.HTTPException as error:
            _log.warning("Failed to notify a game master about a direct message: %s", error)
        return True
