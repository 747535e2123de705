"""Settings from `aside.yaml` in the working folder, overridden by `ASIDE_*` variables.

Every setting has a default. Relative paths start at the working folder. The two secrets, Discord's
token and a remote engine's key, are only read from the variables `DISCORD_TOKEN` and
`ASIDE_API_KEY`. The file `.env` in the working folder may set them.
"""

from __future__ import annotations

from bot.settings.load import load_settings
from bot.settings.schema import (
    DiscordSettings,
    LibrarySettings,
    LocalEngineSettings,
    LoggingSettings,
    PlaySettings,
    RemoteEngineSettings,
    SamplingSettings,
    Settings,
    StoreSettings,
)
from bot.settings.value_types import API_KEY, TOKEN

__all__ = [
    "API_KEY",
    "TOKEN",
    "DiscordSettings",
    "LibrarySettings",
    "LocalEngineSettings",
    "LoggingSettings",
    "PlaySettings",
    "RemoteEngineSettings",
    "SamplingSettings",
    "Settings",
    "StoreSettings",
    "load_settings",
]
