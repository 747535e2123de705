"""Edits and deletes lines that appear under a character's name, for the players who wrote them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import discord
from discord.ext import commands

from bot.errors import Refused
from bot.library.name_matching import addressable_names, find_addressed, remove_quotes
from bot.library.normalise import is_blank
from bot.posting import buttons
from bot.posting.character_forms import read_fields
from bot.scenes.director import Addressee
from bot.scenes.turn_rights import SCENE_GONE
from cogs import interaction_replies
from cogs.message_reading import read_option

if TYPE_CHECKING:
    from bot.posting.line_poster import LinePoster
    from bot.scenes.persona_lines import PersonaLines
    from bot.scenes.scene import Scene
    from bot.scenes.theatre import Theatre


class PersonaLineActions(commands.Cog):
    """The form behind *Edit* on a player's line. An empty text deletes the line."""

    def __init__(self, theatre: Theatre, personas: PersonaLines, poster: LinePoster) -> None:
        self._theatre = theatre
        self._personas = personas
        self._poster = poster

    async def open_form(self, interaction: discord.Interaction, message: discord.Message) -> bool:
        """Open the form if the message shows a player's line. Return whether it does."""
        if message.webhook_id is None:
            return False
        line = await self._personas.find_own_line(message.id, interaction.user.id)
        if line is None:
            return False
        await interaction.response.send_modal(
            buttons.line_form(message.id, message.webhook_id, message.content)
        )
        return True

    @commands.Cog.listener()
    async def on_interaction(self, interaction: discord.Interaction) -> None:
        """Apply a submitted form. No object waits for it: it can be older than a restart."""
        if interaction.type is discord.InteractionType.modal_submit and interaction.data:
            data = dict(interaction.data)
            form = re.fullmatch(buttons.LINE_FORM_ID, str(data.get("custom_id", "")))
            if form is not None:
                text = read_fields(data.get("components")).get(buttons.EDIT_FIELD_ID, "")
                await interaction_replies.run_reporting_errors(
                    interaction,
                    self._change(interaction, int(form["message"]), int(form["webhook"]), text),
                )

    async def _change(
        self, interaction: discord.Interaction, message_id: int, webhook_id: int, text: str
    ) -> None:
        await interaction.response.defer(ephemeral=True, thinking=True)
        scene = self._theatre.require_scene(interaction.channel_id or 0)
        line = await self._personas.find_own_line(message_id, interaction.user.id)
        if line is None or line.scene_id != scene.id:
            raise Refused(SCENE_GONE)
        if is_blank(text):
            await self._personas.withdraw(scene, line)
            await interaction_replies.reply_privately(interaction, "Your line was deleted.")
            return
        await self._poster.edit_line(scene, message_id, webhook_id, text)

        def read_address(now: Scene) -> Addressee:
            spoken = addressable_names(now.scenario.characters)
            return Addressee(find_addressed(remove_quotes(text), spoken))

        words = await read_option(interaction, text)
        await self._personas.reword(scene, line, words, read_address)
        await interaction_replies.reply_privately(interaction, "Your line was changed.")
