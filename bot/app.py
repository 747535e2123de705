"""Puts the bot together: from settings to a Discord client."""

from __future__ import annotations

import hashlib
import json
import logging
from datetime import timedelta
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import discord
from discord.ext import commands

from bot.cog_list import create_cogs
from bot.engine_factory import create_engine, describe_engine, engine_warning
from bot.posting.discord_clock import DiscordClock
from bot.services import create_services
from bot.store.backup_schedule import BackupSchedule
from bot.store.store import Store
from cogs.button_handlers import BUTTONS
from cogs.command_tree import CommandTree
from cogs.help_commands import About
from cogs.scene_commands import OwnerSettings
from cogs.undelivered import Undelivered

if TYPE_CHECKING:
    from bot.engine.protocol import Engine
    from bot.scenes.scene import Scene
    from bot.services import Services
    from bot.settings import Settings

_log = logging.getLogger(__name__)
_SYNCED_COMMANDS = "synced commands"  # a key in the database


def create_bot(
    settings: Settings, *, engine: Engine | None = None, **client_options: Any
) -> commands.Bot:
    """Return the bot, fully wired but not started.

    The owner of an `engine` that is passed in starts and closes it. Without one, the bot starts and
    closes the engine of the settings. `client_options` go to discord.py's constructor. Closing the
    bot closes everything that it opened.
    """
    return Aside(settings, engine, client_options)


class Aside(commands.Bot):
    """The Discord client. The theatre owns the state of the scenes."""

    def __init__(
        self, settings: Settings, engine: Engine | None, client_options: dict[str, Any]
    ) -> None:
        options: dict[str, Any] = {
            "command_prefix": (),
            "tree_cls": CommandTree,
            "help_command": None,
            "intents": discord.Intents(guilds=True, guild_messages=True, message_content=True),
            "allowed_mentions": discord.AllowedMentions.none(),
            "member_cache_flags": discord.MemberCacheFlags.none(),
            "chunk_guilds_at_startup": False,
            "max_messages": None,
            "proxy": settings.discord.proxy,
        }
        # Aside uses no voice, so discord.py need not warn about missing voice libraries.
        discord.VoiceClient.warn_nacl = False
        discord.VoiceClient.warn_dave = False
        super().__init__(**(options | client_options))
        self._settings = settings
        self._own_engine = None if engine else create_engine(settings)
        self._engine = engine or self._own_engine
        self._clock = DiscordClock()
        self._store: Store | None = None
        self._services: Services | None = None
        self._backups: BackupSchedule | None = None

    def dispatch(self, event: str, /, *args: Any, **kwargs: Any) -> None:
        """Note the time of an event, then pass it on."""
        if event in ("message", "interaction"):
            self._clock.observe(args[0].id)
        super().dispatch(event, *args, **kwargs)

    async def on_message(self, message: discord.Message, /) -> None:
        """Ignore messages: the listener handles them, and no command has a prefix."""

    async def setup_hook(self) -> None:
        """Start the engine, open the store, load the scenes and add the commands."""
        await self._start_engine()
        self._store = await Store.open(self._settings.store.path)
        self._services = await create_services(
            self._settings,
            client=self,
            engine=self.engine,
            store=self._store,
            notify_unreachable=self._notify_unreachable,
            notify_departed=self._release_departed,
            now=self._clock.now,
        )
        await self._services.theatre.open()
        self._start_backups()
        info = self.engine.info
        about = About(version("aside"), info.model, is_remote=info.kind == "remote")
        cogs = create_cogs(
            self, self._services, self._owner_settings(), about=about, now=self._clock.now
        )
        for cog in cogs:
            await self.add_cog(cog)
        self.add_dynamic_items(*BUTTONS)
        await self._sync_commands(self._store)

    async def close(self) -> None:
        """Stop the scenes, then close Discord, the engine if it is the bot's own, and the store."""
        if self._backups is not None:
            await self._backups.close()
        if self._services is not None:
            await self._services.close()
        await super().close()
        if self._own_engine is not None:
            await self._own_engine.close()
        if self._store is not None:
            await self._store.close()

    @property
    def engine(self) -> Engine:
        """The engine that generates the replies."""
        assert self._engine is not None  # noqa: S101 - one of the two engines always exists
        return self._engine

    async def _start_engine(self) -> None:
        if self._own_engine is not None:
            await self._own_engine.start()
        _log.info("Engine: %s", describe_engine(self.engine.info))
        if warning := engine_warning(self.engine.info):
            _log.warning("%s", warning)

    def _start_backups(self) -> None:
        store = self._settings.store
        if store.backups.folder is not None:
            interval = timedelta(hours=store.backups.every_hours)
            self._backups = BackupSchedule(
                store.path, store.backups.folder, interval, store.backups.keep
            )
            self._backups.start()

    async def _notify_unreachable(self, scene: Scene, gm_id: int) -> None:
        undelivered = self.get_cog(Undelivered.__name__)
        if isinstance(undelivered, Undelivered):
            await undelivered.notify_unreached(scene, gm_id)

    async def _release_departed(self, scene: Scene, user_id: int) -> None:
        if self._services is not None:
            await self._services.departures.release(scene, user_id)

    async def _sync_commands(self, store: Store) -> None:
        """Sync the commands with Discord if they changed or if Discord has lost them."""
        commands_ = self.tree.get_commands()
        payload = json.dumps(
            [command.to_dict(self.tree) for command in commands_], sort_keys=True, default=str
        )
        digest = hashlib.sha256(payload.encode()).hexdigest()
        names = {command.name for command in commands_}
        registered = {command.name for command in await self.tree.fetch_commands()}
        if await store.fact(_SYNCED_COMMANDS) != digest or registered != names:
            await self.tree.sync()
            await store.set_fact(_SYNCED_COMMANDS, digest)

    def _owner_settings(self) -> OwnerSettings:
        options = self._settings.discord
        return OwnerSettings(
            guilds=None if options.guilds is None else frozenset(options.guilds),
            roles=options.mention_roles,
            caution=engine_warning(self.engine.info),
        )
