"""`/whisper`, `/roll` and `/cue`: the commands for everyone in a scene."""

from __future__ import annotations

from typing import TYPE_CHECKING

import discord
from discord import app_commands
from discord.ext import commands

from bot.posting.dice_format import format_roll
from bot.posting.escaping import escape_name, escape_text
from bot.posting.graphemes import shorten
from bot.scenes.dice import MAX_LENGTH as LONGEST_ROLL  # noqa: TC001 - discord.py reads annotations
from bot.scenes.posts import Post, PostPurpose
from bot.scenes.story_events import MAX_TEXT_LENGTH, Speaker
from cogs import autocomplete, interaction_replies
from cogs.message_reading import read_option

if TYPE_CHECKING:
    from bot.scenes.departures import Departures
    from bot.scenes.posts import Posts
    from bot.scenes.story_events import StoryEvents
    from bot.scenes.theatre import Theatre
    from cogs.ephemeral import EphemeralAnswers

_QUOTED = 1_500


class PlayCommands(commands.Cog):
    """`/whisper`, `/roll` and `/cue`.

    Each command is marked as for servers, because discord.py ignores that mark on a cog that is no
    group.
    """

    def __init__(
        self,
        theatre: Theatre,
        events: StoryEvents,
        ephemeral: EphemeralAnswers,
        posts: Posts,
        departures: Departures,
    ) -> None:
        self._departures = departures
        self._theatre = theatre
        self._events = events
        self._ephemeral = ephemeral
        self._posts = posts

    @app_commands.guild_only()
    @app_commands.command(
        description="Say something that only one character and the game master hear"
    )
    @app_commands.describe(
        character="The character that hears it", text="Your words. Only you see the answer"
    )
    async def whisper(
        self,
        interaction: discord.Interaction,
        character: str,
        text: app_commands.Range[str, 1, MAX_TEXT_LENGTH],
    ) -> None:
        """Whisper to a character."""
        scene = self._theatre.require_scene(interaction.channel_id or 0)
        await interaction.response.defer(ephemeral=True)
        self._ephemeral.keep(interaction)
        words = await read_option(interaction, text)
        scene = await self._departures.check_part(scene, character)
        answers_it = await self._events.whisper(scene, character, words, _speaker(interaction))
        unanswered = "" if answers_it else " They rest at the moment and will not answer."
        quoted = shorten(escape_text(words), _QUOTED)
        await interaction_replies.reply_privately(
            interaction, f"🤫 You whisper to {escape_name(character)}: {quoted}{unanswered}"
        )

    @app_commands.guild_only()
    @app_commands.command(description="Roll dice: 2d6+3, 4d6kh3, d20adv, d%, 3d6!")
    @app_commands.describe(
        dice="The dice to roll",
        secret="Show the result only to you and the game master",  # noqa: S106 - no password
    )
    async def roll(
        self,
        interaction: discord.Interaction,
        dice: app_commands.Range[str, 1, LONGEST_ROLL],
        secret: bool = False,
    ) -> None:
        """Roll dice."""
        scene = self._theatre.at(interaction.channel_id or 0)
        if secret:
            await interaction.response.defer(ephemeral=True)
        rolled = await self._events.roll(scene, dice, _speaker(interaction), secret=secret)
        line = format_roll(rolled.roll, rolled.speaker)
        if secret:
            await interaction_replies.reply_privately(interaction, line)
            return
        sent = await interaction.response.send_message(line)
        if (
            (turn := rolled.turn) is not None
            and turn.take is not None
            and sent.message_id is not None
        ):
            post = Post(
                sent.message_id,
                interaction.channel_id or 0,
                turn.id,
                turn.take.id,
                0,
                PostPurpose.NARRATION,
            )
            await self._posts.add_post(post)

    @app_commands.guild_only()
    @app_commands.command(
        description="Let a character speak now (game masters and players in the cast)"
    )
    @app_commands.describe(character="The character that speaks")
    async def cue(self, interaction: discord.Interaction, character: str) -> None:
        """Let a character speak now."""
        scene = self._theatre.require_scene(interaction.channel_id or 0)
        scene = await self._departures.check_part(scene, character)
        name = await self._events.cue(scene, character, interaction.user.id)
        await interaction_replies.reply_privately(
            interaction, f"**{escape_name(name)}** has the cue."
        )

    @whisper.autocomplete("character")
    @cue.autocomplete("character")
    async def _characters(
        self, interaction: discord.Interaction, typed: str
    ) -> list[app_commands.Choice[str]]:
        return autocomplete.character_choices(self._theatre.at(interaction.channel_id or 0), typed)


def _speaker(interaction: discord.Interaction) -> Speaker:
    return Speaker(interaction.user.id, interaction.user.display_name)
