"""`/help`, `/about`, and the welcome on a server that invites the bot."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import discord
from discord import app_commands
from discord.ext import commands

from cogs import interaction_replies
from cogs.help_topics import HelpTopic, write_help

if TYPE_CHECKING:
    from bot.scenes.theatre import Theatre
    from cogs.scene_commands import OwnerSettings

_log = logging.getLogger(__name__)

WELCOME: Final = """\
Thank you for inviting me. I play characters that speak, act and think.
1. `/scene start` opens a scene in a channel. Whoever starts it is its game master.
2. Mention a character, for example `@Mr Bennet`, and it answers.
3. Thoughts go to the game master, who can make them public with `/reveal thoughts`.
4. `/help` explains the commands, and `/about` says what is stored."""


@dataclass(frozen=True, slots=True)
class About:
    """What people may know about this bot's program and model."""

    version: str
    model: str
    is_remote: bool  # the model runs on another server


class HelpCommands(commands.Cog):
    """The commands `/help` and `/about`."""

    def __init__(
        self,
        bot: commands.Bot,
        theatre: Theatre,
        settings: OwnerSettings,
        about: About,
    ) -> None:
        self._bot = bot
        self._theatre = theatre
        self._settings = settings
        self._about = about

    @app_commands.command(name="help", description="Show what you can do")
    @app_commands.describe(topic="Whose commands to show (default: yours)")
    async def help_(self, interaction: discord.Interaction, topic: HelpTopic | None = None) -> None:
        """Explain the commands to players, game masters or server managers."""
        for message in write_help(topic or self._guess_topic(interaction), self._bot.tree):
            await interaction_replies.reply_privately(interaction, message)

    @app_commands.command(
        description="Show the version, the model, the licence and what is stored about you"
    )
    async def about(self, interaction: discord.Interaction) -> None:
        """Describe the program, its model and how it treats people's data."""
        await interaction_replies.reply_privately(interaction, _format_about(self._about))

    @commands.Cog.listener()
    async def on_guild_join(self, guild: discord.Guild) -> None:
        """Introduce the bot on a new server, in the first channel where it may write."""
        if self._settings.guilds is not None and guild.id not in self._settings.guilds:
            return
        channel = _find_welcome_channel(guild)
        if channel is None:
            return
        try:
            await channel.send(WELCOME)
        except discord.HTTPException as error:
            _log.info("Failed to post the welcome in channel %d: %s", channel.id, error.code)

    def _guess_topic(self, interaction: discord.Interaction) -> HelpTopic:
        """Return the topic of a game master here, of a server's manager, or of a player."""
        scene = self._theatre.at(interaction.channel_id or 0)
        if scene is not None:
            is_gm = scene.is_gm(interaction.user.id)
            return HelpTopic.GAME_MASTERS if is_gm else HelpTopic.PLAYERS
        manages = interaction.guild_id is not None and interaction.permissions.manage_guild
        return HelpTopic.MANAGERS if manages else HelpTopic.PLAYERS


def _find_welcome_channel(guild: discord.Guild) -> discord.TextChannel | None:
    candidates = [*([guild.system_channel] if guild.system_channel else []), *guild.text_channels]
    for channel in candidates:
        may = channel.permissions_for(guild.me)
        if may.view_channel and may.send_messages:
            return channel
    return None


def _format_about(about: About) -> str:
    where = "a server that the bot's owner chose" if about.is_remote else "the bot's machine"
    return (
        f"**Aside {about.version}** plays characters with hidden thoughts.\n"
        f"Model: {about.model}, on {where}. It may be wrong, and its characters are fiction.\n"
        "Licence: Aside is free software under Apache-2.0. The model has a licence of its own.\n"
        "Privacy: whoever runs this bot stores the scenes. Nothing is sent to others, except to"
        " Discord and to the model. `/mydata export` gives you everything you wrote, and"
        " `/mydata delete` deletes it."
    )
