"""The cogs of the bot: its commands, context menus, buttons and event listeners."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from bot.library.pictures import square_upload
from cogs.cast_commands import CastCommands
from cogs.catch_up import MissedMessages
from cogs.character_commands import CharacterCommands
from cogs.gm_commands import GmCommands
from cogs.help_commands import HelpCommands
from cogs.incoming_messages import IncomingMessages
from cogs.insight_commands import InsightCommands
from cogs.listener import Listener
from cogs.mydata_commands import MyDataCommands
from cogs.persona_line_actions import PersonaLineActions
from cogs.play_commands import PlayCommands
from cogs.proxy_bots import ProxyBots
from cogs.reply_actions import ReplyActions
from cogs.reveal_commands import RevealCommands
from cogs.role_cleanup import RoleCleanup
from cogs.scene_commands import SceneCommands
from cogs.server_commands import ServerCommands
from cogs.story_actions import StoryActions
from cogs.undelivered import Undelivered

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from discord.ext import commands

    from bot.services import Services
    from cogs.help_commands import About
    from cogs.scene_commands import OwnerSettings


def create_cogs(
    bot: commands.Bot,
    services: Services,
    owner_settings: OwnerSettings,
    about: About,
    now: Callable[[], datetime],
) -> tuple[commands.Cog, ...]:
    """Return every cog of the bot. `now` returns the time by Discord's clock."""
    theatre = services.theatre
    store = services.store
    delivery = services.delivery
    story_actions = StoryActions(
        bot=bot,
        theatre=theatre,
        takes=services.takes,
        undoing=services.undo,
        branching=services.branching,
        posts=store,
    )
    proxies = ProxyBots(store)
    incoming = IncomingMessages(proxies, now)
    missed = MissedMessages(
        bot=bot,
        lines=services.player_lines,
        changes=services.line_changes,
        proxied=services.proxied_lines,
        incoming=incoming,
        now=now,
    )
    return (
        SceneCommands(
            theatre=theatre,
            actions=services.gm_actions,
            story=story_actions,
            library=services.library,
            delivery=delivery,
            settings=owner_settings,
            missed=missed,
            transcripts=services.transcripts,
        ),
        CastCommands(
            theatre=theatre,
            actions=services.gm_actions,
            departures=services.departures,
            characters=services.own_characters,
            personas=services.persona_lines,
        ),
        PersonaLineActions(theatre=theatre, personas=services.persona_lines, poster=delivery.lines),
        CharacterCommands(characters=services.own_characters, square_upload=_square_upload),
        GmCommands(
            theatre=theatre,
            actions=services.gm_actions,
            events=services.story_events,
            notes=services.gm_notes,
            delivery=delivery,
            departures=services.departures,
            insight=services.insight,
        ),
        InsightCommands(theatre=theatre, insight=services.insight, delivery=delivery, posts=store),
        PlayCommands(
            theatre=theatre,
            events=services.story_events,
            ephemeral=services.ephemeral_answers,
            posts=store,
            departures=services.departures,
        ),
        RevealCommands(theatre=theatre, delivery=delivery),
        MyDataCommands(
            store=store, characters=services.own_characters, deletion=services.data_deletion
        ),
        ServerCommands(proxies=proxies),
        ReplyActions(bot=bot, theatre=theatre, takes=services.takes, posts=store),
        story_actions,
        Undelivered(theatre=theatre, delivery=delivery),
        HelpCommands(
            bot=bot,
            theatre=theatre,
            settings=owner_settings,
            about=about,
        ),
        RoleCleanup(bot=bot, theatre=theatre, store=store),
        Listener(
            bot=bot,
            theatre=theatre,
            lines=services.player_lines,
            proxied=services.proxied_lines,
            incoming=incoming,
            missed=missed,
            personas=services.persona_lines,
            departures=services.departures,
        ),
    )


async def _square_upload(data: bytes, name: str) -> bytes:
    """Return an uploaded picture as a square PNG. Raises CharacterError."""
    return await asyncio.to_thread(square_upload, data, name)
