"""How interactions are answered: at once, privately unless said otherwise, and with one sentence where they fail."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import discord
from discord import app_commands

from bot.errors import AsideError
from bot.posting.attachments import create_files
from cogs.remedy_texts import describe_error

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence

    from bot.posting.render import Outgoing

_log = logging.getLogger(__name__)
_UNEXPECTED = "Something went wrong inside Aside; its log has the details. Nothing is lost."
_LONGEST = 2000
_TOO_LATE = 10062  # Discord's code for an interaction that it waits for no longer


async def reply_privately(
    interaction: discord.Interaction,
    text: str,
    *,
    files: Sequence[discord.File] = (),
    view: discord.ui.View | None = None,
) -> None:
    """Answer so that only the person who asked sees it."""
    extras: dict[str, Any] = {"view": view} if view else {}
    if interaction.response.is_done():
        await interaction.followup.send(
            text[:_LONGEST], ephemeral=True, files=list(files), **extras
        )
    else:
        await interaction.response.send_message(
            text[:_LONGEST], ephemeral=True, files=list(files), **extras
        )


async def run_reporting_errors(interaction: discord.Interaction, answer: Awaitable[None]) -> None:
    """Await an answer; where that fails, tell the person who asked why. For buttons and forms, of which discord.py
    would only log it."""
    try:
        await answer
    except Exception as error:
        await report_error(interaction, error)


async def reply_publicly(interaction: discord.Interaction, text: str) -> None:
    """Answer so that the whole channel sees it."""
    await interaction.response.send_message(text[:_LONGEST])


async def reply_with_messages(
    interaction: discord.Interaction, messages: Sequence[Outgoing]
) -> None:
    """Answer with rendered messages, so that only the person who asked sees them."""
    if not interaction.response.is_done():
        await interaction.response.defer(ephemeral=True)
    for message in messages:
        files = create_files(message)
        if message.author is None:
            await interaction.followup.send(message.text, files=files, ephemeral=True)
        else:
            embed = discord.Embed(description=message.text).set_author(name=message.author)
            await interaction.followup.send(embed=embed, files=files, ephemeral=True)


async def report_error(interaction: discord.Interaction, error: Exception) -> None:
    """Tell the person who asked, in one sentence, why it didn't work; the log has the rest."""
    cause = error.original if isinstance(error, app_commands.CommandInvokeError) else error
    if getattr(cause, "code", 0) == _TOO_LATE:
        _log.warning("An answer came too late for Discord: whoever asked reads that there was none")
        return
    if isinstance(cause, AsideError):
        sentence = describe_error(cause)
    elif isinstance(cause, app_commands.AppCommandError):
        sentence = f"That doesn't work here: {cause}"
    else:
        _log.error("An interaction failed", exc_info=cause)
        sentence = _UNEXPECTED
    try:
        await reply_privately(interaction, sentence)
    except discord.HTTPException as refused:
        _log.warning("A person could not be told that their request failed: %s", refused)
