"""`/gm`: commands for the story and the minds. `gm_people_commands` has the commands for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import discord
from discord import app_commands
from discord.ext import commands

from bot.posting import status_pages
from bot.posting.escaping import escape_name
from bot.posting.render import render_gm_messages
from bot.scenes import mind
from bot.scenes.gm_notes import MAX_NOTE_LENGTH, MAX_NOTES  # noqa: TC001 - discord.py reads annotations
from bot.scenes.story_events import MAX_TEXT_LENGTH  # noqa: TC001 - discord.py reads annotations
from cogs import autocomplete, interaction_replies
from cogs.gm_people_commands import GmPeople
from cogs.help_topics import TOPIC, HelpTopic
from cogs.insight_commands import GmInsight
from cogs.message_reading import read_option

if TYPE_CHECKING:
    from bot.posting.delivery import DiscordDelivery
    from bot.scenes.departures import Departures
    from bot.scenes.gm_actions import GmActions
    from bot.scenes.gm_notes import GmNotes
    from bot.scenes.insight import Insight
    from bot.scenes.story_events import StoryEvents
    from bot.scenes.theatre import Theatre

_SHORT = 200


@app_commands.guild_only()
class GmCommands(
    GmPeople,
    GmInsight,
    commands.GroupCog,
    group_name="gm",
    group_description="Direct the scene (game masters)",
    group_extras={TOPIC: HelpTopic.GAME_MASTERS},
):
    """The commands under `/gm`."""

    def __init__(
        self,
        theatre: Theatre,
        actions: GmActions,
        events: StoryEvents,
        notes: GmNotes,
        delivery: DiscordDelivery,
        departures: Departures,
        insight: Insight,
    ) -> None:
        super().__init__()
        self._insight = insight
        self._departures = departures
        self._theatre = theatre
        self._actions = actions
        self._events = events
        self._notes = notes
        self._delivery = delivery

    @app_commands.command(description="Narrate events around the characters")
    @app_commands.describe(text="The narration (default: the model writes one to three sentences)")
    async def narrate(
        self,
        interaction: discord.Interaction,
        text: app_commands.Range[str, 1, MAX_TEXT_LENGTH] | None = None,
    ) -> None:
        """Add a narration to the story."""
        scene = self._here(interaction)
        await interaction.response.defer(ephemeral=True)
        narration = await read_option(interaction, text) if text is not None else None
        await self._events.narrate(scene, narration, interaction.user.id)
        await interaction_replies.reply_privately(
            interaction, "Narrated." if text else "The model is writing the narration."
        )

    @app_commands.command(description="Speak and act as a character")
    @app_commands.describe(
        character="The character that speaks", text="The line. Write *actions* between asterisks"
    )
    async def say(
        self,
        interaction: discord.Interaction,
        character: str,
        text: app_commands.Range[str, 1, MAX_TEXT_LENGTH],
    ) -> None:
        """Add a line of the game master's under a character's name."""
        scene = self._here(interaction)
        await interaction.response.defer(ephemeral=True)
        line = await read_option(interaction, text)
        scene = await self._departures.check_part(scene, character)
        await self._events.say(scene, character, line, interaction.user.id)
        await interaction_replies.reply_privately(interaction, "Said.")

    @app_commands.command(description="Tell one character something in secret")
    @app_commands.describe(
        character="The character to tell", text="Something it notices, hears or remembers"
    )
    async def whisper(
        self,
        interaction: discord.Interaction,
        character: str,
        text: app_commands.Range[str, 1, MAX_TEXT_LENGTH],
    ) -> None:
        """Add something to one mind only."""
        scene = self._here(interaction)
        await interaction.response.defer(ephemeral=True)
        secret = await read_option(interaction, text)
        name = await self._events.whisper_to(scene, character, secret, interaction.user.id)
        await interaction_replies.reply_privately(
            interaction, f"Only **{escape_name(name)}** knows it."
        )

    @app_commands.command(
        description="Keep a note in the minds of one character or all, until you remove it"
    )
    @app_commands.describe(
        text="The note", character="The character that gets it (default: all characters)"
    )
    async def note(
        self,
        interaction: discord.Interaction,
        text: app_commands.Range[str, 1, MAX_NOTE_LENGTH],
        character: str | None = None,
    ) -> None:
        """Add a note."""
        scene = self._here(interaction)
        await interaction.response.defer(ephemeral=True)
        words = await read_option(interaction, text)
        note = await self._notes.note(scene, character, words, interaction.user.id)
        who = (
            f"**{escape_name(note.character)}** keeps" if note.character else "All characters keep"
        )
        await interaction_replies.reply_privately(
            interaction, f"{who} this note in mind. `/gm notes` lists and removes notes."
        )

    @app_commands.command(description="List the notes, or remove one")
    @app_commands.describe(remove="The number of the note to remove")
    async def notes(
        self,
        interaction: discord.Interaction,
        remove: app_commands.Range[int, 1, MAX_NOTES] | None = None,
    ) -> None:
        """List the notes, or remove one."""
        scene = self._here(interaction)
        if remove is not None:
            await self._notes.remove(scene, remove, interaction.user.id)
        for page in status_pages.format_notes(await self._notes.notes(scene, interaction.user.id)):
            await interaction_replies.reply_privately(interaction, page)

    @notes.autocomplete("remove")
    async def _removable(
        self, interaction: discord.Interaction, _typed: str
    ) -> list[app_commands.Choice[int]]:
        scene = self._theatre.at(interaction.channel_id or 0)
        if scene is None or not scene.is_gm(interaction.user.id):
            return []
        notes = await self._notes.notes(scene, interaction.user.id)
        return [
            autocomplete.make_numbered_choice(number, note.text)
            for number, note in enumerate(notes, start=1)
        ][: autocomplete.MAX_CHOICES]

    @app_commands.command(
        description="See a character's thoughts now, in private and without a turn"
    )
    @app_commands.describe(character="The character that thinks")
    async def think(self, interaction: discord.Interaction, character: str) -> None:
        """Show the game master what a character thinks now."""
        scene = self._here(interaction)
        await interaction.response.defer(ephemeral=True)
        thoughts = await self._notes.think(scene, character, interaction.user.id)
        await interaction_replies.reply_with_messages(
            interaction, render_gm_messages(thoughts.speaker, thoughts.released)
        )

    @app_commands.command(
        name="set", description="Change the situation, the time or the place of the scene"
    )
    @app_commands.describe(scene="The new situation", time="The new time", place="The new place")
    async def set_(
        self,
        interaction: discord.Interaction,
        scene: app_commands.Range[str, 1, MAX_TEXT_LENGTH] | None = None,
        time: app_commands.Range[str, 1, _SHORT] | None = None,
        place: app_commands.Range[str, 1, _SHORT] | None = None,
    ) -> None:
        """Change the setting in every mind."""
        here = self._here(interaction)
        await interaction.response.defer(ephemeral=True)
        fields = ((mind.TIME, time), (mind.PLACE, place), (mind.SCENE, scene))
        changes = [
            (field, await read_option(interaction, text))
            for field, text in fields
            if text is not None
        ]
        await self._events.change_setting(here, changes, interaction.user.id)
        await interaction_replies.reply_privately(interaction, "Changed in every mind.")

    @say.autocomplete("character")
    @whisper.autocomplete("character")
    @note.autocomplete("character")
    @think.autocomplete("character")
    async def _characters(
        self, interaction: discord.Interaction, typed: str
    ) -> list[app_commands.Choice[str]]:
        return autocomplete.character_choices(self._theatre.at(interaction.channel_id or 0), typed)
