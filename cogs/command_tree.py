"""The tree of application commands, with the check that precedes all of them."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import discord
from discord import app_commands
from discord.ext import commands

from bot.posting.permissions import create_invitation
from cogs import interaction_replies

_Command: TypeAlias = app_commands.Command[Any, ..., Any] | app_commands.ContextMenu

_WITHOUT_MEMBERSHIP: Final = frozenset({"mydata"})  # people keep the power over their data
_NOT_A_MEMBER = (
    "I am not a member of this server, so I can't read or post here. A person who may manage the"
    " server can invite me: {invitation}"
)


class CommandTree(app_commands.CommandTree[commands.Bot]):
    """Refuses commands on servers that the bot is not a member of, except those for personal data.

    A server can add the bot's commands without the bot itself.
    """

    async def interaction_check(self, interaction: discord.Interaction, /) -> bool:
        """Return whether the command can work on this server. If not, explain how to fix it."""
        command = interaction.command
        if command is None or not _needs_membership(command) or is_member(interaction):
            return True
        if interaction.type is discord.InteractionType.application_command:
            await explain_invitation(interaction)
        return False

    async def on_error(
        self, interaction: discord.Interaction, error: app_commands.AppCommandError, /
    ) -> None:
        """Report the error to the person who used the command."""
        await interaction_replies.report_error(interaction, error)


def is_member(interaction: discord.Interaction) -> bool:
    """Return whether the bot is a member of the interaction's server, if it has one."""
    guild_id = interaction.guild_id
    return guild_id is None or interaction.client.get_guild(guild_id) is not None


async def explain_invitation(interaction: discord.Interaction) -> None:
    """Say that the bot is not a member of the server, with the address that invites it."""
    invitation = create_invitation(interaction.client, interaction.guild_id)
    await interaction_replies.reply_privately(
        interaction, _NOT_A_MEMBER.format(invitation=invitation)
    )


def _needs_membership(command: _Command) -> bool:
    root = None if isinstance(command, app_commands.ContextMenu) else command.root_parent
    return (root or command).name not in _WITHOUT_MEMBERSHIP
