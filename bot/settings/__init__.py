"""The settings: `aside.yaml` in the working folder, and `ASIDE_*` variables over it. Everything has a default.

Relative paths are taken from the working folder. The two secrets, Discord's token and a remote engine's key, come from
the variables `DISCORD_TOKEN` and `ASIDE_API_KEY` and from nowhere else; `.env` in the working folder may hold them.
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
