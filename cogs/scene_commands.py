"""`/scene`: start, pause, end, reopen and inspect scenes."""

from __future__ import annotations

import asyncio
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import discord
from discord import app_commands
from discord.ext import commands

from bot.errors import Refused
from bot.posting import character_roles, permissions, status_pages
from bot.scenes import cast as scene_cast
from bot.scenes.scene import (
    AT_TERMINAL,
    MAX_BUDGET,
    Mode,
    Place,
)
from cogs import autocomplete, interaction_replies
from cogs.help_topics import for_game_masters
from cogs.transcript_commands import TranscriptCommand

if TYPE_CHECKING:
    from bot.library.library import Library
    from bot.posting.delivery import DiscordDelivery
    from bot.scenes.gm_actions import GmActions
    from bot.scenes.scene import Scene
    from bot.scenes.theatre import Theatre
    from bot.transcript.transcripts import Transcripts
    from cogs.catch_up import MissedMessages
    from cogs.story_actions import StoryActions

_MODES = [
    app_commands.Choice(
        name="addressed: only addressed characters answer", value=Mode.ADDRESSED.value
    ),
    app_commands.Choice(name="auto: characters also answer when it fits", value=Mode.AUTO.value),
]

Stageable = discord.TextChannel | discord.Thread


@dataclass(frozen=True, slots=True)
class OwnerSettings:
    """The owner's settings for every scene."""

    guilds: frozenset[int] | None = None  # allowed servers; None: all
    roles: bool = True  # create a mentionable role for each character
    caution: str | None = None  # a warning about the engine for whoever starts a scene


@app_commands.guild_only()
class SceneCommands(
    TranscriptCommand,
    commands.GroupCog,
    group_name="scene",
    group_description="Start, end and inspect a scene",
):
    """The commands under `/scene`."""

    def __init__(
        self,
        theatre: Theatre,
        actions: GmActions,
        story: StoryActions,
        library: Library,
        delivery: DiscordDelivery,
        settings: OwnerSettings,
        missed: MissedMessages,
        transcripts: Transcripts,
    ) -> None:
        super().__init__()
        self._transcripts = transcripts
        self._missed = missed
        self._story = story
        self._actions = actions
        self._theatre = theatre
        self._library = library
        self._delivery = delivery
        self._settings = settings

    @app_commands.command(description="Start a scene in this channel")
    @app_commands.describe(scenario="The scenario to play", gm="The game master (default: you)")
    async def start(
        self, interaction: discord.Interaction, scenario: str, gm: discord.Member | None = None
    ) -> None:
        """Start a scene in this channel."""
        await interaction.response.defer(ephemeral=True)
        channel = self._require_stage(interaction)
        chosen = await asyncio.to_thread(self._library.scenario, scenario)
        director = gm or interaction.user
        if director.bot:
            raise Refused("A bot can't be the game master. Name a person.")
        scene = await self._theatre.start(_place(channel), chosen, director.id)
        try:
            scene = await self._open(channel, scene)
        except Exception:
            await self._theatre.discard(scene)
            raise
        await self._answer_starter(interaction, scene, director.id)

    @start.autocomplete("scenario")
    async def _scenarios(
        self, _interaction: discord.Interaction, typed: str
    ) -> list[app_commands.Choice[str]]:
        found = await asyncio.to_thread(self._library.search, typed)
        return [autocomplete.text_choice(f"{one.title} · {one.book}", one.id) for one in found][
            : autocomplete.MAX_CHOICES
        ]

    @for_game_masters
    @app_commands.command(
        description="Continue a scene of yours that ended, in this channel (game masters)"
    )
    @app_commands.describe(
        scene="The scene to continue. The bot's owner also finds scenes played in the terminal"
    )
    async def reopen(self, interaction: discord.Interaction, scene: str) -> None:
        """Continue a stored scene in this channel."""
        await interaction.response.defer(ephemeral=True)
        channel = self._require_stage(interaction)
        if not scene.isdecimal():
            raise Refused("Choose one from the list.")
        people = await _player_ids(interaction)
        reopened = await self._theatre.reopen(
            int(scene[:18]), _place(channel), people, interaction.id
        )
        try:
            opened = await self._open(channel, reopened)
        except Exception:
            await self._theatre.end(reopened, interaction.user.id, moderates=True)
            raise
        await self._missed.compare(opened)
        turns = await self._theatre.queries.count_history(opened)
        await self._delivery.post_sentence(
            opened,
            f"The story continues after {status_pages.count_turns(turns)}. "
            "`/scene history` shows it.",
        )
        self._theatre.play_owed()
        await self._answer_starter(interaction, opened, interaction.user.id)

    @reopen.autocomplete("scene")
    async def _complete_scene(
        self, interaction: discord.Interaction, typed: str
    ) -> list[app_commands.Choice[str]]:
        found = await self._theatre.queries.list_reopenable(
            interaction.guild_id or 0, await _player_ids(interaction)
        )
        return [
            autocomplete.scene_choice(one)
            for one in found
            if autocomplete.matches_scene(typed, one)
        ][: autocomplete.MAX_CHOICES]

    @for_game_masters
    @app_commands.command(description="End the scene in this channel")
    async def end(self, interaction: discord.Interaction) -> None:
        """End the scene in this channel."""
        scene = self._here(interaction)
        if not can_moderate(interaction):  # after a public deferral, a refusal would be public
            scene_cast.require_gm(scene, interaction.user.id)
        await interaction.response.defer()
        await self._theatre.end(scene, interaction.user.id, moderates=can_moderate(interaction))
        await interaction.followup.send("*The curtain falls.* The scene has ended.")

    @for_game_masters
    @app_commands.command(description="Bring back the turns that were undone last (game masters)")
    async def unhide(self, interaction: discord.Interaction) -> None:
        """Bring back the turns that the last rewind or *Hide* took out of the story."""
        await self._story.unhide(interaction, self._here(interaction).id, None)

    @for_game_masters
    @app_commands.command(
        description="Pause the scene. Characters neither hear nor answer until you unpause it"
    )
    async def pause(self, interaction: discord.Interaction) -> None:
        """Pause the scene in this channel."""
        await self._theatre.controls.pause(self._here(interaction), interaction.user.id)
        await interaction_replies.reply_publicly(
            interaction, "The scene is paused. `/scene unpause` continues it."
        )

    @for_game_masters
    @app_commands.command(description="Continue a paused scene")
    async def unpause(self, interaction: discord.Interaction) -> None:
        """Continue the paused scene in this channel."""
        await self._theatre.controls.unpause(self._here(interaction), interaction.user.id)
        await interaction_replies.reply_publicly(interaction, "The scene continues.")

    @for_game_masters
    @app_commands.command(
        description="Set whether characters answer only when addressed (game masters)"
    )
    @app_commands.describe(
        mode="Which characters answer",
        budget="The most turns that characters take after a player's line",
    )
    @app_commands.choices(mode=_MODES)
    async def mode(
        self,
        interaction: discord.Interaction,
        mode: str,
        budget: app_commands.Range[int, 1, MAX_BUDGET] | None = None,
    ) -> None:
        """Set which characters answer."""
        scene = await self._actions.set_mode(
            self._here(interaction), Mode(mode), budget, interaction.user.id
        )
        await interaction_replies.reply_publicly(interaction, status_pages.format_mode(scene))

    @app_commands.command(description="Show this scene, its cast and its settings")
    async def status(self, interaction: discord.Interaction) -> None:
        """Show the scene in this channel."""
        scene = self._here(interaction)
        turns = await self._theatre.queries.count_history(scene)
        await interaction_replies.reply_privately(
            interaction, status_pages.format_status(scene, turns)
        )

    @for_game_masters
    @app_commands.command(description="Remove everything so far from the story")
    async def clear(self, interaction: discord.Interaction) -> None:
        """Remove all turns so far from the story."""
        hidden = await self._theatre.controls.clear(self._here(interaction), interaction.user.id)
        turns = "One turn was" if hidden == 1 else f"{hidden} turns were"
        await interaction_replies.reply_publicly(
            interaction, f"The story starts over. {turns} removed from every mind."
        )

    @app_commands.command(description="Show the story so far")
    async def history(self, interaction: discord.Interaction) -> None:
        """Show the public story so far to a person who may read the channel's history."""
        if not interaction.permissions.read_message_history:
            raise Refused("You may not read the message history of this channel.")
        scene = self._here(interaction)
        await interaction.response.defer(ephemeral=True)
        most = status_pages.MAX_HISTORY_TURNS
        turns = await self._theatre.queries.read_history(scene, most)
        for page in status_pages.format_history(turns, earlier=len(turns) == most):
            await interaction_replies.reply_privately(interaction, page)

    @for_game_masters
    @app_commands.command(description="Show the exact prompt for a character (game masters)")
    @app_commands.describe(character="The character")
    async def prompt(self, interaction: discord.Interaction, character: str) -> None:
        """Send the game master a character's prompt as a file."""
        scene = self._here(interaction)
        await interaction.response.defer(ephemeral=True)
        text = await self._theatre.queries.read_prompt(scene, character, interaction.user.id)
        file = discord.File(io.BytesIO(text.encode()), filename="prompt.txt")
        await interaction_replies.reply_privately(
            interaction, f"The prompt for {character}:", files=[file]
        )

    @prompt.autocomplete("character")
    async def _characters(
        self, interaction: discord.Interaction, typed: str
    ) -> list[app_commands.Choice[str]]:
        return autocomplete.character_choices(self._theatre.at(interaction.channel_id or 0), typed)

    def _here(self, interaction: discord.Interaction) -> Scene:
        return self._theatre.require_scene(interaction.channel_id or 0)

    def _require_stage(self, interaction: discord.Interaction) -> Stageable:
        """Return the channel. Raise Refused or MissingPermission if no scene can start there."""
        channel = interaction.channel
        if not isinstance(channel, Stageable):
            raise Refused(
                "Scenes need a text channel or a thread of a server. Start the scene there."
            )
        if self._settings.guilds is not None and channel.guild.id not in self._settings.guilds:
            raise Refused("This bot is not enabled for this server. Ask its owner to enable it.")
        permissions.require_playable(channel, channel.guild.me)
        return channel

    async def _open(self, channel: Stageable, scene: Scene) -> Scene:
        """Create the characters' roles and post the opening. If that fails, nothing is left."""
        earlier = {part.role_id for part in scene.parts}
        roles: dict[str, int] = {}
        try:
            if self._settings.roles:
                roles = await character_roles.create_roles(channel.guild, scene)
                scene = await self._theatre.controls.assign_roles(scene, roles)
            await self._delivery.open(scene)
        except Exception:
            new = [role_id for role_id in roles.values() if role_id not in earlier]
            await character_roles.delete_roles(channel.guild, new)
            raise
        return scene

    async def _answer_starter(
        self, interaction: discord.Interaction, scene: Scene, director_id: int
    ) -> None:
        reached = await self._delivery.greet(scene, director_id)
        sentences = (
            _describe_start(director_id, interaction.user.id, reached=reached),
            self._settings.caution,
        )
        await interaction_replies.reply_privately(
            interaction, "\n".join(sentence for sentence in sentences if sentence)
        )


def _place(channel: Stageable) -> Place:
    parent = channel.parent_id if isinstance(channel, discord.Thread) else None
    return Place(channel.guild.id, channel.id, parent)


def can_moderate(interaction: discord.Interaction) -> bool:
    """Return whether the user may manage this channel."""
    return interaction.permissions.manage_channels or interaction.permissions.administrator


async def _player_ids(interaction: discord.Interaction) -> tuple[int, ...]:
    """Return the ids under which this user plays.

    The bot's owner also plays at the terminal.
    """
    user = interaction.user
    bot = cast("commands.Bot", interaction.client)
    return (user.id, AT_TERMINAL) if await bot.is_owner(user) else (user.id,)


def _describe_start(gm_id: int, starter_id: int, *, reached: bool) -> str:
    """Return the private answer to whoever started a scene."""
    if gm_id != starter_id:
        return f"The scene has started. <@{gm_id}> is its game master" + (
            "." if reached else ", but direct messages to them fail."
        )
    if reached:
        return (
            "The scene has started and you direct it. "
            "You get its characters' thoughts by direct message."
        )
    return "The scene has started and you direct it."
