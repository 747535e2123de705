"""Answers to interactions, and one sentence for each error."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import discord
from discord import app_commands

from bot.errors import AsideError, Refused, ScenarioError, UserInputError
from bot.posting.attachments import create_files
from cogs.remedy_texts import describe_error

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence

    from bot.posting.render import Outgoing

_log = logging.getLogger(__name__)
_UNEXPECTED = "Something went wrong inside Aside. Nothing is lost. Its log has the details."
_LONGEST = 2000
_UNKNOWN_INTERACTION = 10062  # Discord stopped waiting for the answer after three seconds


async def reply_privately(
    interaction: discord.Interaction,
    text: str,
    *,
    files: Sequence[discord.File] = (),
    view: discord.ui.View | None = None,
) -> None:
    """Answer so that only the user sees it."""
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
    """Await an answer and report its error to the user.

    Buttons and forms need it: discord.py only logs their errors.
    """
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
    """Answer with rendered messages that only the user sees."""
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
    """Tell the user in one sentence why their request failed. The log has the details."""
    cause = error.original if isinstance(error, app_commands.CommandInvokeError) else error
    if getattr(cause, "code", 0) == _UNKNOWN_INTERACTION:
        _log.warning(
            "An answer came after three seconds, so Discord showed that the bot did not respond"
        )
        return
    if isinstance(cause, AsideError):
        sentence = describe_error(cause)
        if not isinstance(cause, Refused | UserInputError):
            _log.warning("An interaction failed: %s", cause, exc_info=cause.__cause__)
        elif isinstance(cause, ScenarioError):
            _log.warning("A scenario is invalid: %s", cause)
    elif isinstance(cause, app_commands.AppCommandError):
        sentence = f"That does not work here. {cause}"
    else:
        _log.error("An interaction failed", exc_info=cause)
        sentence = _UNEXPECTED
    try:
        await reply_privately(interaction, sentence)
    except discord.HTTPException as refused:
        _log.warning("An error could not be reported to the user: %s", refused)
