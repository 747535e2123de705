"""`/gm`: commands for parts, mutes and game masters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import discord
from discord import app_commands
from discord.ext import commands

from bot.errors import Refused
from bot.posting.escaping import escape_name
from bot.scenes import cast
from cogs import autocomplete, interaction_replies
from cogs.scene_commands import can_moderate
from cogs.server_commands import require_other_bot

if TYPE_CHECKING:
    from bot.posting.delivery import DiscordDelivery
    from bot.scenes.gm_actions import GmActions
    from bot.scenes.scene import Scene
    from bot.scenes.theatre import Theatre


class GmPeople(commands.Cog):
    """The commands under `/gm` that concern people."""

    _theatre: Theatre
    _actions: GmActions
    _delivery: DiscordDelivery

    @app_commands.command(description="Give a character to a player, or back to the model")
    @app_commands.describe(
        character="The character", player="The player who gets it (default: the model)"
    )
    async def hand(
        self, interaction: discord.Interaction, character: str, player: discord.Member | None = None
    ) -> None:
        """Give a part to a player or to the model."""
        scene = self._here(interaction)
        user_id = _require_person(player).id if player else None
        handed = await self._actions.hand(scene, character, user_id, interaction.user.id)
        part = cast.find_part(handed, character)
        who = player.mention if player else "The model"
        await interaction_replies.reply_publicly(
            interaction, f"{who} plays **{escape_name(part.character)}** now."
        )

    @hand.autocomplete("character")
    async def _complete_character(
        self, interaction: discord.Interaction, typed: str
    ) -> list[app_commands.Choice[str]]:
        return autocomplete.character_choices(self._theatre.at(interaction.channel_id or 0), typed)

    @app_commands.command(description="Leave a person's lines out of the story from now on")
    @app_commands.describe(player="The person to mute")
    async def mute(self, interaction: discord.Interaction, player: discord.Member) -> None:
        """Leave a person's lines out of the story."""
        await self._actions.mute(self._here(interaction), player.id, interaction.user.id)
        await interaction_replies.reply_publicly(
            interaction, f"{player.mention} is muted in this scene."
        )

    @app_commands.command(description="Hear a muted person again")
    @app_commands.describe(player="The person to unmute")
    async def unmute(self, interaction: discord.Interaction, player: discord.Member) -> None:
        """Hear a muted person again."""
        await self._actions.unmute(self._here(interaction), player.id, interaction.user.id)
        await interaction_replies.reply_publicly(
            interaction, f"{player.mention} is heard in this scene again."
        )

    @app_commands.command(
        description="Let characters hear a bot's posts, such as dice rolls, as events"
    )
    @app_commands.describe(
        bot="The bot, for example a dice or initiative bot",
        heard="Choose False to stop hearing the bot (default: True)",
    )
    async def listen(
        self, interaction: discord.Interaction, bot: discord.Member, heard: bool = True
    ) -> None:
        """Hear a bot as the environment, or stop hearing it."""
        scene = self._here(interaction)
        listened = require_other_bot(interaction, bot)
        await self._actions.listen(scene, listened.id, interaction.user.id, heard=heard)
        await interaction_replies.reply_publicly(
            interaction,
            f"The characters {'' if heard else 'no longer '}hear what {bot.mention} posts"
            f"{', as events around them' if heard else ''}.",
        )

    @app_commands.command(description="Add a game master to this scene (game masters, moderators)")
    @app_commands.describe(person="The new game master")
    async def add(self, interaction: discord.Interaction, person: discord.Member) -> None:
        """Add a game master."""
        scene = self._here(interaction)
        changed = await self._actions.add_gm(
            scene,
            _require_person(person).id,
            interaction.user.id,
            moderates=can_moderate(interaction),
        )
        await interaction_replies.reply_publicly(
            interaction, f"{person.mention} is a game master of this scene now."
        )
        await self._delivery.greet(changed, person.id)

    @app_commands.command(description="Remove a game master. At least one always stays")
    @app_commands.describe(person="The game master to remove. It can be you")
    async def remove(self, interaction: discord.Interaction, person: discord.Member) -> None:
        """Remove a game master."""
        await self._actions.remove_gm(self._here(interaction), person.id, interaction.user.id)
        await interaction_replies.reply_publicly(
            interaction, f"{person.mention} is no longer a game master of this scene."
        )

    @app_commands.command(description="Make somebody else the game master in your place")
    @app_commands.describe(person="The new game master")
    async def handover(self, interaction: discord.Interaction, person: discord.Member) -> None:
        """Replace the user by another game master."""
        scene = self._here(interaction)
        changed = await self._actions.hand_over(
            scene, _require_person(person).id, interaction.user.id
        )
        await interaction_replies.reply_publicly(
            interaction, f"{person.mention} is the game master of this scene now."
        )
        await self._delivery.greet(changed, person.id)

    def _here(self, interaction: discord.Interaction) -> Scene:
        return self._theatre.require_scene(interaction.channel_id or 0)


def _require_person(member: discord.Member) -> discord.Member:
    if member.bot:
        raise Refused("That is a bot. Name a person.")
    return member
