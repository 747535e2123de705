"""Whose a token is, asked of Discord without going online."""

from __future__ import annotations

from dataclasses import dataclass

import aiohttp
import discord

from bot.errors import AsideError, UserInputError
from bot.posting.permissions import INVITE_PERMISSIONS


class TokenNotChecked(AsideError):
    """Discord can't be reached, so that a token can't be checked."""


@dataclass(frozen=True, slots=True)
class Account:
    """A bot's account: its name, the link that invites it, and whether it may read what people write."""

    name: str
    invitation: str
    message_content: bool


async def fetch_account(token: str, proxy: str | None = None) -> Account:
    """Return the account that a token opens. Raises UserInputError where it opens none, and DiscordSilent."""
    client = discord.Client(intents=discord.Intents.none(), proxy=proxy)
    try:
        async with client:
            await client.login(token)
            link = discord.utils.oauth_url(
                client.application_id or 0, permissions=INVITE_PERMISSIONS
            )
            flags = client.application_flags
            reads = flags.gateway_message_content or flags.gateway_message_content_limited
            return Account(str(client.user), link, reads)
    except discord.LoginFailure as error:
        raise UserInputError(
            "Discord does not accept this token: copy it anew from https://discord.com/developers/applications (Bot, "
            "Reset Token)."
        ) from error
    except (discord.HTTPException, aiohttp.ClientError, OSError) as error:
        raise TokenNotChecked(
            f"Discord can't be asked about the token ({type(error).__name__}): check the network, or say --offline."
        ) from error
