"""The long-lived objects behind the Discord commands."""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.library.library import Library
from bot.package_data import find_shipped_folder
from bot.posting.channel_access import ChannelAccess
from bot.posting.delivery import DiscordDelivery
from bot.scenes.branching import Branching
from bot.scenes.data_deletion import DataDeletion
from bot.scenes.departures import Departures
from bot.scenes.gm_actions import GmActions
from bot.scenes.gm_notes import GmNotes
from bot.scenes.insight import Insight
from bot.scenes.line_changes import LineChanges
from bot.scenes.own_characters import OwnCharacters
from bot.scenes.persona_lines import PersonaLines
from bot.scenes.player_lines import PlayerLines
from bot.scenes.proxied_lines import ProxiedLines
from bot.scenes.proxy_matching import RecentLines
from bot.scenes.reply_generation import ReplyGenerator, ReplyLimits
from bot.scenes.story_events import StoryEvents
from bot.scenes.takes import Takes
from bot.scenes.theatre import Theatre
from bot.scenes.undo import Undo
from bot.transcript.transcripts import Transcripts
from cogs import remedy_texts
from cogs.ephemeral import EphemeralAnswers

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    import discord

    from bot.engine.protocol import Engine
    from bot.posting.direct_messages import NotifyAbout
    from bot.settings import Settings
    from bot.store.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """The objects that the cogs share. The owner awaits `close`.

    The engine and the store belong to the bot, which closes them afterwards.
    """

    store: Store
    library: Library
    delivery: DiscordDelivery
    ephemeral_answers: EphemeralAnswers
    theatre: Theatre
    gm_actions: GmActions
    gm_notes: GmNotes
    insight: Insight
    story_events: StoryEvents
    player_lines: PlayerLines
    line_changes: LineChanges
    proxied_lines: ProxiedLines
    persona_lines: PersonaLines
    takes: Takes
    undo: Undo
    branching: Branching
    data_deletion: DataDeletion
    departures: Departures
    own_characters: OwnCharacters
    transcripts: Transcripts

    async def close(self) -> None:
        """Stop all scenes and end the requests in progress."""
        await self.proxied_lines.close()
        await self.theatre.close()
        await self.delivery.close()


async def create_services(
    settings: Settings,
    *,
    client: discord.Client,
    engine: Engine,
    store: Store,
    notify_unreachable: NotifyAbout,
    notify_departed: NotifyAbout,
    now: Callable[[], datetime],
) -> Services:
    """Return the services for a client, an engine and an open store.

    `now` returns the time by Discord's clock. `notify_unreachable` is called if a game master can't
    be reached by direct message, and `notify_departed` if a person can no longer read the place of
    their scene.
    """
    folders = [*settings.library.folders, find_shipped_folder("personas")]
    library = await asyncio.to_thread(Library, folders)
    ephemeral_answers = EphemeralAnswers()
    delivery = DiscordDelivery(
        client=client,
        posts=store,
        people=store,
        unreachable=await store.unreachable_people(),
        faces=library,
        own_pictures=store,
        private_answers=ephemeral_answers,
        describe_notice=remedy_texts.describe_notice,
        notify_unreachable=notify_unreachable,
        notify_departed=notify_departed,
        streaming=settings.play.streaming,
        last_earlier_turn=await store.newest_turn(),
    )
    generator = ReplyGenerator(
        engine=engine, limits=ReplyLimits(**settings.play.limits()), new_seed=_draw_seed
    )
    theatre = Theatre(store=store, delivery=delivery, generator=generator, now=now)
    recent = RecentLines()
    player_lines = PlayerLines(theatre=theatre, store=store, now=now, recent=recent)
    line_changes = LineChanges(theatre=theatre, store=store, posts=store, now=now)
    takes = Takes(theatre=theatre, store=store, delivery=delivery)
    own_characters = OwnCharacters(
        theatre=theatre, store=store, characters=store, pictures=delivery
    )
    return Services(
        store=store,
        library=library,
        delivery=delivery,
        ephemeral_answers=ephemeral_answers,
        theatre=theatre,
        gm_actions=GmActions(theatre=theatre, store=store),
        gm_notes=GmNotes(theatre=theatre, store=store, generator=generator, now=now),
        insight=Insight(
            theatre=theatre, store=store, access=ChannelAccess(client), now=now, chance=_roll
        ),
        story_events=StoryEvents(
            theatre=theatre, store=store, delivery=delivery, now=now, chance=_roll
        ),
        player_lines=player_lines,
        line_changes=line_changes,
        proxied_lines=ProxiedLines(
            theatre=theatre,
            store=store,
            lines=player_lines,
            changes=line_changes,
            recent=recent,
            now=now,
        ),
        persona_lines=PersonaLines(
            theatre=theatre,
            store=store,
            reposts=store,
            changes=line_changes,
            voice=delivery.lines,
        ),
        takes=takes,
        undo=Undo(theatre=theatre, store=store, delivery=delivery, takes=takes, now=now),
        branching=Branching(theatre=theatre, store=store, now=now),
        departures=Departures(theatre=theatre, access=ChannelAccess(client)),
        own_characters=own_characters,
        data_deletion=DataDeletion(
            scenes=theatre,
            store=store,
            characters=own_characters,
            eraser=delivery,
            takes=takes,
        ),
        transcripts=Transcripts(store, library),
    )


def _draw_seed() -> int:
    return secrets.randbits(32)


def _roll(sides: int) -> int:
    return secrets.randbelow(sides) + 1
