"""`/mydata`: export or delete a person's own lines and characters."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING, Protocol

import discord
from discord import app_commands
from discord.ext import commands

from bot.library.own_character import dump_yaml
from cogs import interaction_replies

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from bot.scenes.data_deletion import DataDeletion
    from bot.scenes.own_characters import OwnCharacters

_NO_DATA = "Aside stores no line and no character of yours."


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
        """Return this user's lines in all scenes, oldest first.

        Undone lines count too, and so do replies that the user rewrote as game master.
        """
        ...


class MyDataCommands(
    commands.GroupCog, group_name="mydata", group_description="Export or delete your data"
):
    """The commands under `/mydata`."""

    def __init__(
        self, store: PersonalDataStore, characters: OwnCharacters, deletion: DataDeletion
    ) -> None:
        super().__init__()
        self._store = store
        self._characters = characters
        self._deletion = deletion

    @app_commands.command(description="Get all your lines in scenes and your characters as files")
    async def export(self, interaction: discord.Interaction) -> None:
        """Send the user a file with their lines, and an archive with their characters."""
        await interaction.response.defer(ephemeral=True)
        lines = await self._store.lines_of(interaction.user.id)
        text = "\n".join(
            f"{one.said_at:%Y-%m-%d %H:%M} #{one.channel_id} {one.speaker}: {one.text}"
            for one in lines
        )
        files = {"mydata.txt": text.encode("utf-8", "replace")} if lines else {}
        if characters := await self._pack_characters(interaction.user.id):
            files["characters.zip"] = characters
        if not files:
            await interaction_replies.reply_privately(interaction, _NO_DATA)
            return
        await interaction_replies.reply_privately(
            interaction,
            "All lines and characters of yours that Aside stores:",
            files=[discord.File(io.BytesIO(data), filename=name) for name, data in files.items()],
        )

    @app_commands.command(
        description="Delete all your lines and characters. The characters of scenes forget them too"
    )
    @app_commands.describe(sure="Choose True to delete. You can't undo this")
    async def delete(self, interaction: discord.Interaction, sure: bool) -> None:
        """Delete the user's lines and characters if they are sure."""
        if not sure:
            await interaction_replies.reply_privately(interaction, "Your data was not deleted.")
            return
        await interaction.response.defer(ephemeral=True)
        lines, characters = await self._deletion.forget(interaction.user.id)
        counts = [
            "One line was" if lines == 1 else f"{lines} lines were" if lines else "",
            "One character was" if characters == 1 else f"{characters} characters were",
        ]
        if not characters:
            counts.pop()
        sentences = [f"{count} permanently deleted." for count in counts if count]
        await interaction_replies.reply_privately(interaction, " ".join(sentences) or _NO_DATA)

    async def _pack_characters(self, user_id: int) -> bytes | None:
        """Return a ZIP archive with the user's characters and pictures, if they have any."""
        own = await self._characters.list_of(user_id)
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for number, one in enumerate(own, start=1):
                archive.writestr(f"{number}/character.yaml", dump_yaml(one.sheet))
                if picture := await self._characters.picture_of(one):
                    archive.writestr(f"{number}/picture.png", picture)
        return packed.getvalue() if own else None
