"""The buttons under posts. They work after a restart: their custom ids say what they do, and with which turn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, cast

import discord

from bot.errors import Refused
from bot.posting.buttons import TRY_AGAIN_ID, TURN_ACTION_ID, UNHIDE_ID, TurnAction
from cogs import interaction_replies
from cogs.reply_actions import ReplyActions
from cogs.story_actions import STORY_ACTIONS, StoryActions

if TYPE_CHECKING:
    import re

    from discord.ext import commands

_Button = discord.ui.Button[discord.ui.View]


class _Named:
    """What the kinds of buttons have in common: what their custom id says."""

    said: re.Match[str]

    @classmethod
    async def from_custom_id(
        cls, _interaction: discord.Interaction, item: discord.ui.Item[Any], said: re.Match[str], /
    ) -> Self:
        """Return the button that was pressed."""
        button = cls(item)  # type: ignore[call-arg]  # the other base, DynamicItem, takes it
        button.said = said
        return button


class TryAgainButton(_Named, discord.ui.DynamicItem[_Button], template=TRY_AGAIN_ID):
    """“Try again” under the notice of a failed reply."""

    async def callback(self, interaction: discord.Interaction) -> None:
        """Try it again."""
        await interaction_replies.run_reporting_errors(
            interaction, _replies(interaction).retry(interaction, int(self.said["turn"]))
        )


class TurnActionButton(_Named, discord.ui.DynamicItem[_Button], template=TURN_ACTION_ID):
    """A button that does something with a turn."""

    async def callback(self, interaction: discord.Interaction) -> None:
        """Do it."""
        await interaction_replies.run_reporting_errors(interaction, self._do(interaction))

    async def _do(self, interaction: discord.Interaction) -> None:
        if self.said["action"] not in set(TurnAction):
            raise Refused("That button is from another version of Aside: use the message's menu.")
        deed = TurnAction(self.said["action"])
        does = _story(interaction).do if deed in STORY_ACTIONS else _replies(interaction).do
        await does(interaction, deed, int(self.said["turn"]))


class UnhideButton(_Named, discord.ui.DynamicItem[_Button], template=UNHIDE_ID):
    """“Restore” under what tells that something was undone."""

    async def callback(self, interaction: discord.Interaction) -> None:
        """Bring it back."""
        scene_id, moment = int(self.said["scene"]), int(self.said["moment"])
        await interaction_replies.run_reporting_errors(
            interaction, _story(interaction).restore(interaction, scene_id, moment)
        )


BUTTONS = (TryAgainButton, TurnActionButton, UnhideButton)


def _replies(interaction: discord.Interaction) -> ReplyActions:
    return cast(
        "ReplyActions", cast("commands.Bot", interaction.client).get_cog(ReplyActions.__name__)
    )


def _story(interaction: discord.Interaction) -> StoryActions:
    return cast(
        "StoryActions", cast("commands.Bot", interaction.client).get_cog(StoryActions.__name__)
    )
