"""What a game master must be told in a way only they see: at once where an interaction of theirs still lives, else at
their next one."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import discord
from discord.ext import commands

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.scenes.scene import Scene
    from bot.scenes.theatre import Theatre

_log = logging.getLogger(__name__)


class Undelivered(commands.Cog):
    """Keeps the latest interaction of each game master, since its token is good for a quarter of an hour.

    `pop_undelivered` gives, once, the sentence for a user to whom something could not be delivered.
    """

    def __init__(self, theatre: Theatre, pop_undelivered: Callable[[int], str | None]) -> None:
        self._theatre = theatre
        self._pop_undelivered = pop_undelivered
        self._latest: dict[int, discord.Interaction] = {}

    @commands.Cog.listener()
    async def on_interaction(self, interaction: discord.Interaction) -> None:
        """Keep a game master's latest interaction, and no dead ones."""
        self._latest = {user: kept for user, kept in self._latest.items() if not kept.is_expired()}
        if any(scene.is_gm(interaction.user.id) for scene in self._theatre.scenes()):
            self._latest[interaction.user.id] = interaction

    @commands.Cog.listener()
    async def on_app_command_completion(
        self, interaction: discord.Interaction, _command: object
    ) -> None:
        """Tell who just used a command what could not reach them before."""
        await self._tell(interaction)

    async def unreached(self, _scene: Scene, gm_id: int) -> None:
        """Tell a game master who can't be written to, where a way is left."""
        interaction = self._latest.get(gm_id)
        if (
            interaction is not None
            and not interaction.is_expired()
            and interaction.response.is_done()
        ):
            await self._tell(interaction)

    async def _tell(self, interaction: discord.Interaction) -> None:
        if interaction.response.is_done() and (
            sentence := self._pop_undelivered(interaction.user.id)
        ):
            try:
                await interaction.followup.send(sentence, ephemeral=True)
            except discord.HTTPException as error:
                _log.warning(
                    "A game master could not be told that direct messages don't reach them: %s",
                    error,
                )
