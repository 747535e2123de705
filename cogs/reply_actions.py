"""What can be done with a reply: see its thoughts, try it again, go through its takes, lengthen and rewrite it."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any, TypeVar

import discord
from discord import app_commands
from discord.ext import commands

from bot.errors import Refused
from bot.posting import buttons
from bot.posting.buttons import TurnAction
from bot.posting.render import render_gm_messages, render_public_messages
from bot.scenes.reveal import Audience
from bot.scenes.turn import TurnState
from cogs import interaction_replies

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bot.scenes.posts import Posts
    from bot.scenes.takes import Takes
    from bot.scenes.theatre import Theatre
    from bot.scenes.turn import Turn

_Found = TypeVar("_Found")
_STEPS = {TurnAction.PREVIOUS_TAKE: -1, TurnAction.NEXT_TAKE: 1}


class ReplyActions(commands.Cog):
    """The context menus and the buttons of replies."""

    def __init__(self, bot: commands.Bot, theatre: Theatre, takes: Takes, posts: Posts) -> None:
        self._bot = bot
        self._theatre = theatre
        self._takes = takes
        self._posts = posts
        self._menus = [
            _menu("Show thoughts", self.show_thoughts),
            _menu("Retry", self.retry_message),
            _menu("Edit", self.edit_message),
            _menu("More…", self.more),
        ]

    async def cog_load(self) -> None:
        """Add the context menus: discord.py adds only slash commands by itself."""
        for menu in self._menus:
            self._bot.tree.add_command(menu)

    async def cog_unload(self) -> None:
        """Remove them."""
        for menu in self._menus:
            self._bot.tree.remove_command(menu.name, type=menu.type)

    @commands.Cog.listener()
    async def on_ready(self) -> None:
        """Put right what a stop in the middle left undone."""
        await self._takes.align_all()

    @commands.Cog.listener()
    async def on_interaction(self, interaction: discord.Interaction) -> None:
        """Take a form that was sent back. It may have been opened before a restart, so no object waits for it."""
        if interaction.type is discord.InteractionType.modal_submit and interaction.data:
            form = re.fullmatch(buttons.EDIT_FORM_ID, str(interaction.data.get("custom_id", "")))
            if form is not None:
                text = _text(interaction.data.get("components"))
                await interaction_replies.run_reporting_errors(
                    interaction,
                    self._rewrite(interaction, int(form["turn"]), int(form["take"]), text),
                )

    # From a message's menu

    async def show_thoughts(
        self, interaction: discord.Interaction, message: discord.Message
    ) -> None:
        """Show what a reply kept private to those who may see it, and to nobody else."""
        await interaction.response.defer(ephemeral=True)
        await self._thoughts(interaction, message.id)

    async def retry_message(
        self, interaction: discord.Interaction, message: discord.Message
    ) -> None:
        """Have any reply given anew, or a failed one tried again."""
        await interaction.response.defer(ephemeral=True)
        turn = await self._takes.require_turn_of_message(message.id, interaction.user.id)
        await self._again(interaction, turn)

    async def edit_message(
        self, interaction: discord.Interaction, message: discord.Message
    ) -> None:
        """Open the form that rewrites any reply."""
        turn = await _soon(self._takes.require_turn_of_message(message.id, interaction.user.id))
        await self._edit(interaction, turn.id)

    async def more(self, interaction: discord.Interaction, message: discord.Message) -> None:
        """Show everything that can be done with a message of the story."""
        await interaction.response.defer(ephemeral=True)
        turn = await self._takes.require_turn_of_message(message.id, interaction.user.id)
        await interaction_replies.reply_privately(interaction, _MENU, view=buttons.menu_view(turn))

    # From buttons

    async def retry(self, interaction: discord.Interaction, turn_id: int) -> None:
        """Try a failed reply again."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        if interaction.guild_id is not None:  # in a direct message stands what failed of a whisper
            await self._stands(interaction, turn_id)
        await self._takes.retry(turn_id, interaction.user.id)
        await interaction_replies.reply_privately(interaction, "Trying again.")

    async def do(self, interaction: discord.Interaction, deed: TurnAction, turn_id: int) -> None:
        """Do what a button of a reply's says."""
        if deed is TurnAction.EDIT:
            await self._stands(interaction, turn_id)
            await self._edit(interaction, turn_id)
            return
        await interaction.response.defer(
            ephemeral=True, thinking=deed in (TurnAction.MENU, TurnAction.SHOW_THOUGHTS)
        )
        await self._stands(interaction, turn_id)
        if deed is TurnAction.MENU:
            turn = await self._takes.require_turn(turn_id, interaction.user.id)
            await interaction_replies.reply_privately(
                interaction, _MENU, view=buttons.menu_view(turn)
            )
        elif deed is TurnAction.SHOW_THOUGHTS:
            posts = await self._posts.posts(turn_id)
            await self._thoughts(interaction, posts[0].message_id if posts else 0)
        elif deed in _STEPS:
            await self._takes.step(turn_id, interaction.user.id, _STEPS[deed])
            await self._refresh(interaction, turn_id)
        else:
            await self._takes.retake(
                turn_id, interaction.user.id, lengthen=deed is TurnAction.WRITE_MORE
            )

    async def _stands(self, interaction: discord.Interaction, turn_id: int) -> None:
        message = interaction.message
        message_id = message.id if message is not None and not message.flags.ephemeral else None
        await self._takes.require_current_button(turn_id, interaction.channel_id or 0, message_id)

    async def _refresh(self, interaction: discord.Interaction, turn_id: int) -> None:
        """Have a private menu show the take that was chosen in it; posts in the channel change with their text."""
        if interaction.message is not None and interaction.message.flags.ephemeral:
            turn = await self._takes.require_turn(turn_id, interaction.user.id)
            await interaction.edit_original_response(view=buttons.menu_view(turn))

    async def _again(self, interaction: discord.Interaction, turn: Turn) -> None:
        if turn.state is TurnState.FAILED:
            await self._takes.retry(turn.id, interaction.user.id)
            await interaction_replies.reply_privately(interaction, "Trying again.")
        else:
            await self._takes.retake(turn.id, interaction.user.id)
            await interaction_replies.reply_privately(
                interaction, f"{turn.speaker} gives that reply anew."
            )

    async def _thoughts(self, interaction: discord.Interaction, message_id: int) -> None:
        behind = await self._theatre.queries.read_thoughts(message_id, interaction.user.id)
        if behind.audience is Audience.GM:
            await interaction_replies.reply_with_messages(
                interaction, render_gm_messages(behind.speaker, behind.released)
            )
        else:
            await interaction_replies.reply_with_messages(
                interaction, render_public_messages(behind.released)
            )

    async def _edit(self, interaction: discord.Interaction, turn_id: int) -> None:
        take, text = await _soon(self._takes.read_text(turn_id, interaction.user.id))
        if len(text) > buttons.MAX_FIELD_LENGTH:
            raise Refused(
                f"That reply is longer than the {buttons.MAX_FIELD_LENGTH} characters that a form can hold."
            )
        await interaction.response.send_modal(buttons.edit_form(turn_id, take.id, text))

    async def _rewrite(
        self, interaction: discord.Interaction, turn_id: int, take_id: int, text: str
    ) -> None:
        await interaction.response.defer(ephemeral=True, thinking=True)
        changed = await self._takes.rewrite(turn_id, take_id, text, interaction.user.id)
        await interaction_replies.reply_privately(
            interaction, "Changed." if changed else "Nothing was changed."
        )


_MENU = "What is to be done with it?"
_FORM_WITHIN = 1.0
"""Seconds that each of the two looks before a form may take: a form must be the first answer, and come within three."""


async def _soon(found: Awaitable[_Found]) -> _Found:
    """Return what is found, unless it takes too long: a reply that is just being posted is waited for."""
    try:
        return await asyncio.wait_for(found, _FORM_WITHIN)
    except TimeoutError:
        raise Refused("That reply is just being posted: try again when it stands.") from None


def _menu(
    name: str, callback: Callable[[discord.Interaction, discord.Message], Awaitable[None]]
) -> app_commands.ContextMenu:
    menu = app_commands.ContextMenu(name=name, callback=callback)  # type: ignore[arg-type]  # it asks for a coroutine
    menu.guild_only = True
    return menu


def _text(components: Any) -> str:
    """Return what was written in the form, wherever in it the field is."""
    for part in components or ():
        if part.get("custom_id") == buttons.EDIT_FIELD_ID:
            return str(part.get("value") or "")
        if found := _text(
            [
                *(part.get("components") or ()),
                *([part["component"]] if part.get("component") else ()),
            ]
        ):
            return found
    return ""
