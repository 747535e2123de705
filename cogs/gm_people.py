"""`/gm`, as far as it is about people: who directs, who plays whom, who is heard."""

from __future__ import annotations

from typing import TYPE_CHECKING

import discord
from discord import app_commands
from discord.ext import commands

from bot.errors import Refused
from bot.posting.escaping import escape_name
from bot.scenes import cast
from cogs import autocomplete, interaction_replies
from cogs.scene import can_moderate

if TYPE_CHECKING:
    from bot.posting.delivery import DiscordDelivery
    from bot.scenes.gm_actions import GmActions
    from bot.scenes.scene import Scene
    from bot.scenes.theatre import Theatre


class GmPeople(commands.Cog):
    """A part of the commands under `/gm`."""

    _theatre: Theatre
    _direction: GmActions
    _delivery: DiscordDelivery

    @app_commands.command(description="Give a character to a player, or back to the model")
    @app_commands.describe(
        character="Which character", player="Who plays it; the model, where nobody is named"
    )
    async def hand(
        self, interaction: discord.Interaction, character: str, player: discord.Member | None = None
    ) -> None:
        """Hand a part to somebody."""
        scene = self._here(interaction)
        user_id = _person(player).id if player else None
        handed = await self._direction.hand(scene, character, user_id, interaction.user.id)
        part = cast.find_part(handed, character)
        by = player.mention if player else "the model"
        await interaction_replies.reply_publicly(
            interaction, f"**{escape_name(part.character)}** is played by {by} now."
        )

    @hand.autocomplete("character")
    async def _handed(
        self, interaction: discord.Interaction, typed: str
    ) -> list[app_commands.Choice[str]]:
        return autocomplete.character_choices(self._theatre.at(interaction.channel_id or 0), typed)

    @app_commands.command(description="Leave a person's lines out of the story from now on")
    @app_commands.describe(player="The person to mute")
    async def mute(self, interaction: discord.Interaction, player: discord.Member) -> None:
        """Leave a person's lines out of the story."""
        await self._direction.mute(self._here(interaction), player.id, interaction.user.id)
        await interaction_replies.reply_publicly(
            interaction, f"{player.mention} is muted in this scene."
        )

    @app_commands.command(description="Hear a muted person again")
    @app_commands.describe(player="The person to unmute")
    async def unmute(self, interaction: discord.Interaction, player: discord.Member) -> None:
        """Hear a muted person again."""
        await self._direction.unmute(self._here(interaction), player.id, interaction.user.id)
        await interaction_replies.reply_publicly(
            interaction, f"{player.mention} is heard in this scene again."
        )

    @app_commands.command(
        description="Have somebody direct the scene too (game masters, moderators)"
    )
    @app_commands.describe(person="Who directs too")
    async def add(self, interaction: discord.Interaction, person: discord.Member) -> None:
        """Add a game master."""
        scene = self._here(interaction)
        changed = await self._direction.add_gm(
            scene, _person(person).id, interaction.user.id, moderates=can_moderate(interaction)
        )
        await interaction_replies.reply_publicly(
            interaction, f"{person.mention} directs this scene too."
        )
        await self._delivery.greet(changed, person.id)

    @app_commands.command(
        description="Have somebody direct the scene no longer; one game master always stays"
    )
    @app_commands.describe(person="Who; perhaps you yourself")
    async def remove(self, interaction: discord.Interaction, person: discord.Member) -> None:
        """Remove a game master."""
        await self._direction.remove_gm(self._here(interaction), person.id, interaction.user.id)
        await interaction_replies.reply_publicly(
            interaction, f"{person.mention} doesn't direct this scene any more."
        )

    @app_commands.command(description="Have somebody direct the scene in your place")
    @app_commands.describe(person="Who directs from now on")
    async def handover(self, interaction: discord.Interaction, person: discord.Member) -> None:
        """Hand the direction over."""
        scene = self._here(interaction)
        changed = await self._direction.hand_over(scene, _person(person).id, interaction.user.id)
        await interaction_replies.reply_publicly(
            interaction, f"{person.mention} directs this scene from now on."
        )
        await self._delivery.greet(changed, person.id)

    def _here(self, interaction: discord.Interaction) -> Scene:
        return self._theatre.require_scene(interaction.channel_id or 0)


def _person(member: discord.Member) -> discord.Member:
    if member.bot:
        raise Refused("That is a bot: name a person.")
    return member
