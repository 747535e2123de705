"""The checks of `aside doctor` that ask Discord: token, intents and permissions."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import aiohttp
import discord

from bot.cli.doctor.machine_checks import Check, State
from bot.cli.run.login import INTENT_MISSING, NO_LOGIN, explain_login_error, require_token
from bot.errors import SettingsError
from bot.posting.permissions import HIDDEN_NAME, create_invitation, list_missing_permissions

if TYPE_CHECKING:
    from bot.settings import Settings

_GATEWAY_TIMEOUT = 30.0  # seconds for Discord to send all servers
_MAX_CHANNELS = 5  # listed for each server


async def check_discord(settings: Settings) -> list[Check]:
    """Log in, check the permissions in every server's channels and log out. Posts no messages."""
    if settings.discord.token is None:
        return [Check("Discord", State.BAD, "the token is missing", NO_LOGIN)]
    try:
        token = require_token(settings)
    except SettingsError as error:
        return [Check("Discord", State.BAD, str(error))]
    intents = discord.Intents(guilds=True, guild_messages=True, message_content=True)
    client = discord.Client(
        intents=intents, proxy=settings.discord.proxy, chunk_guilds_at_startup=False
    )
    try:
        async with client:
            await client.login(token)
            return [_account(client), *await _online(client)]
    except discord.PrivilegedIntentsRequired:
        return [
            _account(client),
            Check("Intents", State.BAD, "message content is off", INTENT_MISSING),
        ]
    except (discord.DiscordException, aiohttp.ClientError, OSError) as error:
        return [Check("Discord", State.BAD, str(explain_login_error(error)))]


def _account(client: discord.Client) -> Check:
    link = create_invitation(client)
    return Check("Discord", State.GOOD, f"logged in as {client.user}; invite link: {link}")


async def _online(client: discord.Client) -> list[Check]:
    connection = asyncio.create_task(client.connect())
    ready = asyncio.create_task(client.wait_until_ready())
    try:
        await asyncio.wait(
            (connection, ready), timeout=_GATEWAY_TIMEOUT, return_when=asyncio.FIRST_COMPLETED
        )
        if connection.done():
            connection.result()
        if not ready.done():
            return [
                Check(
                    "Gateway",
                    State.BAD,
                    f"Discord did not answer within {_GATEWAY_TIMEOUT:.0f} seconds",
                    "check the network and https://discordstatus.com, then try again",
                )
            ]
        return [Check("Intents", State.GOOD, "message content is on"), *_servers(client)]
    finally:
        await client.close()
        ready.cancel()
        await asyncio.gather(connection, ready, return_exceptions=True)


def _servers(client: discord.Client) -> list[Check]:
    if not client.guilds:
        return [
            Check(
                "Servers",
                State.NOTE,
                "the bot has not joined a server yet",
                "open the invite link above",
            )
        ]
    return [check for guild in client.guilds for check in _server(guild)]


def _name_channel(channel: discord.TextChannel) -> str:
    hidden = channel.name == HIDDEN_NAME
    return f"channel {channel.id}" if hidden else f"#{channel.name}"


def _server(guild: discord.Guild) -> list[Check]:
    where = f"Server {guild.name}"
    lacking = {
        channel: list_missing_permissions(channel, guild.me) for channel in guild.text_channels
    }
    checks = [
        Check(
            where,
            State.NOTE,
            f"{_name_channel(channel)} lacks {', '.join(names)}",
            "allow it in the channel's settings",
        )
        for channel, names in list(lacking.items())
        if names
    ]
    shown = checks[:_MAX_CHANNELS]
    more = len(checks) - _MAX_CHANNELS
    if more > 0:
        shown.append(Check(where, State.NOTE, f"{more} more channels lack permissions"))
    if not guild.me.guild_permissions.manage_roles:
        shown.append(
            Check(where, State.NOTE, "without Manage Roles, typing @ does not suggest characters")
        )
    return shown or [
        Check(where, State.GOOD, f"all permissions are granted in {len(lacking)} channels")
    ]
