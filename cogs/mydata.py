"""`/mydata`: what Aside keeps of a person's words, handed out or deleted at their word."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Protocol

import discord
from discord import app_commands
from discord.ext import commands

from cogs import interaction_replies

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from bot.scenes.data_deletion import DataDeletion

_NOTHING = "Aside keeps nothing that you said."


class KeptLine(Protocol):
    """One line that a person said."""

    @property
    def said_at(self) -> datetime:
        """When it was said."""
        ...

    @property
    def channel_id(self) -> int:
        """Where it was said."""
        ...

    @property
    def speaker(self) -> str:
        """Under which name."""
        ...

    @property
    def text(self) -> str:
        """What was said."""
        ...


class PersonalDataStore(Protocol):
    """Who keeps people's words."""

    async def lines_of(self, user_id: int) -> Sequence[KeptLine]:
        """Return everything this person said in any scene, in order."""
        ...


class MyDataCommands(
    commands.GroupCog, group_name="mydata", group_description="What Aside keeps of your words"
):
    """The commands under `/mydata`."""

    def __init__(self, people: PersonalDataStore, forgetting: DataDeletion) -> None:
        super().__init__()
        self._people = people
        self._forgetting = forgetting

    @app_commands.command(description="Get everything you said in scenes, as a file")
    async def export(self, interaction: discord.Interaction) -> None:
        """Hand a person their own words."""
        await interaction.response.defer(ephemeral=True)
        lines = await self._people.lines_of(interaction.user.id)
        if not lines:
            await interaction_replies.reply_privately(interaction, _NOTHING)
            return
        text = "\n".join(
            f"{one.said_at:%Y-%m-%d %H:%M} #{one.channel_id} {one.speaker}: {one.text}"
            for one in lines
        )
        file = discord.File(io.BytesIO(text.encode("utf-8", "replace")), filename="mydata.txt")
        await interaction_replies.reply_privately(
            interaction, "Everything Aside keeps of what you said:", files=[file]
        )

    @app_commands.command(
        description="Delete everything you said in scenes; the characters forget it too"
    )
    @app_commands.describe(sure="This can't be undone")
    async def delete(self, interaction: discord.Interaction, sure: bool) -> None:
        """Delete a person's words at their word."""
        if not sure:
            await interaction_replies.reply_privately(interaction, "Nothing was deleted.")
            return
        await interaction.response.defer(ephemeral=True)
        lines = await self._forgetting.forget(interaction.user.id)
        count = "One line is" if lines == 1 else f"{lines} lines are"
        await interaction_replies.reply_privately(
            interaction, f"{count} deleted, for good." if lines else _NOTHING
        )
