"""`/scene`: begin one, end it, let it rest, look at it."""

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
from bot.scenes.gm_actions import MAX_BUDGET  # noqa: TC001 - discord.py reads annotations
from bot.scenes.scene import AT_TERMINAL, Mode, Place
from cogs import autocomplete, interaction_replies

if TYPE_CHECKING:
    from bot.library.library import Library
    from bot.posting.delivery import DiscordDelivery
    from bot.scenes.gm_actions import GmActions
    from bot.scenes.scene import Scene
    from bot.scenes.theatre import Theatre
    from cogs.story_actions import StoryActions

_MODES = [
    app_commands.Choice(name="addressed: who is spoken to answers", value=Mode.ADDRESSED.value),
    app_commands.Choice(
        name="auto: whoever is likely to answer does so too", value=Mode.AUTO.value
    ),
]

Stageable = discord.TextChannel | discord.Thread


@dataclass(frozen=True, slots=True)
class OwnerSettings:
    """What whoever runs the bot has set for every scene."""

    guilds: frozenset[int] | None = None  # the servers it plays on; None: every one
    roles: bool = True  # whether characters get mentionable roles
    caution: str | None = None  # what a starter must know of the engine


@app_commands.guild_only()
class SceneCommands(
    commands.GroupCog, group_name="scene", group_description="Begin a scene, end it, look at it"
):
    """The commands under `/scene`."""

    def __init__(
        self,
        theatre: Theatre,
        direction: GmActions,
        story: StoryActions,
        library: Library,
        delivery: DiscordDelivery,
        rules: OwnerSettings,
    ) -> None:
        super().__init__()
        self._story = story
        self._direction = direction
        self._theatre = theatre
        self._library = library
        self._delivery = delivery
        self._rules = rules

    @app_commands.command(description="Make this channel a stage for a scenario")
    @app_commands.describe(
        scenario="Which scenario to play", gm="Who directs; you, where nobody is named"
    )
    async def start(
        self, interaction: discord.Interaction, scenario: str, gm: discord.Member | None = None
    ) -> None:
        """Begin a scene here."""
        await interaction.response.defer(ephemeral=True)
        channel = self._stageable(interaction)
        chosen = await asyncio.to_thread(self._library.scenario, scenario)
        director = gm or interaction.user
        if director.bot:
            raise Refused("A bot can't be the game master: name a person.")
        scene = await self._open(
            channel, await self._theatre.start(_place(channel), chosen, director.id)
        )
        await self._tell_starter(interaction, scene, director.id)

    @start.autocomplete("scenario")
    async def _scenarios(
        self, _interaction: discord.Interaction, typed: str
    ) -> list[app_commands.Choice[str]]:
        found = await asyncio.to_thread(self._library.matching, typed)
        return [autocomplete.text_choice(f"{one.title} · {one.book}", one.id) for one in found][
            : autocomplete.MAX_CHOICES
        ]

    @app_commands.command(
        description="Continue a scene of yours that ended, in this channel (game masters)"
    )
    @app_commands.describe(
        scene="The scene to continue. The bot's owner also finds scenes played in the terminal"
    )
    async def reopen(self, interaction: discord.Interaction, scene: str) -> None:
        """Continue a stored scene in this channel."""
        await interaction.response.defer(ephemeral=True)
        channel = self._stageable(interaction)
        if not scene.isdecimal():
            raise Refused("Choose one from the list.")
        people = await _people(interaction)
        taken = await self._theatre.reopen(int(scene[:18]), _place(channel), people, interaction.id)
        opened = await self._open(channel, taken)
        told = await self._theatre.queries.read_history(opened)
        await self._delivery.post_sentence(
            opened,
            f"The story goes on, {status_pages.count_turns(len(told))} so far: /scene history shows it.",
        )
        self._theatre.play_owed()
        await self._tell_starter(interaction, opened, interaction.user.id)

    @reopen.autocomplete("scene")
    async def _resting(
        self, interaction: discord.Interaction, typed: str
    ) -> list[app_commands.Choice[str]]:
        found = await self._theatre.queries.list_reopenable(
            interaction.guild_id or 0, await _people(interaction)
        )
        return [
            autocomplete.scene_choice(one)
            for one in found
            if autocomplete.matches_scene(typed, one)
        ][: autocomplete.MAX_CHOICES]

    @app_commands.command(description="End the scene in this channel")
    async def end(self, interaction: discord.Interaction) -> None:
        """End the scene here."""
        scene = self._here(interaction)
        await interaction.response.defer()
        ended = await self._theatre.end(
            scene, interaction.user.id, moderates=can_moderate(interaction)
        )
        await self._strike(interaction, ended)
        await interaction.followup.send("*The curtain falls.* The scene has ended.")

    @app_commands.command(description="Bring back the turns that were undone last (game masters)")
    async def unhide(self, interaction: discord.Interaction) -> None:
        """Bring back the turns that the last rewind or *Hide* took out of the story."""
        await self._story.restore(interaction, self._here(interaction).id, None)

    @app_commands.command(description="Let the scene rest: nothing is heard or answered")
    async def pause(self, interaction: discord.Interaction) -> None:
        """Pause the scene here."""
        await self._theatre.controls.pause(self._here(interaction), interaction.user.id)
        await interaction_replies.reply_publicly(
            interaction, "The scene is paused. `/scene unpause` continues it."
        )

    @app_commands.command(description="Continue a paused scene")
    async def unpause(self, interaction: discord.Interaction) -> None:
        """Continue the paused scene in this channel."""
        await self._theatre.controls.unpause(self._here(interaction), interaction.user.id)
        await interaction_replies.reply_publicly(interaction, "The scene goes on.")

    @app_commands.command(
        description="Who answers: only who is addressed, or whoever is likely to (game masters)"
    )
    @app_commands.describe(
        mode="Whether characters speak unasked",
        budget="How many of their turns may follow a person's",
    )
    @app_commands.choices(mode=_MODES)
    async def mode(
        self,
        interaction: discord.Interaction,
        mode: str,
        budget: app_commands.Range[int, 1, MAX_BUDGET] | None = None,
    ) -> None:
        """Set who answers."""
        scene = await self._direction.set_mode(
            self._here(interaction), Mode(mode), budget, interaction.user.id
        )
        await interaction_replies.reply_publicly(interaction, status_pages.format_mode(scene))

    @app_commands.command(description="What is played here, by whom, and how far it has come")
    async def status(self, interaction: discord.Interaction) -> None:
        """Show the scene here."""
        scene = self._here(interaction)
        told = await self._theatre.queries.read_history(scene)
        await interaction_replies.reply_privately(
            interaction, status_pages.format_status(scene, len(told))
        )

    @app_commands.command(description="Take everything said so far out of the story")
    async def clear(self, interaction: discord.Interaction) -> None:
        """Begin the story anew."""
        hidden = await self._theatre.controls.clear(self._here(interaction), interaction.user.id)
        turns = "one turn is" if hidden == 1 else f"{hidden} turns are"
        await interaction_replies.reply_publicly(
            interaction, f"The story begins anew: {turns} out of everyone's mind."
        )

    @app_commands.command(description="What was said and done so far")
    async def history(self, interaction: discord.Interaction) -> None:
        """Show the public story so far to a person who may read the channel's history."""
        if not interaction.permissions.read_message_history:
            raise Refused("You may not read the message history of this channel.")
        scene = self._here(interaction)
        await interaction.response.defer(ephemeral=True)
        for page in status_pages.format_history(await self._theatre.queries.read_history(scene)):
            await interaction_replies.reply_privately(interaction, page)

    @app_commands.command(
        description="The exact text the model gets for a character now (game masters)"
    )
    @app_commands.describe(character="Whose mind to look into")
    async def prompt(self, interaction: discord.Interaction, character: str) -> None:
        """Show a mind's prompt to the game master."""
        scene = self._here(interaction)
        await interaction.response.defer(ephemeral=True)
        text = await self._theatre.queries.read_prompt(scene, character, interaction.user.id)
        file = discord.File(io.BytesIO(text.encode()), filename="prompt.txt")
        await interaction_replies.reply_privately(
            interaction, f"What the model gets for {character} now:", files=[file]
        )

    @prompt.autocomplete("character")
    async def _characters(
        self, interaction: discord.Interaction, typed: str
    ) -> list[app_commands.Choice[str]]:
        return autocomplete.character_choices(self._theatre.at(interaction.channel_id or 0), typed)

    def _here(self, interaction: discord.Interaction) -> Scene:
        return self._theatre.require_scene(interaction.channel_id or 0)

    def _stageable(self, interaction: discord.Interaction) -> Stageable:
        """Return the channel as one where a scene may begin. Raises Refused and MissingPermission."""
        channel = interaction.channel
        if not isinstance(channel, Stageable):
            raise Refused(
                "A scene plays in a text channel or a thread of a server: go to one and start it there."
            )
        if self._rules.guilds is not None and channel.guild.id not in self._rules.guilds:
            raise Refused(
                "Whoever runs this bot has not opened it to this server: ask them to add it to its settings."
            )
        permissions.require_playable(channel, channel.guild.me)
        return channel

    async def _open(self, channel: Stageable, scene: Scene) -> Scene:
        """Put up for a scene what it needs: roles, and its opening."""
        if self._rules.roles:
            scene = await self._theatre.controls.assign_roles(
                scene, await character_roles.create_roles(channel.guild, scene)
            )
        await self._delivery.open(scene)
        return scene

    async def _tell_starter(
        self, interaction: discord.Interaction, scene: Scene, director_id: int
    ) -> None:
        reached = await self._delivery.greet(scene, director_id)
        told = (_started(director_id, interaction.user.id, reached=reached), self._rules.caution)
        await interaction_replies.reply_privately(
            interaction, "\n".join(part for part in told if part)
        )

    async def _strike(self, interaction: discord.Interaction, scene: Scene) -> None:
        """Take down what was put up for a scene: its roles, but for those that a branch of it goes on with."""
        used = {part.role_id for other in self._theatre.scenes() for part in other.parts}
        roles = [part.role_id for part in scene.parts if part.role_id and part.role_id not in used]
        if roles and interaction.guild is not None:
            await character_roles.delete_roles(interaction.guild, roles)


def _place(channel: Stageable) -> Place:
    parent = channel.parent_id if isinstance(channel, discord.Thread) else None
    return Place(channel.guild.id, channel.id, parent)


def can_moderate(interaction: discord.Interaction) -> bool:
    """Whether who asks may manage this channel."""
    return interaction.permissions.manage_channels or interaction.permissions.administrator


async def _people(interaction: discord.Interaction) -> tuple[int, ...]:
    """Return who may be asking: this user, and the person at the terminal where it is who runs the bot."""
    user, bot = interaction.user, cast("commands.Bot", interaction.client)
    return (user.id, AT_TERMINAL) if await bot.is_owner(user) else (user.id,)


def _started(gm_id: int, starter_id: int, *, reached: bool) -> str:
    """Return what whoever started a scene is told in private."""
    if gm_id != starter_id:
        return f"The scene has begun. <@{gm_id}> directs it" + (
            "." if reached else ", but could not be written to."
        )
    if reached:
        return "The scene has begun, and you direct it. What its characters think comes to your direct messages."
    return "The scene has begun, and you direct it."
