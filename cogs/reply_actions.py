"""Actions on replies: show thoughts, retry, step through takes, write more, edit."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any, TypeVar

import discord
from discord import app_commands
from discord.ext import commands

from bot.errors import Refused
from bot.her.beats import BeatKind
from bot.posting import buttons
from bot.posting.buttons import TurnAction
from bot.posting.render import (
    render_gm_messages,
    render_player_messages,
    render_public_messages,
)
from bot.scenes.reveal import Audience, Destination
from bot.scenes.turn import TurnState
from cogs import interaction_replies
from cogs.message_reading import read_option
from cogs.persona_line_actions import PersonaLineActions

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bot.scenes.posts import Posts
    from bot.scenes.takes import Takes
    from bot.scenes.theatre import Theatre
    from bot.scenes.turn import Turn

_Found = TypeVar("_Found")
_ANSWERED = (TurnAction.MENU, TurnAction.SHOW_THOUGHTS, TurnAction.REVEAL_THOUGHTS)
_STEPS = {TurnAction.PREVIOUS_TAKE: -1, TurnAction.NEXT_TAKE: 1}


class ReplyActions(commands.Cog):
    """The context menus and buttons of replies."""

    def __init__(self, bot: commands.Bot, theatre: Theatre, takes: Takes, posts: Posts) -> None:
        self._bot = bot
        self._theatre = theatre
        self._takes = takes
        self._posts = posts
        self._menus = [
            _make_menu("Show thoughts", self.show_thoughts),
            _make_menu("Retry", self.retry_message),
            _make_menu("Edit", self.edit_message),
            _make_menu("More…", self.more),
        ]

    async def cog_load(self) -> None:
        """Add the context menus. discord.py only adds slash commands by itself."""
        for menu in self._menus:
            self._bot.tree.add_command(menu)

    async def cog_unload(self) -> None:
        """Remove the context menus."""
        for menu in self._menus:
            self._bot.tree.remove_command(menu.name, type=menu.type)

    @commands.Cog.listener()
    async def on_ready(self) -> None:
        """Finish the posts of takes that a stop interrupted."""
        await self._takes.align_all()

    @commands.Cog.listener()
    async def on_interaction(self, interaction: discord.Interaction) -> None:
        """Apply a submitted edit form. No object waits for it: it can be older than a restart."""
        if interaction.type is discord.InteractionType.modal_submit and interaction.data:
            form = re.fullmatch(buttons.EDIT_FORM_ID, str(interaction.data.get("custom_id", "")))
            if form is not None:
                text = _field_text(interaction.data.get("components"))
                await interaction_replies.run_reporting_errors(
                    interaction,
                    self._apply_edit(interaction, int(form["turn"]), int(form["take"]), text),
                )

    # Context menus

    async def show_thoughts(
        self, interaction: discord.Interaction, message: discord.Message
    ) -> None:
        """Show a reply's private beats to the user if they may see them."""
        await interaction.response.defer(ephemeral=True)
        await self._send_thoughts(interaction, message.id)

    async def retry_message(
        self, interaction: discord.Interaction, message: discord.Message
    ) -> None:
        """Make another take of a reply, or retry a failed one."""
        await interaction.response.defer(ephemeral=True)
        turn = await self._takes.require_turn_of_message(
            message.id, interaction.channel_id or 0, interaction.user.id
        )
        await self._retry_or_retake(interaction, turn)

    async def edit_message(
        self, interaction: discord.Interaction, message: discord.Message
    ) -> None:
        """Open the form that edits a reply, or a player's own line."""
        lines = self._bot.get_cog(PersonaLineActions.__name__)
        if isinstance(lines, PersonaLineActions) and await lines.open_form(interaction, message):
            return
        turn = await _look_up(
            self._takes.require_turn_of_message(
                message.id, interaction.channel_id or 0, interaction.user.id
            )
        )
        await self._open_form(interaction, turn.id)

    async def more(self, interaction: discord.Interaction, message: discord.Message) -> None:
        """Show a menu with all actions on a message of the story."""
        await interaction.response.defer(ephemeral=True)
        turn = await self._takes.require_turn_of_message(
            message.id, interaction.channel_id or 0, interaction.user.id
        )
        await interaction_replies.reply_privately(interaction, _MENU, view=buttons.menu_view(turn))

    # Buttons

    async def retry(self, interaction: discord.Interaction, turn_id: int) -> None:
        """Retry a failed reply."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        if interaction.guild_id is not None:  # a failed answer to a whisper may be a direct message
            await self._require_current(interaction, turn_id)
        await self._takes.retry(turn_id, interaction.user.id)
        await interaction_replies.reply_privately(interaction, "Trying again.")

    async def act(self, interaction: discord.Interaction, action: TurnAction, turn_id: int) -> None:
        """Perform a button's action on a reply."""
        if action is TurnAction.EDIT:
            await self._require_current(interaction, turn_id)
            await self._open_form(interaction, turn_id)
            return
        await interaction.response.defer(ephemeral=True, thinking=action in _ANSWERED)
        await self._require_current(interaction, turn_id)
        if action is TurnAction.MENU:
            turn = await self._takes.require_turn(turn_id, interaction.user.id)
            await interaction_replies.reply_privately(
                interaction, _MENU, view=buttons.menu_view(turn)
            )
        elif action is TurnAction.SHOW_THOUGHTS:
            posts = await self._posts.posts(turn_id)
            await self._send_thoughts(interaction, posts[0].message_id if posts else 0)
        elif action is TurnAction.REVEAL_THOUGHTS:
            await self._takes.redirect(
                turn_id, BeatKind.THOUGHT, Destination.SPOILER, interaction.user.id
            )
            await interaction_replies.reply_privately(
                interaction, "Everyone can read the thoughts of that reply now."
            )
        elif action in _STEPS:
            await self._takes.step(turn_id, interaction.user.id, _STEPS[action])
            await self._refresh(interaction, turn_id)
        else:
            await self._takes.retake(
                turn_id, interaction.user.id, lengthen=action is TurnAction.WRITE_MORE
            )

    async def _require_current(self, interaction: discord.Interaction, turn_id: int) -> None:
        message = interaction.message
        message_id = message.id if message is not None and not message.flags.ephemeral else None
        await self._takes.require_current_button(turn_id, interaction.channel_id or 0, message_id)

    async def _refresh(self, interaction: discord.Interaction, turn_id: int) -> None:
        """Update the private menu to the chosen take. Posts in the channel update themselves."""
        if interaction.message is not None and interaction.message.flags.ephemeral:
            turn = await self._takes.require_turn(turn_id, interaction.user.id)
            await interaction.edit_original_response(view=buttons.menu_view(turn))

    async def _retry_or_retake(self, interaction: discord.Interaction, turn: Turn) -> None:
        if turn.state is TurnState.FAILED:
            await self._takes.retry(turn.id, interaction.user.id)
            await interaction_replies.reply_privately(interaction, "Trying again.")
        else:
            await self._takes.retake(turn.id, interaction.user.id)
            await interaction_replies.reply_privately(
                interaction, f"{turn.speaker} is writing another version of that reply."
            )

    async def _send_thoughts(self, interaction: discord.Interaction, message_id: int) -> None:
        thoughts = await self._theatre.queries.read_thoughts(
            message_id, interaction.channel_id or 0, interaction.user.id
        )
        if thoughts.audience is Audience.GM:
            await interaction_replies.reply_with_messages(
                interaction, render_gm_messages(thoughts.speaker, thoughts.released)
            )
        elif thoughts.audience is Audience.PLAYER:
            messages = render_player_messages(
                thoughts.speaker, thoughts.released, interaction.user.id
            )
            await interaction_replies.reply_with_messages(interaction, messages)
        else:
            await interaction_replies.reply_with_messages(
                interaction, render_public_messages(thoughts.released)
            )

    async def _open_form(self, interaction: discord.Interaction, turn_id: int) -> None:
        take, text = await _look_up(self._takes.read_text(turn_id, interaction.user.id))
        if len(text) > buttons.MAX_FIELD_LENGTH:
            raise Refused(
                f"That reply is too long to edit. Forms hold {buttons.MAX_FIELD_LENGTH} characters."
            )
        await interaction.response.send_modal(buttons.edit_form(turn_id, take.id, text))

    async def _apply_edit(
        self, interaction: discord.Interaction, turn_id: int, take_id: int, text: str
    ) -> None:
        await interaction.response.defer(ephemeral=True, thinking=True)
        await self._takes.require_current_button(turn_id, interaction.channel_id or 0, None)
        words = await read_option(interaction, text)
        changed = await self._takes.rewrite(turn_id, take_id, words, interaction.user.id)
        await interaction_replies.reply_privately(
            interaction, "The reply was changed." if changed else "The text is the same as before."
        )


_MENU = "Choose an action for this message."
_LOOKUP_TIMEOUT = 1.0
"""Seconds for each of the two lookups before a form.

A form must be the first answer, and Discord waits three seconds for it.
"""


async def _look_up(lookup: Awaitable[_Found]) -> _Found:
    """Await a lookup, which may wait for a reply that is being posted.

    Raise Refused after a timeout.
    """
    try:
        return await asyncio.wait_for(lookup, _LOOKUP_TIMEOUT)
    except TimeoutError:
        raise Refused("That reply is still being posted. Try again in a moment.") from None


def _make_menu(
    name: str, callback: Callable[[discord.Interaction, discord.Message], Awaitable[None]]
) -> app_commands.ContextMenu:
    menu = app_commands.ContextMenu(name=name, callback=callback)  # type: ignore[arg-type]  # discord.py asks for a coroutine
    menu.guild_only = True
    return menu


def _field_text(components: Any) -> str:
    """Return the text of the form's field, at any depth of the components."""
    for part in components or ():
        if part.get("custom_id") == buttons.EDIT_FIELD_ID:
            return str(part.get("value") or "")
        if found := _field_text(
            [
                *(part.get("components") or ()),
                *([part["component"]] if part.get("component") else ()),
            ]
        ):
            return found
    return ""
