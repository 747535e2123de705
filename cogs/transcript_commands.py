"""`/scene transcript`: the story as a file, only for the person who asks."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Final

import discord
from discord import app_commands
from discord.ext import commands

from bot.errors import Refused
from bot.scenes.cast import require_gm
from bot.transcript.format_name import FormatName
from bot.transcript.transcript_content import Reader
from cogs import autocomplete

if TYPE_CHECKING:
    from bot.scenes.scene import Scene
    from bot.scenes.theatre import Theatre
    from bot.transcript.transcripts import Transcripts

_MAX_BYTES: Final = 8 * 1024 * 1024  # below Discord's lowest limit for one file
_PROGRESS_STEP: Final = 2_000  # turns between two edits of the answer, to spare requests
_FORMATS: Final = [
    app_commands.Choice(name="HTML: a page for the browser, with faces", value="html"),
    app_commands.Choice(name="Markdown: plain text", value="md"),
    app_commands.Choice(name="JSON: for programs", value="json"),
]


class TranscriptCommand(commands.Cog):
    """The command `/scene transcript`."""

    _theatre: Theatre
    _transcripts: Transcripts

    @app_commands.command(description="Get the story so far as a file, only for you")
    @app_commands.rename(format_="format", scene_id="scene")
    @app_commands.describe(
        format_="The kind of file (default: HTML)",
        thoughts="Include all thoughts and planning (game masters)",
        scene_id="One of your ended scenes (default: the scene in this channel)",
    )
    @app_commands.choices(format_=_FORMATS)
    async def transcript(
        self,
        interaction: discord.Interaction,
        format_: str = "html",
        thoughts: bool = False,
        scene_id: str | None = None,
    ) -> None:
        """Send the story as one or more files that only the user sees."""
        if not interaction.permissions.read_message_history:
            raise Refused("You may not read the message history of this channel.")
        scene = await self._find_scene(interaction, scene_id)
        if thoughts:
            require_gm(scene, interaction.user.id)
        await interaction.response.defer(ephemeral=True, thinking=True)

        async def show_progress(turns: int) -> None:
            if turns % _PROGRESS_STEP:
                return
            await interaction.edit_original_response(content=f"Reading the story: {turns:,} turns…")

        files = self._transcripts.write(
            scene,
            Reader(interaction.user.id, has_thoughts=thoughts),
            FormatName(format_),
            max_bytes=_MAX_BYTES,
            on_progress=show_progress,
        )
        sent = 0
        async for file in files:
            attachment = discord.File(io.BytesIO(file.content), filename=file.name)
            await interaction.followup.send(file=attachment, ephemeral=True)
            sent += file.turns
        await interaction.edit_original_response(content=_describe(sent, thoughts=thoughts))

    @transcript.autocomplete("scene_id")
    async def _complete_scene(
        self, interaction: discord.Interaction, typed: str
    ) -> list[app_commands.Choice[str]]:
        found = await self._theatre.queries.list_reopenable(
            interaction.guild_id or 0, (interaction.user.id,)
        )
        matching = [one for one in found if autocomplete.matches_scene(typed, one)]
        return [autocomplete.scene_choice(one) for one in matching[: autocomplete.MAX_CHOICES]]

    async def _find_scene(self, interaction: discord.Interaction, scene_id: str | None) -> Scene:
        """Return the scene of the channel, or the user's ended scene. Raise Refused."""
        if scene_id is None:
            return self._theatre.require_scene(interaction.channel_id or 0)
        found = await self._theatre.queries.list_reopenable(
            interaction.guild_id or 0, (interaction.user.id,)
        )
        for scene in found:
            if str(scene.id) == scene_id:
                return scene
        raise Refused("Choose one of your ended scenes from the list.")


def _describe(turns: int, *, thoughts: bool) -> str:
    if not turns:
        return "No one has spoken in this scene yet."
    story = "one turn" if turns == 1 else f"{turns:,} turns"
    if thoughts:
        return f"The story so far: {story}, with all thoughts. Keep this file to yourself."
    return f"The story so far: {story}."
