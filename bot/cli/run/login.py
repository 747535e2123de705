"""Check the token and explain why a login fails. `run`, `doctor` and `setup` share these checks."""

from __future__ import annotations

import socket
import ssl
from typing import TYPE_CHECKING

from bot.errors import AsideError, SettingsError
from bot.settings import TOKEN
from bot.settings.bot_token import require_bot_token

if TYPE_CHECKING:
    from bot.settings import Settings

PORTAL = "https://discord.com/developers/applications"
NO_LOGIN = (
    f"The Discord token is missing. Create an application at {PORTAL}, copy its bot's token, and "
    f"put {TOKEN}=… in a file named .env here or in the environment."
)
INTENT_MISSING = (
    "Discord refuses the message content intent. Switch on “Message Content Intent” under Bot at "
    f"{PORTAL}, then start again."
)
TOKEN_REJECTED = (
    "Discord does not accept the token. Use the token of a bot, not of a person's account. Reset "
    f"it at {PORTAL} (Bot, Reset Token) and put the new one in {TOKEN}."
)


class DiscordUnreachable(AsideError):
    """Discord can't be reached or refuses the bot's intents."""


def require_token(settings: Settings) -> str:
    """Return the bot's token.

    Raises SettingsError if it is missing or can't be a bot token. The message never quotes it.
    """
    token = settings.discord.token
    if token is None:
        raise SettingsError(NO_LOGIN)
    try:
        return require_bot_token(token.get_secret_value())
    except ValueError as error:
        raise SettingsError(f"{TOKEN}: {error}.") from None


def explain_login_error(error: Exception) -> AsideError:
    """Return a sentence with the cause of a failed login and its fix.

    `error` is raised by discord.py, aiohttp or the system. Raises it again if it is not about the
    login.
    """
    import discord

    if isinstance(error, discord.DiscordException):
        return _explain_discord_error(error)
    return _explain_connection_error(error)


def _explain_discord_error(error: Exception) -> AsideError:
    import discord

    match error:
        case discord.LoginFailure():
            return SettingsError(TOKEN_REJECTED)
        case discord.PrivilegedIntentsRequired():
            return DiscordUnreachable(INTENT_MISSING)
        case discord.ConnectionClosed(code=4011):
            return DiscordUnreachable(
                "Discord requires several shards for a bot on this many servers (4011). Limit the "
                "servers with `discord.guilds`, and leave the others."
            )
        case discord.ConnectionClosed():
            return DiscordUnreachable(
                f"Discord closed the connection ({error.code}). Start again in a few minutes."
            )
        case discord.HTTPException(status=429):
            return DiscordUnreachable(
                "Discord limits requests from this address (429). Wait an hour, then try again."
            )
        case discord.HTTPException():
            return DiscordUnreachable(
                f"Discord answered with an error ({error.status}). Check "
                "https://discordstatus.com, then try again."
            )
        case discord.GatewayNotFound():
            return DiscordUnreachable(
                "Discord's gateway is not available. Check https://discordstatus.com, then try "
                "again."
            )
        case _:
            raise error


def _explain_connection_error(error: Exception) -> AsideError:
    import aiohttp

    match error:
        case aiohttp.ClientHttpProxyError(status=407):
            return SettingsError(
                "The proxy in `discord.proxy` needs a user name and a password. Write "
                "http://NAME:PASSWORD@HOST:PORT."
            )
        case aiohttp.ClientHttpProxyError():
            return DiscordUnreachable(
                f"The proxy in `discord.proxy` refuses connections to Discord ({error.status}). "
                "Ask whoever runs it."
            )
        case aiohttp.ClientProxyConnectionError():
            return DiscordUnreachable(
                "Can't connect to the proxy in `discord.proxy`. Check its address, and that it is "
                "running."
            )
        case aiohttp.ClientConnectorError() if isinstance(error.os_error, socket.gaierror):
            return DiscordUnreachable(
                f"Can't find the address of {error.host}. Check the network and its DNS server."
            )
        case aiohttp.ClientConnectorCertificateError() | ssl.SSLError():
            return DiscordUnreachable(
                "Discord's certificate is not trusted. Check this machine's clock. If a company "
                "intercepts connections, set SSL_CERT_FILE to its certificate."
            )
        case TimeoutError():
            return DiscordUnreachable("Discord did not answer in time. Check the network.")
        case aiohttp.ClientError() | OSError():
            return DiscordUnreachable(
                f"Can't connect to Discord ({type(error).__name__}). Check the network."
            )
        case _:
            raise error
