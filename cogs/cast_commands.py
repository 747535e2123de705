"""`/cast`: take or return a part, leave or enter the stage, list the cast."""

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
    from bot.scenes.departures import Departures
    from bot.scenes.gm_actions import GmActions
    from bot.scenes.theatre import Theatre


@app_commands.guild_only()
class CastCommands(
    commands.GroupCog, group_name="cast", group_description="Take parts and see who plays whom"
):
    """The commands under `/cast`."""

    def __init__(self, theatre: Theatre, actions: GmActions, departures: Departures) -> None:
        super().__init__()
        self._departures = departures
        self._theatre = theatre
        self._actions = actions

    @app_commands.command(
        description="Play a character. Your lines in this channel become its lines"
    )
    @app_commands.describe(character="The character to play")
    async def join(self, interaction: discord.Interaction, character: str) -> None:
        """Give the user a part."""
        scene = self._theatre.require_scene(interaction.channel_id or 0)
        scene = await self._departures.check_part(scene, character)
        joined = await self._theatre.controls.join(scene, interaction.user.id, character)
        part = joined.part_of(interaction.user.id)
        name = escape_name(part.character if part else character)
        await interaction_replies.reply_publicly(
            interaction,
            f"{escape_name(interaction.user.display_name)} plays **{name}** now.",
        )

    @join.autocomplete("character")
    async def _characters(
        self, interaction: discord.Interaction, typed: str
    ) -> list[app_commands.Choice[str]]:
        return autocomplete.character_choices(self._theatre.at(interaction.channel_id or 0), typed)

    @app_commands.command(description="Give your character back to the model, or let it rest")
    @app_commands.describe(rest="Let the character rest instead of giving it to the model")
    async def leave(self, interaction: discord.Interaction, rest: bool = False) -> None:
        """Take the user's part from them."""
        scene = self._theatre.require_scene(interaction.channel_id or 0)
        character = await self._theatre.controls.leave(scene, interaction.user.id, rest=rest)
        state = "rests now" if rest else "is played by the model again"
        await interaction_replies.reply_publicly(
            interaction, f"**{escape_name(character)}** {state}."
        )

    @app_commands.command(
        description="Let a character rest: it does not reply until you wake it (game masters)"
    )
    @app_commands.describe(character="The character that rests")
    async def rest(self, interaction: discord.Interaction, character: str) -> None:
        """Stop the replies of a character."""
        await self._rest(interaction, character, rests=True)

    @app_commands.command(description="Let the model play a resting character again (game masters)")
    @app_commands.describe(character="The character to wake")
    async def wake(self, interaction: discord.Interaction, character: str) -> None:
        """Let the model play a resting character again."""
        await self._rest(interaction, character, rests=False)

    @app_commands.command(
        name="exit", description="Take a character off stage. It hears nothing until it comes back"
    )
    @app_commands.describe(character="The character that leaves (default: yours)")
    async def exit_(self, interaction: discord.Interaction, character: str | None = None) -> None:
        """Take a character off stage."""
        scene = self._theatre.require_scene(interaction.channel_id or 0)
        left = await self._actions.leave_stage(scene, character, interaction.user.id)
        await interaction_replies.reply_publicly(interaction, f"*{escape_name(left)} leaves.*")

    @app_commands.command(description="Bring a character back on stage")
    @app_commands.describe(character="The character that comes back (default: yours)")
    async def enter(self, interaction: discord.Interaction, character: str | None = None) -> None:
        """Bring a character back on stage."""
        scene = self._theatre.require_scene(interaction.channel_id or 0)
        entered = await self._actions.enter_stage(scene, character, interaction.user.id)
        await interaction_replies.reply_publicly(interaction, f"*{escape_name(entered)} enters.*")

    @rest.autocomplete("character")
    @wake.autocomplete("character")
    @exit_.autocomplete("character")
    @enter.autocomplete("character")
    async def _others(
        self, interaction: discord.Interaction, typed: str
    ) -> list[app_commands.Choice[str]]:
        return autocomplete.character_choices(self._theatre.at(interaction.channel_id or 0), typed)

    @app_commands.command(name="list", description="Show who plays whom")
    async def list_(self, interaction: discord.Interaction) -> None:
        """Show the cast."""
        for page in status_pages.format_cast(
            self._theatre.require_scene(interaction.channel_id or 0)
        ):
            await interaction_replies.reply_privately(interaction, page)

    async def _rest(self, interaction: discord.Interaction, character: str, *, rests: bool) -> None:
        scene = self._theatre.require_scene(interaction.channel_id or 0)
        scene = await self._departures.check_part(scene, character)
        changed = await self._actions.rest(scene, character, interaction.user.id, rests=rests)
        part = cast.find_part(changed, character)
        state = "rests now" if rests else "is played by the model again"
        await interaction_replies.reply_publicly(
            interaction, f"**{escape_name(part.character)}** {state}."
        )
