"""`/mydata`: export or delete a person's own lines."""

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

_NO_LINES = "Aside stores no line of yours."


class KeptLine(Protocol):
    """One line that a person said."""

    @property
    def said_at(self) -> datetime:
        """The time at which it was said."""
        ...

    @property
    def channel_id(self) -> int:
        """The id of its channel."""
        ...

    @property
    def speaker(self) -> str:
        """The name under which it was said."""
        ...

    @property
    def text(self) -> str:
        """Its words."""
        ...


class PersonalDataStore(Protocol):
    """Stores people's lines."""

    async def lines_of(self, user_id: int) -> Sequence[KeptLine]:
        """Return this user's lines in all scenes, oldest first."""
        ...


class MyDataCommands(
    commands.GroupCog, group_name="mydata", group_description="Export or delete your lines"
):
    """The commands under `/mydata`."""

    def __init__(self, store: PersonalDataStore, deletion: DataDeletion) -> None:
        super().__init__()
        self._store = store
        self._deletion = deletion

    @app_commands.command(description="Get all your lines in scenes as a file")
    async def export(self, interaction: discord.Interaction) -> None:
        """Send the user a file with their lines."""
        await interaction.response.defer(ephemeral=True)
        lines = await self._store.lines_of(interaction.user.id)
        if not lines:
            await interaction_replies.reply_privately(interaction, _NO_LINES)
            return
        text = "\n".join(
            f"{one.said_at:%Y-%m-%d %H:%M} #{one.channel_id} {one.speaker}: {one.text}"
            for one in lines
        )
        file = discord.File(io.BytesIO(text.encode("utf-8", "replace")), filename="mydata.txt")
        await interaction_replies.reply_privately(
            interaction, "All lines of yours that Aside stores:", files=[file]
        )

    @app_commands.command(
        description="Delete all your lines in scenes. The characters forget them too"
    )
    @app_commands.describe(sure="Choose True to delete. You can't undo this")
    async def delete(self, interaction: discord.Interaction, sure: bool) -> None:
        """Delete the user's lines if they are sure."""
        if not sure:
            await interaction_replies.reply_privately(interaction, "Your lines were not deleted.")
            return
        await interaction.response.defer(ephemeral=True)
        lines = await self._deletion.forget(interaction.user.id)
        count = "One line was" if lines == 1 else f"{lines} lines were"
        await interaction_replies.reply_privately(
            interaction, f"{count} permanently deleted." if lines else _NO_LINES
        )
