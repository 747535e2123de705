"""Actions on the story at one of its messages: rewind, branch, hide, unhide."""

from __future__ import annotations

from typing import TYPE_CHECKING

import discord
from discord import app_commands
from discord.ext import commands

from bot.errors import Refused
from bot.posting import buttons, status_pages
from bot.posting.branch_threads import create_branch_thread
from bot.posting.buttons import TurnAction
from bot.scenes.notices import Notice
from bot.scenes.posts import PostPurpose
from bot.scenes.turn import TurnKind
from bot.scenes.turn_rights import SCENE_GONE
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
"""The actions of `StoryActions`. `ReplyActions` has the others."""


class StoryActions(commands.Cog):
    """The context menu and buttons that rewind, branch and hide. They are for game masters."""

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
        """Add the context menu. discord.py only adds slash commands by itself."""
        self._bot.tree.add_command(self._menu)

    async def cog_unload(self) -> None:
        """Remove the context menu."""
        self._bot.tree.remove_command(self._menu.name, type=self._menu.type)

    async def rewind_message(
        self, interaction: discord.Interaction, message: discord.Message
    ) -> None:
        """Ask for confirmation to undo everything after a message."""
        await interaction.response.defer(ephemeral=True)
        turn = await self._takes.require_turn_of_message(
            message.id, interaction.channel_id or 0, interaction.user.id
        )
        await self._confirm_rewind(interaction, turn.id)

    async def act(self, interaction: discord.Interaction, action: TurnAction, turn_id: int) -> None:
        """Perform a button's action on the story."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        message = interaction.message
        message_id = message.id if message is not None and not message.flags.ephemeral else None
        await self._takes.require_current_button(turn_id, interaction.channel_id or 0, message_id)
        if action is TurnAction.REWIND:
            await self._confirm_rewind(interaction, turn_id)
        elif action is TurnAction.CONFIRM_REWIND:
            await self._rewind(interaction, turn_id)
        elif action is TurnAction.HIDE:
            await self._hide(interaction, turn_id)
        else:
            await self._branch(interaction, turn_id)

    async def unhide(
        self, interaction: discord.Interaction, scene_id: int, moment: int | None
    ) -> None:
        """Bring back the turns that were undone at `moment` (microseconds since 1970), or last."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        here = self._theatre.at(interaction.channel_id or 0)
        if here is None or here.id != scene_id:
            raise Refused(SCENE_GONE)
        restored = await self._undoing.unhide(scene_id, moment, interaction.user.id)
        sentence = f"{_count_turns(len(restored.turns))} back in the story."
        await interaction_replies.reply_privately(interaction, sentence)
        await self._theatre.announce(restored.scene, Notice(sentence))
        await self._undoing.show(restored)

    async def _confirm_rewind(self, interaction: discord.Interaction, turn_id: int) -> None:
        after = await self._undoing.count_later_turns(turn_id, interaction.user.id)
        undone = status_pages.count_turns(after).capitalize() if after else "The reply in progress"
        question = f"Rewind to here? {undone} will be undone. `/scene unhide` reverses it."
        await interaction_replies.reply_privately(
            interaction, question, view=buttons.confirm_rewind_view(turn_id)
        )

    async def _rewind(self, interaction: discord.Interaction, turn_id: int) -> None:
        undone = await self._undoing.rewind(turn_id, interaction.user.id)
        done = sum(turn.undone_at is not None for turn in undone.turns)
        await self._answer(interaction, f"{_count_turns(done)} undone.", undone)
        await self._theatre.announce(
            undone.scene, Notice(f"The story was rewound. {_count_turns(done)} undone.")
        )
        await self._undoing.show(undone)

    async def _hide(self, interaction: discord.Interaction, turn_id: int) -> None:
        undone = await self._undoing.hide(turn_id, interaction.user.id)
        await self._answer(interaction, "Removed from the story and from every mind.", undone)
        for turn in undone.turns:
            if turn.kind is TurnKind.LINE:  # the person's message looks the same as before
                await self._theatre.announce(
                    undone.scene, Notice(f"A line of {turn.speaker} was removed from the story.")
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
        turns = status_pages.count_turns(await self._theatre.queries.count_history(branch))
        sentence = f"This branch continues the story after {turns}. Every mind keeps them."
        await self._theatre.announce(branch, Notice(sentence))
        await interaction_replies.reply_privately(
            interaction, f"The branch continues in <#{place.channel_id}>."
        )


def _count_turns(number: int) -> str:
    return "One turn is" if number == 1 else f"{number} turns are"
