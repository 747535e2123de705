"""`/cast`: take a part, give it back, go off stage and come back, see who plays whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

import discord
from discord import app_commands
from discord.ext import commands

from bot.posting import status_pages
from bot.posting.escaping import escape_name
from bot.scenes import cast
from cogs import autocomplete, interaction_replies

if TYPE_CHECKING:
    from bot.scenes.gm_actions import GmActions
    from bot.scenes.theatre import Theatre


@app_commands.guild_only()
class CastCommands(commands.GroupCog, group_name="cast", group_description="Who plays whom"):
    """The commands under `/cast`."""

    def __init__(self, theatre: Theatre, direction: GmActions) -> None:
        super().__init__()
        self._theatre = theatre
        self._direction = direction

    @app_commands.command(
        description="Play a character: what you say in this channel is said as them"
    )
    @app_commands.describe(character="Whom to play")
    async def join(self, interaction: discord.Interaction, character: str) -> None:
        """Take a part."""
        scene = self._theatre.require_scene(interaction.channel_id or 0)
        joined = await self._theatre.controls.join(scene, interaction.user.id, character)
        part = joined.part_of(interaction.user.id)
        played = escape_name(part.character if part else character)
        await interaction_replies.reply_publicly(
            interaction,
            f"**{played}** is played by {escape_name(interaction.user.display_name)} now.",
        )

    @join.autocomplete("character")
    async def _characters(
        self, interaction: discord.Interaction, typed: str
    ) -> list[app_commands.Choice[str]]:
        return autocomplete.character_choices(self._theatre.at(interaction.channel_id or 0), typed)

    @app_commands.command(
        description="Give your character back: the model plays it again, or it rests"
    )
    @app_commands.describe(rest="Whether nobody plays it from now on")
    async def leave(self, interaction: discord.Interaction, rest: bool = False) -> None:
        """Give a part back."""
        scene = self._theatre.require_scene(interaction.channel_id or 0)
        character = await self._theatre.controls.leave(scene, interaction.user.id, rest=rest)
        now = "rests now" if rest else "is played by the model again"
        await interaction_replies.reply_publicly(
            interaction, f"**{escape_name(character)}** {now}."
        )

    @app_commands.command(description="Let nobody play a character for a while (game masters)")
    @app_commands.describe(character="Who rests")
    async def rest(self, interaction: discord.Interaction, character: str) -> None:
        """Let a character rest."""
        await self._rest(interaction, character, rests=True)

    @app_commands.command(
        description="Have the model play a character again that rests (game masters)"
    )
    @app_commands.describe(character="Who is played again")
    async def wake(self, interaction: discord.Interaction, character: str) -> None:
        """Have a character played again."""
        await self._rest(interaction, character, rests=False)

    @app_commands.command(
        name="exit", description="Go off stage: you hear nothing of what is said meanwhile"
    )
    @app_commands.describe(character="Who goes; the one you play, where nobody is named")
    async def exit_(self, interaction: discord.Interaction, character: str | None = None) -> None:
        """Send a character off stage."""
        scene = self._theatre.require_scene(interaction.channel_id or 0)
        gone = await self._direction.leave_stage(scene, character, interaction.user.id)
        await interaction_replies.reply_publicly(interaction, f"*{escape_name(gone)} leaves.*")

    @app_commands.command(description="Come back on stage")
    @app_commands.describe(character="Who comes; the one you play, where nobody is named")
    async def enter(self, interaction: discord.Interaction, character: str | None = None) -> None:
        """Bring a character back on stage."""
        scene = self._theatre.require_scene(interaction.channel_id or 0)
        come = await self._direction.enter_stage(scene, character, interaction.user.id)
        await interaction_replies.reply_publicly(interaction, f"*{escape_name(come)} enters.*")

    @rest.autocomplete("character")
    @wake.autocomplete("character")
    @exit_.autocomplete("character")
    @enter.autocomplete("character")
    async def _others(
        self, interaction: discord.Interaction, typed: str
    ) -> list[app_commands.Choice[str]]:
        return autocomplete.character_choices(self._theatre.at(interaction.channel_id or 0), typed)

    @app_commands.command(name="list", description="Who plays whom")
    async def list_(self, interaction: discord.Interaction) -> None:
        """Show the cast."""
        for page in status_pages.format_cast(
            self._theatre.require_scene(interaction.channel_id or 0)
        ):
            await interaction_replies.reply_privately(interaction, page)

    async def _rest(self, interaction: discord.Interaction, character: str, *, rests: bool) -> None:
        scene = self._theatre.require_scene(interaction.channel_id or 0)
        changed = await self._direction.rest(scene, character, interaction.user.id, rests=rests)
        part = cast.find_part(changed, character)
        now = "rests now" if rests else "is played by the model again"
        await interaction_replies.reply_publicly(
            interaction, f"**{escape_name(part.character)}** {now}."
        )
