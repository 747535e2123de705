"""`/cast`: take a part, give it back, see who plays whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

import discord
from discord import app_commands
from discord.ext import commands

from bot.posting import pages
from bot.posting.markdown import name
from cogs import answers, choices

if TYPE_CHECKING:
    from bot.scenes.theatre import Theatre


@app_commands.guild_only()
class CastCommands(commands.GroupCog, group_name="cast", group_description="Who plays whom"):
    """The commands under `/cast`."""

    def __init__(self, theatre: Theatre) -> None:
        super().__init__()
        self._theatre = theatre

    @app_commands.command(description="Play a character: what you say in this channel is said as them")
    @app_commands.describe(character="Whom to play")
    async def join(self, interaction: discord.Interaction, character: str) -> None:
        """Take a part."""
        scene = self._theatre.here(interaction.channel_id or 0)
        joined = await self._theatre.join(scene, interaction.user.id, character)
        part = joined.part_of(interaction.user.id)
        played = name(part.character if part else character)
        await answers.publicly(interaction, f"**{played}** is played by {name(interaction.user.display_name)} now.")

    @join.autocomplete("character")
    async def _characters(self, interaction: discord.Interaction, typed: str) -> list[app_commands.Choice[str]]:
        return choices.characters(self._theatre.at(interaction.channel_id or 0), typed)

    @app_commands.command(description="Give your character back: the model plays it again")
    async def leave(self, interaction: discord.Interaction) -> None:
        """Give a part back."""
        scene = self._theatre.here(interaction.channel_id or 0)
        character = await self._theatre.leave(scene, interaction.user.id)
        await answers.publicly(interaction, f"**{name(character)}** is played by the model again.")

    @app_commands.command(name="list", description="Who plays whom")
    async def list_(self, interaction: discord.Interaction) -> None:
        """Show the cast."""
        for page in pages.cast_list(self._theatre.here(interaction.channel_id or 0)):
            await answers.privately(interaction, page)
