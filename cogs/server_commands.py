"""`/server`: settings that apply to every scene of a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import discord
from discord import app_commands
from discord.ext import commands

from bot.errors import Refused
from cogs import interaction_replies
from cogs.proxy_bots import KNOWN_PROXIES

if TYPE_CHECKING:
    from cogs.proxy_bots import ProxyBots


@app_commands.guild_only()
@app_commands.default_permissions(manage_guild=True)
class ServerCommands(
    commands.GroupCog,
    group_name="server",
    group_description="Settings for every scene of this server",
):
    """The commands under `/server`."""

    def __init__(self, proxies: ProxyBots) -> None:
        super().__init__()
        self._proxies = proxies

    @app_commands.command(
        description="Show or set the proxy bots whose posts count as their authors' lines"
    )
    @app_commands.describe(
        allow="A proxy bot to add", exclude="A proxy bot that no longer counts as one"
    )
    async def proxies(
        self,
        interaction: discord.Interaction,
        allow: discord.Member | None = None,
        exclude: discord.Member | None = None,
    ) -> None:
        """Set and show the proxy bots of the server."""
        if not interaction.permissions.manage_guild:
            raise Refused("Only people who may manage this server can do that.")
        guild_id = interaction.guild_id or 0
        if allow is not None:
            proxy = require_other_bot(interaction, allow)
            await self._proxies.choose(guild_id, proxy.id, allowed=True)
        if exclude is not None:
            proxy = require_other_bot(interaction, exclude)
            await self._proxies.choose(guild_id, proxy.id, allowed=False)
        chosen = sorted(await self._proxies.list_applications(guild_id))
        names = ", ".join(KNOWN_PROXIES.get(one, f"<@{one}>") for one in chosen)
        await interaction_replies.reply_privately(
            interaction,
            f"These proxy bots post for people in scenes of this server: {names}."
            if names
            else "No proxy bot posts for people in scenes of this server.",
        )


def require_other_bot(interaction: discord.Interaction, member: discord.Member) -> discord.Member:
    """Return a bot other than Aside. Raise Refused if it is Aside or a person."""
    if not member.bot:
        raise Refused("That is a person. Name a bot.")
    if member.id == interaction.application_id:
        raise Refused("That is Aside itself. Name another bot.")
    return member
