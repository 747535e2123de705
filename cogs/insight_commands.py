"""`/insight`, `/gm insight` and `/gm reveal`: thoughts that are opened to single players."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import discord
from discord import app_commands
from discord.ext import commands

from bot.errors import PostingError, Refused, Remedy
from bot.posting.dice_format import format_roll
from bot.posting.escaping import escape_name
from bot.posting.opening_views import readers_view
from bot.posting.render import render_player_messages
from bot.scenes.insight import MAX_DIFFICULTY  # noqa: TC001 - discord.py reads annotations
from bot.scenes.story_events import Speaker
from cogs import autocomplete, interaction_replies

if TYPE_CHECKING:
    from bot.posting.delivery import DiscordDelivery
    from bot.scenes.insight import Insight
    from bot.scenes.posts import Posts
    from bot.scenes.scene_queries import HiddenThoughts
    from bot.scenes.theatre import Theatre

_log = logging.getLogger(__name__)


class GmInsight(commands.Cog):
    """The commands under `/gm` that concern opened thoughts."""

    _theatre: Theatre
    _insight: Insight
    _delivery: DiscordDelivery

    @app_commands.command(
        description="Let players try to read a character's thoughts with /insight, or stop that"
    )
    @app_commands.describe(
        character="The character",
        difficulty="What a roll of 1d20 must reach (default: players can't try any more)",
    )
    async def insight(
        self,
        interaction: discord.Interaction,
        character: str,
        difficulty: app_commands.Range[int, 1, MAX_DIFFICULTY] | None = None,
    ) -> None:
        """Set how difficult it is to read a character."""
        scene = self._theatre.require_scene(interaction.channel_id or 0)
        name = await self._insight.set_difficulty(scene, character, difficulty, interaction.user.id)
        who = escape_name(name)
        await interaction_replies.reply_privately(
            interaction,
            f"Players can't read the thoughts of **{who}**."
            if difficulty is None
            else f"Players read the latest thought of **{who}** with `/insight` if 1d20 reaches "
            f"{difficulty}.",
        )

    @app_commands.command(description="Show a character's latest thought to one player, in private")
    @app_commands.describe(character="The character", player="The player who may read it")
    async def reveal(
        self, interaction: discord.Interaction, character: str, player: discord.Member
    ) -> None:
        """Open a character's latest thought to one player."""
        scene = self._theatre.require_scene(interaction.channel_id or 0)
        if player.bot:
            raise Refused("That is a bot. Name a person.")
        await interaction.response.defer(ephemeral=True)
        thoughts = await self._insight.open_latest(scene, character, player.id, interaction.user.id)
        sentence = await send_opened(self._delivery, player.id, thoughts)
        await interaction_replies.reply_privately(interaction, sentence)

    @insight.autocomplete("character")
    @reveal.autocomplete("character")
    async def _readable(
        self, interaction: discord.Interaction, typed: str
    ) -> list[app_commands.Choice[str]]:
        return autocomplete.character_choices(self._theatre.at(interaction.channel_id or 0), typed)


class InsightCommands(commands.Cog):
    """`/insight`, and the button and the menu with which a game master opens a thought."""

    def __init__(
        self, theatre: Theatre, insight: Insight, delivery: DiscordDelivery, posts: Posts
    ) -> None:
        self._theatre = theatre
        self._insight = insight
        self._delivery = delivery
        self._posts = posts

    @app_commands.command(description="Roll to read a character's latest thought")
    @app_commands.guild_only()
    @app_commands.describe(character="The character whose thought you try to read")
    async def insight(self, interaction: discord.Interaction, character: str) -> None:
        """Roll in the open. A success shows the thought to the player only."""
        scene = self._theatre.require_scene(interaction.channel_id or 0)
        user = interaction.user
        attempt = await self._insight.attempt(scene, character, Speaker(user.id, user.display_name))
        who = escape_name(attempt.character)
        success = attempt.thoughts is not None
        result = f"reads a thought of **{who}**" if success else f"can't read **{who}**"
        await interaction_replies.reply_publicly(
            interaction, f"{format_roll(attempt.roll, attempt.speaker)} and {result}."
        )
        if attempt.thoughts is not None:
            messages = render_player_messages(attempt.character, attempt.thoughts.released, user.id)
            await interaction_replies.reply_with_messages(interaction, messages)

    @insight.autocomplete("character")
    async def _characters(
        self, interaction: discord.Interaction, typed: str
    ) -> list[app_commands.Choice[str]]:
        return autocomplete.character_choices(self._theatre.at(interaction.channel_id or 0), typed)

    async def choose_reader(
        self, interaction: discord.Interaction, turn_id: int, take_id: int
    ) -> None:
        """Ask the game master to whom the thoughts of a take are opened."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        message = interaction.message
        posts = await self._posts.posts(turn_id)
        if message is None or not any(
            post.message_id == message.id and post.take_id == take_id for post in posts
        ):
            raise Refused("This button is out of date.", Remedy.USE_CURRENT_BUTTONS)
        readers = await self._insight.list_readers(turn_id, interaction.user.id)
        await interaction_replies.reply_privately(
            interaction,
            "Who may read the thoughts of this message?",
            view=readers_view(turn_id, take_id, readers),
        )

    async def open_to(
        self, interaction: discord.Interaction, turn_id: int, take_id: int, reader_id: int
    ) -> None:
        """Open the thoughts of a take to the chosen player."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        readers = await self._insight.list_readers(turn_id, interaction.user.id)
        if reader_id not in {reader.user_id for reader in readers}:
            raise Refused("That player is no longer part of the scene.")
        thoughts = await self._insight.open(turn_id, take_id, reader_id, interaction.user.id)
        sentence = await send_opened(self._delivery, reader_id, thoughts)
        await interaction_replies.reply_privately(interaction, sentence)


async def send_opened(delivery: DiscordDelivery, reader_id: int, thoughts: HiddenThoughts) -> str:
    """Send opened thoughts to their player. Return a sentence for the game master."""
    try:
        await delivery.send_opened(reader_id, thoughts.speaker, thoughts.released)
    except PostingError as error:
        _log.info("Opened thoughts could not be sent: %s", error)
        return (
            f"<@{reader_id}> may read it, but direct messages to them fail. *Show thoughts* in the "
            "*Apps* menu of the reply shows it to them."
        )
    return f"<@{reader_id}> has received that thought of **{escape_name(thoughts.speaker)}**."
