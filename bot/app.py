"""Wires everything: settings in, a Discord client out."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import secrets
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import discord
from discord.ext import commands

from bot.engine_factory import create_engine, describe_engine, engine_warning
from bot.library.library import Library
from bot.package_data import shipped_folder
from bot.posting.delivery import DiscordDelivery
from bot.posting.reply_poster import ReplyPoster
from bot.scenes.branching import Branching
from bot.scenes.data_deletion import DataDeletion
from bot.scenes.gm_actions import GmActions
from bot.scenes.gm_notes import GmNotes
from bot.scenes.player_lines import PlayerLines
from bot.scenes.reply_generation import ReplyGenerator, ReplyLimits
from bot.scenes.story_events import StoryEvents
from bot.scenes.takes import Takes
from bot.scenes.theatre import Theatre
from bot.scenes.undo import Undo
from bot.store.store import Store
from cogs import interaction_replies, remedy_texts
from cogs.buttons import BUTTONS
from cogs.cast import CastCommands
from cogs.ephemeral import EphemeralAnswers
from cogs.gm import GmCommands
from cogs.listener import Listener
from cogs.mydata import MyDataCommands
from cogs.play import PlayCommands
from cogs.reply_actions import ReplyActions
from cogs.reveal import RevealCommands
from cogs.scene import OwnerSettings, SceneCommands
from cogs.story_actions import StoryActions
from cogs.undelivered import Undelivered

if TYPE_CHECKING:
    from bot.engine.protocol import Engine, EngineInfo
    from bot.scenes.scene import Scene
    from bot.settings import Settings

_log = logging.getLogger(__name__)
_SYNCED = "synced commands"


def create_bot(
    settings: Settings, *, engine: Engine | None = None, **client_options: Any
) -> commands.Bot:
    """Return the bot, everything wired and nothing started.

    An engine handed in is used and left to its owner, who starts and closes it; without one, the engine of the
    settings starts with the bot. `client_options` reach discord.py's constructor. Closing the bot closes everything
    it opened.
    """
    return Aside(settings, engine, client_options)


class Aside(commands.Bot):
    """The Discord client. It holds no state of a scene's: that is the theatre's."""

    def __init__(
        self, settings: Settings, engine: Engine | None, client_options: dict[str, Any]
    ) -> None:
        options: dict[str, Any] = {
            "command_prefix": (),
            "help_command": None,
            "intents": discord.Intents(guilds=True, guild_messages=True, message_content=True),
            "allowed_mentions": discord.AllowedMentions.none(),
            "member_cache_flags": discord.MemberCacheFlags.none(),
            "chunk_guilds_at_startup": False,
            "max_messages": None,
            "proxy": settings.discord.proxy,
        }
        discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = (
            False  # nobody speaks aloud here
        )
        super().__init__(**(options | client_options))
        self._settings = settings
        self._own_engine = None if engine else create_engine(settings)
        self._engine = engine or self._own_engine
        self._store: Store | None = None
        self._theatre: Theatre | None = None
        self._stage: ReplyPoster | None = None
        self.tree.error(interaction_replies.report_error)

    async def on_message(self, message: discord.Message, /) -> None:
        """Leave messages to the listener: there are no commands with a prefix."""

    async def setup_hook(self) -> None:
        """Open the store, start the engine, take up every scene, and offer the commands."""
        settings = self._settings
        engine = self.engine
        if self._own_engine is not None:
            await self._own_engine.start()
        _log.info("Replies are written by %s", describe_engine(engine.info))
        if caution := engine_warning(engine.info):
            _log.warning("%s", caution)
        store = self._store = await Store.open(settings.store.path)
        library = await asyncio.to_thread(
            Library, [*settings.library.folders, shipped_folder("personas")]
        )
        stage = self._stage = ReplyPoster(
            self,
            *(store, library),
            unreached=self._unreached,
            streaming=settings.play.streaming,
            earlier=await store.newest_turn(),
        )
        limits = ReplyLimits(**settings.play.limits())
        performance = ReplyGenerator(engine, limits, lambda: secrets.randbits(32))
        confidences = EphemeralAnswers()
        wings = DiscordDelivery(
            stage, self, store, confidences, self._unreached, remedy_texts.describe_notice
        )
        theatre = self._theatre = Theatre(store, wings, performance, _now)
        direction, telling = (
            GmActions(theatre, store),
            StoryEvents(theatre, store, wings, _now, _chance),
        )
        hearing, takes = PlayerLines(theatre, store, store, _now), Takes(theatre, store, wings)
        undoing, branching = (
            Undo(theatre, store, wings, takes, _now),
            Branching(theatre, store, _now),
        )
        story = StoryActions(self, theatre, takes, undoing, branching, store)
        await theatre.open()
        for cog in (
            SceneCommands(
                theatre, direction, story, library, stage, self._house_rules(engine.info)
            ),
            CastCommands(theatre, direction),
            GmCommands(
                theatre, direction, telling, GmNotes(theatre, store, performance, _now), stage
            ),
            PlayCommands(theatre, telling, confidences, store),
            RevealCommands(theatre, stage),
            MyDataCommands(store, DataDeletion(store, stage, takes)),
            ReplyActions(self, theatre, takes, store),
            story,
            Undelivered(
                theatre, lambda user_id: stage.undelivered(user_id) or wings.undelivered(user_id)
            ),
            Listener(self, theatre, hearing),
        ):
            await self.add_cog(cog)
        self.add_dynamic_items(*BUTTONS)
        await self._offer_commands(store)

    async def close(self) -> None:
        """End the runners, close Discord, the engine where it is the bot's own, and the store."""
        if self._theatre is not None:
            await self._theatre.close()
        if self._stage is not None:
            await self._stage.close()
        await super().close()
        if self._own_engine is not None:
            await self._own_engine.close()
        if self._store is not None:
            await self._store.close()

    async def _unreached(self, scene: Scene, gm_id: int) -> None:
        undelivered = self.get_cog(Undelivered.__name__)
        if isinstance(undelivered, Undelivered):
            await undelivered.unreached(scene, gm_id)

    async def _offer_commands(self, store: Store) -> None:
        """Sync the commands with Discord where they are not what was synced last, or Discord has lost them."""
        payload = [command.to_dict(self.tree) for command in self.tree.get_commands()]
        digest = hashlib.sha256(
            json.dumps(payload, sort_keys=True, default=str).encode()
        ).hexdigest()
        known = {command.name for command in await self.tree.fetch_commands()}
        if await store.fact(_SYNCED) != digest or known != {
            command.name for command in self.tree.get_commands()
        }:
            await self.tree.sync()
            await store.set_fact(_SYNCED, digest)

    def _house_rules(self, info: EngineInfo) -> OwnerSettings:
        discord_ = self._settings.discord
        guilds = frozenset(discord_.guilds) if discord_.guilds is not None else None
        return OwnerSettings(guilds, discord_.mention_roles, engine_warning(info))

    @property
    def engine(self) -> Engine:
        """What writes the replies."""
        assert self._engine is not None  # noqa: S101 - one of the two always is
        return self._engine


def _now() -> datetime:
    return datetime.now(UTC)


def _chance(most: int) -> int:
    return secrets.randbelow(most) + 1
