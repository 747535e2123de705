"""`/reveal`: decide who sees the characters' thoughts and planning."""

from __future__ import annotations

from typing import TYPE_CHECKING

import discord
from discord import app_commands
from discord.ext import commands

from bot.her.beats import BeatKind
from bot.posting import status_pages
from bot.scenes.reveal import Destination
from cogs import interaction_replies
from cogs.help_topics import TOPIC, HelpTopic

if TYPE_CHECKING:
    from bot.posting.delivery import DiscordDelivery
    from bot.scenes.theatre import Theatre

_SETTINGS = [
    app_commands.Choice(
        name="spoiler: in the channel, under spoiler bars", value=Destination.SPOILER.value
    ),
    app_commands.Choice(
        name="gm: in the game master's direct messages", value=Destination.GM.value
    ),
    app_commands.Choice(name="off: not shown. They stay stored", value=Destination.OFF.value),
]


@app_commands.guild_only()
class RevealCommands(
    commands.GroupCog,
    group_name="reveal",
    group_description="Decide who sees thoughts and planning",
    group_extras={TOPIC: HelpTopic.GAME_MASTERS},
):
    """The commands under `/reveal`."""

    def __init__(self, theatre: Theatre, delivery: DiscordDelivery) -> None:
        super().__init__()
        self._theatre = theatre
        self._delivery = delivery

    @app_commands.command(
        description="Show the characters' thoughts in public or keep them private"
    )
    @app_commands.describe(where="The new setting (default: switch between public and private)")
    @app_commands.choices(where=_SETTINGS)
    async def thoughts(self, interaction: discord.Interaction, where: str | None = None) -> None:
        """Decide who sees role thinking."""
        await self._set(interaction, BeatKind.THOUGHT, where)

    @app_commands.command(description="Show the model's planning in public or keep it private")
    @app_commands.describe(where="The new setting (default: switch between public and private)")
    @app_commands.choices(where=_SETTINGS)
    async def planning(self, interaction: discord.Interaction, where: str | None = None) -> None:
        """Decide who sees system thinking."""
        await self._set(interaction, BeatKind.PLANNING, where)

    @app_commands.command(description="Show who sees thoughts and planning")
    async def status(self, interaction: discord.Interaction) -> None:
        """Show the reveal policy."""
        scene = self._theatre.require_scene(interaction.channel_id or 0)
        await interaction_replies.reply_privately(interaction, status_pages.format_reveal(scene))

    async def _set(
        self, interaction: discord.Interaction, kind: BeatKind, where: str | None
    ) -> None:
        scene = self._theatre.require_scene(interaction.channel_id or 0)
        changed = await self._theatre.controls.reveal(
            scene, kind, Destination(where) if where else None, interaction.user.id
        )
        await interaction_replies.reply_publicly(interaction, status_pages.format_reveal(changed))
        if (
            changed.reveal.destination(kind) is Destination.GM
            and scene.reveal.destination(kind) is not Destination.GM
        ):
            await self._delivery.greet(changed, interaction.user.id)
