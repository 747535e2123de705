"""What can be done with the story at one of its messages: go back to it, branch from it, take it out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import discord
from discord import app_commands
from discord.ext import commands

from bot.posting import buttons, status_pages
from bot.posting.branch_threads import create_branch_thread
from bot.posting.buttons import TurnAction
from bot.scenes.notices import Notice
from bot.scenes.posts import PostPurpose
from bot.scenes.turn import TurnKind
from cogs import interaction_replies

if TYPE_CHECKING:
    from bot.scenes.branching import Branching
    from bot.scenes.posts import Posts
    from bot.scenes.takes import Takes
    from bot.scenes.theatre import Theatre
    from bot.scenes.undo import Undo, Undone

STORY_ACTIONS = frozenset(
    {TurnAction.REWIND, TurnAction.CONFIRM_REWIND, TurnAction.HIDE, TurnAction.BRANCH}
)
"""What is done here; everything else is done with replies."""


class StoryActions(commands.Cog):
    """The context menu and the buttons that change the course of a story. For game masters."""

    def __init__(
        self,
        bot: commands.Bot,
        theatre: Theatre,
        takes: Takes,
        undoing: Undo,
        branching: Branching,
        posts: Posts,
    ) -> None:
        self._bot = bot
        self._theatre = theatre
        self._takes = takes
        self._undoing = undoing
        self._branching = branching
        self._posts = posts
        self._menu = app_commands.ContextMenu(name="Rewind to here", callback=self.rewind_message)
        self._menu.guild_only = True

    async def cog_load(self) -> None:
        """Add the context menu: discord.py adds only slash commands by itself."""
        self._bot.tree.add_command(self._menu)

    async def cog_unload(self) -> None:
        """Remove it."""
        self._bot.tree.remove_command(self._menu.name, type=self._menu.type)

    async def rewind_message(
        self, interaction: discord.Interaction, message: discord.Message
    ) -> None:
        """Ask whether everything after a message is really to be undone."""
        await interaction.response.defer(ephemeral=True)
        turn = await self._takes.require_turn_of_message(message.id, interaction.user.id)
        await self._ask(interaction, turn.id)

    async def do(self, interaction: discord.Interaction, deed: TurnAction, turn_id: int) -> None:
        """Do what a button says."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        message = interaction.message
        message_id = message.id if message is not None and not message.flags.ephemeral else None
        await self._takes.require_current_button(turn_id, interaction.channel_id or 0, message_id)
        if deed is TurnAction.REWIND:
            await self._ask(interaction, turn_id)
        elif deed is TurnAction.CONFIRM_REWIND:
            await self._rewind(interaction, turn_id)
        elif deed is TurnAction.HIDE:
            await self._hide(interaction, turn_id)
        else:
            await self._branch(interaction, turn_id)

    async def restore(
        self, interaction: discord.Interaction, scene_id: int, moment: int | None
    ) -> None:
        """Bring back what was undone at a moment, or last."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        restored = await self._undoing.unhide(scene_id, moment, interaction.user.id)
        await interaction_replies.reply_privately(
            interaction, f"{_turns(len(restored.turns))} part of the story again."
        )
        await self._theatre.announce(
            restored.scene, Notice(f"{_turns(len(restored.turns))} part of the story again.")
        )
        await self._undoing.show(restored)

    async def _ask(self, interaction: discord.Interaction, turn_id: int) -> None:
        after = await self._undoing.count_later_turns(turn_id, interaction.user.id)
        undone = (
            status_pages.count_turns(after).capitalize()
            if after
            else "What is being written after it"
        )
        question = f"Rewind to here? {undone} would be undone. `/scene unhide` brings them back."
        await interaction_replies.reply_privately(
            interaction, question, view=buttons.confirm_rewind_view(turn_id)
        )

    async def _rewind(self, interaction: discord.Interaction, turn_id: int) -> None:
        undone = await self._undoing.rewind(turn_id, interaction.user.id)
        done = sum(turn.undone_at is not None for turn in undone.turns)
        await self._answer(interaction, f"{_turns(done)} undone.", undone)
        await self._theatre.announce(
            undone.scene, Notice(f"The story was taken back: {_turns(done).lower()} undone.")
        )
        await self._undoing.show(undone)

    async def _hide(self, interaction: discord.Interaction, turn_id: int) -> None:
        undone = await self._undoing.hide(turn_id, interaction.user.id)
        await self._answer(
            interaction, "That is out of the story, and out of everyone's mind.", undone
        )
        for turn in undone.turns:
            if (
                turn.kind is TurnKind.LINE
            ):  # a person's message stays as it is, so that nothing shows it
                await self._theatre.announce(
                    undone.scene,
                    Notice(f"A line of {turn.speaker}'s is no part of the story any more."),
                )
        await self._undoing.show(undone)

    async def _answer(self, interaction: discord.Interaction, text: str, undone: Undone) -> None:
        view = buttons.unhide_view(undone.scene.id, undone.moment) if undone.moment else None
        await interaction_replies.reply_privately(interaction, text, view=view)

    async def _branch(self, interaction: discord.Interaction, turn_id: int) -> None:
        scene, turn = await self._branching.require_root(turn_id, interaction.user.id)
        posts = [
            post.message_id
            for post in await self._posts.posts(turn_id)
            if post.purpose is PostPurpose.PERSONA
        ]
        place = await create_branch_thread(
            self._bot, scene, turn.message_id or next(iter(posts), None), interaction.user.id
        )
        branch = await self._branching.branch(turn_id, place, interaction.user.id)
        told = len(await self._theatre.queries.read_history(branch))
        sentence = f"The story goes on here from there, {status_pages.count_turns(told)} so far: what was said then, everybody knows."
        await self._theatre.announce(branch, Notice(sentence))
        await interaction_replies.reply_privately(
            interaction, f"The branch goes on in <#{place.channel_id}>."
        )


def _turns(number: int) -> str:
    return "One turn is" if number == 1 else f"{number} turns are"
