"""What can be done with a reply that stands in the channel: see its thoughts, try a failed one again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, cast

import discord
from discord import app_commands
from discord.ext import commands

from bot.posting.buttons import RETRY
from bot.posting.render import gm_messages, public_messages
from bot.scenes.reveal import Audience
from cogs import answers

if TYPE_CHECKING:
    import re

    from bot.scenes.hearing import Hearing
    from bot.scenes.theatre import Theatre


class RetryButton(discord.ui.DynamicItem[discord.ui.Button[discord.ui.View]], template=RETRY):
    """“Try again” under the notice of a failed reply. Works after a restart: its custom id names the turn."""

    def __init__(self, button: discord.ui.Button[discord.ui.View], turn_id: int) -> None:
        super().__init__(button)
        self._turn_id = turn_id

    @classmethod
    async def from_custom_id(
        cls, _interaction: discord.Interaction, item: discord.ui.Item[Any], match: re.Match[str], /
    ) -> Self:
        """Return the button that was pressed."""
        assert isinstance(item, discord.ui.Button)  # noqa: S101 - the template is a button's
        return cls(item, int(match["turn"]))

    async def callback(self, interaction: discord.Interaction) -> None:
        """Hand the press to the cog that knows the theatre."""
        replies = cast("commands.Bot", interaction.client).get_cog(Replies.__name__)
        if isinstance(replies, Replies):
            await replies.retry(interaction, self._turn_id)


class Replies(commands.Cog):
    """The context menu and the buttons of replies."""

    def __init__(self, bot: commands.Bot, theatre: Theatre, hearing: Hearing) -> None:
        self._bot = bot
        self._theatre = theatre
        self._hearing = hearing
        self._menu = app_commands.ContextMenu(name="Show thoughts", callback=self.show_thoughts)
        self._menu.guild_only = True

    async def cog_load(self) -> None:
        """Add the context menu and the button: discord.py adds only slash commands by itself."""
        self._bot.tree.add_command(self._menu)
        self._bot.add_dynamic_items(RetryButton)

    async def cog_unload(self) -> None:
        """Remove them."""
        self._bot.tree.remove_command(self._menu.name, type=self._menu.type)
        self._bot.remove_dynamic_items(RetryButton)

    async def show_thoughts(self, interaction: discord.Interaction, message: discord.Message) -> None:
        """Show what a reply kept private to those who may see it, and to nobody else."""
        behind = await self._theatre.thoughts(message.id, interaction.user.id)
        if behind.audience is Audience.GM:
            await answers.show(interaction, gm_messages(behind.speaker, behind.freed))
        else:
            await answers.show(interaction, public_messages(behind.freed))

    async def retry(self, interaction: discord.Interaction, turn_id: int) -> None:
        """Try a failed reply again."""
        try:
            await self._hearing.retry(turn_id, interaction.user.id)
        except Exception as error:
            await answers.complain(interaction, error)
        else:
            await answers.privately(interaction, "Trying again.")
