"""The buttons under posts. Custom ids name action and turn, so buttons survive a restart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

import discord

from bot.errors import Refused, Remedy
from bot.posting.buttons import TRY_AGAIN_ID, TURN_ACTION_ID, UNHIDE_ID, TurnAction
from bot.posting.character_forms import JOIN_BUTTON_ID, MORE_BUTTON_ID
from bot.posting.opening_views import OPEN_BUTTON_ID, READER_MENU_ID
from cogs import interaction_replies
from cogs.cast_commands import CastCommands, JoinRequest
from cogs.character_commands import CharacterCommands
from cogs.command_tree import explain_invitation, is_member
from cogs.insight_commands import InsightCommands
from cogs.reply_actions import ReplyActions
from cogs.story_actions import STORY_ACTIONS, StoryActions

if TYPE_CHECKING:
    import re

    from discord.ext import commands

_Button = discord.ui.Button[discord.ui.View]
_Select = discord.ui.Select[discord.ui.View]
_Cog = TypeVar("_Cog")


class _MatchedButton:
    """A button that keeps the match of its custom id."""

    match: re.Match[str]

    async def interaction_check(self, interaction: discord.Interaction, /) -> bool:
        """Return whether the bot is a member of the server. If not, explain how to invite it."""
        if is_member(interaction):
            return True
        await explain_invitation(interaction)
        return False

    @classmethod
    async def from_custom_id(
        cls, _interaction: discord.Interaction, item: discord.ui.Item[Any], match: re.Match[str], /
    ) -> Self:
        """Return the pressed button."""
        button = cls(item)  # type: ignore[call-arg]  # the other base, DynamicItem, takes it
        button.match = match
        return button


class TryAgainButton(_MatchedButton, discord.ui.DynamicItem[_Button], template=TRY_AGAIN_ID):
    """*Try again*, under the notice of a failed reply."""

    async def callback(self, interaction: discord.Interaction) -> None:
        """Retry the failed reply."""
        await interaction_replies.run_reporting_errors(
            interaction, _replies(interaction).retry(interaction, int(self.match["turn"]))
        )


class TurnActionButton(_MatchedButton, discord.ui.DynamicItem[_Button], template=TURN_ACTION_ID):
    """A button that performs a `TurnAction`."""

    async def callback(self, interaction: discord.Interaction) -> None:
        """Perform the action."""
        await interaction_replies.run_reporting_errors(interaction, self._act(interaction))

    async def _act(self, interaction: discord.Interaction) -> None:
        if self.match["action"] not in set(TurnAction):
            raise Refused(
                "This button is from another version of Aside.", Remedy.USE_CURRENT_BUTTONS
            )
        action = TurnAction(self.match["action"])
        cog = _story(interaction) if action in STORY_ACTIONS else _replies(interaction)
        await cog.act(interaction, action, int(self.match["turn"]))


class UnhideButton(_MatchedButton, discord.ui.DynamicItem[_Button], template=UNHIDE_ID):
    """*Unhide*, under the answer to a rewind or *Hide*."""

    async def callback(self, interaction: discord.Interaction) -> None:
        """Bring the turns back."""
        scene_id = int(self.match["scene"])
        moment = int(self.match["moment"])
        await interaction_replies.run_reporting_errors(
            interaction, _story(interaction).unhide(interaction, scene_id, moment)
        )


class CharacterFormButton(_MatchedButton, discord.ui.DynamicItem[_Button], template=MORE_BUTTON_ID):
    """*Voice and picture…*, under the answer to a character's form."""

    async def callback(self, interaction: discord.Interaction) -> None:
        """Open the character's second form."""
        cog = _get_cog(interaction, CharacterCommands)
        await interaction_replies.run_reporting_errors(
            interaction, cog.open_more(interaction, int(self.match["own"]))
        )


class JoinButton(_MatchedButton, discord.ui.DynamicItem[_Button], template=JOIN_BUTTON_ID):
    """*Let it join* and *Decline*, under a player's question to bring their own character."""

    async def callback(self, interaction: discord.Interaction) -> None:
        """Decide about the character."""
        found = self.match
        request = JoinRequest(
            found["decision"] == "yes",
            int(found["scene"]),
            int(found["owner"]),
            int(found["own"]),
            int(found["revision"]),
        )
        cog = _get_cog(interaction, CastCommands)
        await interaction_replies.run_reporting_errors(
            interaction, cog.decide(interaction, request)
        )


class OpenThoughtButton(_MatchedButton, discord.ui.DynamicItem[_Button], template=OPEN_BUTTON_ID):
    """*Show to a player…*, under a thought in a game master's direct messages."""

    async def callback(self, interaction: discord.Interaction) -> None:
        """Ask for the player."""
        turn_id, take_id = int(self.match["turn"]), int(self.match["take"])
        cog = _get_cog(interaction, InsightCommands)
        await interaction_replies.run_reporting_errors(
            interaction, cog.choose_reader(interaction, turn_id, take_id)
        )


class ReaderMenu(_MatchedButton, discord.ui.DynamicItem[_Select], template=READER_MENU_ID):
    """The menu of players to whom a thought can be opened."""

    async def callback(self, interaction: discord.Interaction) -> None:
        """Open the thought to the chosen player."""
        turn_id, take_id = int(self.match["turn"]), int(self.match["take"])
        cog = _get_cog(interaction, InsightCommands)
        await interaction_replies.run_reporting_errors(
            interaction, cog.open_to(interaction, turn_id, take_id, int(self.item.values[0]))
        )


BUTTONS = (
    TryAgainButton,
    TurnActionButton,
    UnhideButton,
    CharacterFormButton,
    JoinButton,
    OpenThoughtButton,
    ReaderMenu,
)


def _get_cog(interaction: discord.Interaction, kind: type[_Cog]) -> _Cog:
    """Return the bot's cog of that class."""
    return cast("_Cog", cast("commands.Bot", interaction.client).get_cog(kind.__name__))


def _replies(interaction: discord.Interaction) -> ReplyActions:
    return _get_cog(interaction, ReplyActions)


def _story(interaction: discord.Interaction) -> StoryActions:
    return _get_cog(interaction, StoryActions)
