"""`/gm`: what game masters do to the story and to the minds in it; gm_people.py has the rest."""

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
from cogs.gm_people import GmPeople

if TYPE_CHECKING:
    from bot.posting.delivery import DiscordDelivery
    from bot.scenes.gm_actions import GmActions
    from bot.scenes.gm_notes import GmNotes
    from bot.scenes.story_events import StoryEvents
    from bot.scenes.theatre import Theatre

_SHORT = 200


@app_commands.guild_only()
class GmCommands(
    GmPeople,
    commands.GroupCog,
    group_name="gm",
    group_description="Direct the scene (game masters)",
):
    """The commands under `/gm`."""

    def __init__(
        self,
        theatre: Theatre,
        direction: GmActions,
        telling: StoryEvents,
        prompter: GmNotes,
        delivery: DiscordDelivery,
    ) -> None:
        super().__init__()
        self._theatre = theatre
        self._direction = direction
        self._telling = telling
        self._prompter = prompter
        self._delivery = delivery

    @app_commands.command(
        description="Tell what happens around the characters: in your words, or in the model's"
    )
    @app_commands.describe(
        text="What happens; left out, the model tells it in one to three sentences"
    )
    async def narrate(
        self,
        interaction: discord.Interaction,
        text: app_commands.Range[str, 1, MAX_TEXT_LENGTH] | None = None,
    ) -> None:
        """Narrate."""
        scene = self._here(interaction)
        await interaction.response.defer(ephemeral=True)
        await self._telling.narrate(scene, text, interaction.user.id)
        await interaction_replies.reply_privately(
            interaction, "It is told." if text else "The model tells it in a moment."
        )

    @app_commands.command(description="Say and *do* something as a character")
    @app_commands.describe(
        character="As whom", text="What is said; *between asterisks* what is done"
    )
    async def say(
        self,
        interaction: discord.Interaction,
        character: str,
        text: app_commands.Range[str, 1, MAX_TEXT_LENGTH],
    ) -> None:
        """Lend words to a character."""
        scene = self._here(interaction)
        await interaction.response.defer(ephemeral=True)
        await self._telling.say(scene, character, text, interaction.user.id)
        await interaction_replies.reply_privately(interaction, "It is said.")

    @app_commands.command(description="Have one character know something that nobody else hears")
    @app_commands.describe(character="Who knows it", text="What it notices, hears or remembers")
    async def whisper(
        self,
        interaction: discord.Interaction,
        character: str,
        text: app_commands.Range[str, 1, MAX_TEXT_LENGTH],
    ) -> None:
        """Whisper to a mind."""
        scene = self._here(interaction)
        await interaction.response.defer(ephemeral=True)
        told = await self._telling.whisper_to(scene, character, text, interaction.user.id)
        await interaction_replies.reply_privately(
            interaction, f"**{escape_name(told)}** knows it, and nobody else."
        )

    @app_commands.command(
        description="Have a character, or all, bear something in mind until you remove it"
    )
    @app_commands.describe(
        text="What to bear in mind", character="Who; all of them, where nobody is named"
    )
    async def note(
        self,
        interaction: discord.Interaction,
        text: app_commands.Range[str, 1, MAX_NOTE_LENGTH],
        character: str | None = None,
    ) -> None:
        """Make a standing note."""
        note = await self._prompter.note(
            self._here(interaction), character, text, interaction.user.id
        )
        who = (
            f"**{escape_name(note.character)}** bears" if note.character else "All characters bear"
        )
        await interaction_replies.reply_privately(
            interaction, f"{who} that in mind from now on; `/gm notes` lists and removes notes."
        )

    @app_commands.command(description="The standing notes; name one to remove it")
    @app_commands.describe(remove="The number of the note to remove")
    async def notes(
        self,
        interaction: discord.Interaction,
        remove: app_commands.Range[int, 1, MAX_NOTES] | None = None,
    ) -> None:
        """List the notes, or remove one."""
        scene = self._here(interaction)
        if remove is not None:
            await self._prompter.remove(scene, remove, interaction.user.id)
        for page in status_pages.format_notes(
            await self._prompter.notes(scene, interaction.user.id)
        ):
            await interaction_replies.reply_privately(interaction, page)

    @notes.autocomplete("remove")
    async def _removable(
        self, interaction: discord.Interaction, _typed: str
    ) -> list[app_commands.Choice[int]]:
        scene = self._theatre.at(interaction.channel_id or 0)
        if scene is None or not scene.is_gm(interaction.user.id):
            return []
        notes = await self._prompter.notes(scene, interaction.user.id)
        return [
            autocomplete.numbered_choice(number, note.text)
            for number, note in enumerate(notes, start=1)
        ][: autocomplete.MAX_CHOICES]

    @app_commands.command(
        description="What a character thinks right now: for you alone, without a turn"
    )
    @app_commands.describe(character="Whose thoughts")
    async def think(self, interaction: discord.Interaction, character: str) -> None:
        """Look into a mind."""
        scene = self._here(interaction)
        await interaction.response.defer(ephemeral=True)
        behind = await self._prompter.think(scene, character, interaction.user.id)
        await interaction_replies.reply_with_messages(
            interaction, render_gm_messages(behind.speaker, behind.released)
        )

    @app_commands.command(name="set", description="Move the scene: what is going on, when, where")
    @app_commands.describe(
        scene="What is going on from now on", time="What time it is", place="Where it is"
    )
    async def set_(
        self,
        interaction: discord.Interaction,
        scene: app_commands.Range[str, 1, MAX_TEXT_LENGTH] | None = None,
        time: app_commands.Range[str, 1, _SHORT] | None = None,
        place: app_commands.Range[str, 1, _SHORT] | None = None,
    ) -> None:
        """Change the setting."""
        here = self._here(interaction)
        await interaction.response.defer(ephemeral=True)
        asked = ((mind.TIME, time), (mind.PLACE, place), (mind.SCENE, scene))
        changes = [(what, text) for what, text in asked if text is not None]
        await self._telling.change_setting(here, changes, interaction.user.id)
        await interaction_replies.reply_privately(interaction, "So it is, in every mind.")

    @say.autocomplete("character")
    @whisper.autocomplete("character")
    @note.autocomplete("character")
    @think.autocomplete("character")
    async def _characters(
        self, interaction: discord.Interaction, typed: str
    ) -> list[app_commands.Choice[str]]:
        return autocomplete.character_choices(self._theatre.at(interaction.channel_id or 0), typed)
