"""Discord's words for remedies: every remedy has some, and every command they name exists."""

from __future__ import annotations

import re

import pytest
from discord import app_commands

from bot.errors import PostingError, Refused, Remedy
from bot.scenes.notices import Notice
from cogs.cast_commands import CastCommands
from cogs.character_commands import CharacterCommands
from cogs.gm_commands import GmCommands
from cogs.mydata_commands import MyDataCommands
from cogs.play_commands import PlayCommands
from cogs.remedy_texts import TEXTS, describe_error, describe_notice
from cogs.reveal_commands import RevealCommands
from cogs.scene_commands import SceneCommands

COGS = (
    CastCommands,
    CharacterCommands,
    GmCommands,
    MyDataCommands,
    PlayCommands,
    RevealCommands,
    SceneCommands,
)
_COMMAND = re.compile(r"`/([a-z -]+)`")


def command_names() -> set[str]:
    names = set()
    for cog in COGS:
        prefix = f"{cog.__cog_group_name__} " if cog.__cog_is_app_commands_group__ else ""
        for command in cog.__cog_app_commands__:
            assert isinstance(command, app_commands.Command | app_commands.Group)
            names.add(prefix + command.qualified_name)
    return names


@pytest.mark.parametrize("remedy", Remedy)
def test_every_remedy_names_only_commands_that_exist(remedy: Remedy) -> None:
    assert set(_COMMAND.findall(TEXTS[remedy])) - {"aside run"} <= command_names()


def test_a_refusal_is_followed_by_its_remedy() -> None:
    refused = Refused("No scene is under way in this channel.", Remedy.START_SCENE)
    assert describe_error(refused) == (
        "No scene is under way in this channel. Start one with `/scene start`."
    )


def test_an_error_without_a_remedy_stays_as_it_is() -> None:
    assert describe_error(Refused("You already play Mr Bennet.")) == "You already play Mr Bennet."
    assert describe_error(PostingError("Too many requests.")) == "Too many requests."


def test_a_notice_is_followed_by_its_remedy() -> None:
    notice = Notice("The oldest turns are forgotten.", Remedy.READ_HISTORY)
    assert describe_notice(notice).endswith("forgotten. `/scene history` still shows them.")
    assert describe_notice(Notice("Mr Bennet left.")) == "Mr Bennet left."
