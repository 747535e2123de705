"""`/character`: a person's own characters. Only they see the answers."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any, Literal

import discord
import yaml
from discord import app_commands
from discord.ext import commands

from bot.errors import CharacterError, Refused
from bot.library.normalise import normalise
from bot.library.own_character import MAX_FILE_BYTES, dump_card, dump_yaml, read_character
from bot.library.pictures import MAX_BYTES
from bot.posting.character_forms import (
    CHARACTER_FORM_ID,
    CharacterForm,
    character_form,
    format_sheet,
    more_view,
    read_fields,
    read_upload,
)
from bot.posting.escaping import escape_name
from bot.posting.opening_post import join_lines
from bot.posting.split import MESSAGE_LIMIT
from cogs import autocomplete, interaction_replies
from cogs.remedy_texts import describe_error

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from bot.scenes.own_characters import OwnCharacters, StoredCharacter

_MEGABYTE = 2**20


class CharacterCommands(
    commands.GroupCog, group_name="character", group_description="Your own characters"
):
    """The commands under `/character`, and the forms that they open.

    `square_upload` turns an uploaded picture into a square PNG. It raises CharacterError.
    """

    def __init__(
        self,
        characters: OwnCharacters,
        square_upload: Callable[[bytes, str], Awaitable[bytes]],
    ) -> None:
        super().__init__()
        self._characters = characters
        self._square_upload = square_upload

    @app_commands.command(description="Make a character of your own, for any scene")
    async def new(self, interaction: discord.Interaction) -> None:
        """Open the form of a new character."""
        await interaction.response.send_modal(character_form(CharacterForm.ABOUT))

    @app_commands.command(description="Change one of your characters")
    @app_commands.describe(character="Your character", form="What to change")
    async def edit(
        self,
        interaction: discord.Interaction,
        character: str,
        form: Literal["name and description", "voice and picture address"] = "name and description",
    ) -> None:
        """Open a form of a character."""
        one = await self._find(interaction, character)
        chosen = CharacterForm.ABOUT if form.startswith("name") else CharacterForm.MORE
        await interaction.response.send_modal(character_form(chosen, one))

    @app_commands.command(name="list", description="Show your characters")
    async def list_(self, interaction: discord.Interaction) -> None:
        """Show the names of the user's characters."""
        own = await self._characters.list_of(interaction.user.id)
        names = [f"**{escape_name(one.sheet.name)}**" for one in own]
        text = "\n".join(names) or "You have no character of your own. `/character new` makes one."
        await interaction_replies.reply_privately(interaction, text)

    @app_commands.command(description="Show everything about one of your characters, only to you")
    @app_commands.describe(character="Your character")
    async def show(self, interaction: discord.Interaction, character: str) -> None:
        """Show a character."""
        one = await self._find(interaction, character)
        await interaction.response.defer(ephemeral=True)
        picture = await self._characters.picture_of(one)
        files = [discord.File(io.BytesIO(picture), filename="picture.png")] if picture else []
        await interaction_replies.reply_privately(
            interaction, format_sheet(one.sheet), files=files, view=more_view(one)
        )

    @app_commands.command(description="Delete one of your characters. It leaves every scene")
    @app_commands.describe(
        character="Your character", sure="Choose True to delete. You can't undo this"
    )
    async def delete(self, interaction: discord.Interaction, character: str, sure: bool) -> None:
        """Delete a character if the user is sure."""
        one = await self._find(interaction, character)
        name = escape_name(one.sheet.name)
        if not sure:
            await interaction_replies.reply_privately(interaction, f"{name} was not deleted.")
            return
        await interaction.response.defer(ephemeral=True)
        await self._characters.delete(interaction.user.id, one.id)
        await interaction_replies.reply_privately(interaction, f"**{name}** was deleted.")

    @app_commands.command(description="Get one of your characters as a file")
    @app_commands.describe(character="Your character", form="The kind of file")
    async def export(
        self,
        interaction: discord.Interaction,
        character: str,
        form: Literal["YAML", "V3 card"] = "YAML",
    ) -> None:
        """Send a character as a file. The picture is in the card, or comes beside the YAML."""
        one = await self._find(interaction, character)
        await interaction.response.defer(ephemeral=True)
        picture = await self._characters.picture_of(one)
        if form == "YAML":
            files = {"character.yaml": dump_yaml(one.sheet).encode()}
            files |= {"picture.png": picture} if picture else {}
        else:
            files = {"character.json": dump_card(one.sheet, picture).encode()}
        await interaction_replies.reply_privately(
            interaction,
            f"**{escape_name(one.sheet.name)}**, with what only its own mind knows:",
            files=[discord.File(io.BytesIO(data), filename=name) for name, data in files.items()],
        )

    @app_commands.command(name="import", description="Make a character from a file")
    @app_commands.describe(
        file="A file from /character export, or a V3 character card (JSON)",
        picture="A picture (default: the card's)",
    )
    async def import_(
        self,
        interaction: discord.Interaction,
        file: discord.Attachment,
        picture: discord.Attachment | None = None,
    ) -> None:
        """Make a character from a file."""
        await interaction.response.defer(ephemeral=True)
        _require_size(file.filename, file.size, MAX_FILE_BYTES)
        sheet, found = read_character(await file.read(), file.filename)
        name = file.filename
        if picture is not None:
            _require_size(picture.filename, picture.size, MAX_BYTES)
            found = await picture.read()
            name = picture.filename
        square = await self._square_upload(found, name) if found else None
        one = await self._characters.create(interaction.user.id, sheet.model_dump(), square)
        told = (
            ""
            if one.sheet.description or not one.sheet.private
            else " Everything in the file is private to its own mind. `/character edit` sets what"
            " everyone may know."
        )
        await self._confirm(interaction, one, f"is yours now.{told}")

    @app_commands.command(
        name="in-play", description="Show the players' own characters in scenes of this server"
    )
    @app_commands.guild_only()
    async def in_play(self, interaction: discord.Interaction) -> None:
        """Show which own characters are in play.

        Those who may manage the server see all, game masters those of their scenes.
        """
        manages = interaction.permissions.manage_guild
        found = self._characters.list_in_play(
            interaction.guild_id or 0, None if manages else interaction.user.id
        )
        lines = [
            f"**{escape_name(own.character.name)}** of <@{own.owner_id}> in"
            f" <#{scene.place.channel_id}>"
            for scene, own in found
        ]
        text = next(iter(join_lines(lines, MESSAGE_LIMIT, 1)), None)
        await interaction_replies.reply_privately(
            interaction, text or "No own character is in a scene that you direct."
        )

    @edit.autocomplete("character")
    @show.autocomplete("character")
    @delete.autocomplete("character")
    @export.autocomplete("character")
    async def _own(
        self, interaction: discord.Interaction, typed: str
    ) -> list[app_commands.Choice[str]]:
        own = await self._characters.list_of(interaction.user.id)
        names = [one.sheet.name for one in own if normalise(typed) in normalise(one.sheet.name)]
        return [autocomplete.text_choice(name, name) for name in names][: autocomplete.MAX_CHOICES]

    # Forms

    @commands.Cog.listener()
    async def on_interaction(self, interaction: discord.Interaction) -> None:
        """Store a submitted form. No object waits for it: it can be older than a restart."""
        if interaction.type is discord.InteractionType.modal_submit and interaction.data:
            form = re.fullmatch(CHARACTER_FORM_ID, str(interaction.data.get("custom_id", "")))
            if form is not None:
                await interaction_replies.run_reporting_errors(
                    interaction, self._store_form(interaction, int(form["own"]))
                )

    async def open_more(self, interaction: discord.Interaction, own_id: int) -> None:
        """Open the second form of the user's character."""
        one = await self._characters.require_own(interaction.user.id, own_id)
        await interaction.response.send_modal(character_form(CharacterForm.MORE, one))

    async def _store_form(self, interaction: discord.Interaction, own_id: int) -> None:
        await interaction.response.defer(ephemeral=True, thinking=True)
        data: Mapping[str, Any] = dict(interaction.data or {})
        fields: dict[str, object] = dict(read_fields(data.get("components")))
        if fields.get("face") == "":
            fields["face"] = None
        user_id = interaction.user.id
        try:
            picture = await self._read_picture(interaction, data)
            if own_id:
                one = await self._characters.change(user_id, own_id, fields, picture)
            else:
                one = await self._characters.create(user_id, fields, picture)
        except (CharacterError, Refused) as error:
            text = yaml.safe_dump(fields, allow_unicode=True, sort_keys=False).encode()
            await interaction_replies.reply_privately(
                interaction,
                f"{describe_error(error)} Nothing was stored. Your words are in this file.",
                files=[discord.File(io.BytesIO(text), filename="form.yaml")],
            )
            return
        await self._confirm(interaction, one, "was changed." if own_id else "is yours now.")

    async def _read_picture(
        self, interaction: discord.Interaction, data: Mapping[str, Any]
    ) -> bytes | None:
        upload = read_upload(data.get("components"), data.get("resolved") or {})
        if upload is None:
            return None
        name = str(upload.get("filename"))
        _require_size(name, int(upload.get("size") or 0), MAX_BYTES)
        try:
            content = await interaction.client.http.get_from_cdn(str(upload.get("url")))
        except discord.HTTPException as error:
            raise CharacterError(f"{name} can't be read. Upload it again.") from error
        return await self._square_upload(content, name)

    async def _confirm(
        self, interaction: discord.Interaction, one: StoredCharacter, state: str
    ) -> None:
        await interaction_replies.reply_privately(
            interaction,
            f"**{escape_name(one.sheet.name)}** {state} `/cast join` brings it into a scene. A"
            " scene that it is in already keeps its copy.",
            view=more_view(one),
        )

    async def _find(self, interaction: discord.Interaction, name: str) -> StoredCharacter:
        return await self._characters.find(interaction.user.id, name)


def _require_size(name: str, size: int, most: int) -> None:
    """Raise CharacterError if a file is too large, before it is downloaded."""
    if size > most:
        raise CharacterError(
            f"{name} is larger than {most // _MEGABYTE} MiB. Choose a smaller one."
        )
