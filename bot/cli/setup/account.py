"""Look up the account of a bot token without going online."""

from __future__ import annotations

from dataclasses import dataclass

import aiohttp
import discord

from bot.errors import AsideError, UserInputError
from bot.posting.permissions import create_invitation


class TokenNotChecked(AsideError):
    """Discord can't be reached, so the token is not checked."""


@dataclass(frozen=True, slots=True)
class Account:
    """A bot's name, its invite link, and whether it has the message content intent."""

    name: str
    invitation: str
    message_content: bool


async def fetch_account(token: str, proxy: str | None = None) -> Account:
    """Return the account of a token.

    Raises UserInputError if Discord rejects it and TokenNotChecked if Discord can't be reached.
    """
    client = discord.Client(intents=discord.Intents.none(), proxy=proxy)
    try:
        async with client:
            await client.login(token)
            link = create_invitation(client)
            flags = client.application_flags
            reads = flags.gateway_message_content or flags.gateway_message_content_limited
            return Account(str(client.user), link, reads)
    except discord.LoginFailure as error:
        raise UserInputError(
            "Discord does not accept this token. Reset it at "
            "https://discord.com/developers/applications (Bot, Reset Token) and copy the new one."
        ) from error
    except (discord.HTTPException, aiohttp.ClientError, OSError) as error:
        raise TokenNotChecked(
            f"Can't connect to Discord to check the token ({type(error).__name__}). Check the "
            "network, "
            "or skip the check with --offline."
        ) from error
