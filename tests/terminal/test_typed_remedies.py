"""The terminal's words for remedies: its own commands, and no command that only Discord has."""

from __future__ import annotations

import re

import pytest

from bot.errors import Refused, Remedy
from bot.scenes.notices import Notice
from bot.terminal.typed_commands import HELP
from bot.terminal.typed_remedies import TEXTS, describe_error, describe_notice


@pytest.mark.parametrize("remedy", TEXTS)
def test_every_remedy_names_only_commands_of_the_terminal(remedy: Remedy) -> None:
    assert set(re.findall(r"`([a-z ]+)`", TEXTS[remedy])) <= {*HELP, "aside run"}


def test_a_refusal_is_followed_by_a_remedy_that_the_terminal_has() -> None:
    refused = Refused("There is no other take in that direction.", Remedy.MAKE_TAKE)
    assert describe_error(refused).endswith("direction. Use `retry` to make another one.")


def test_a_remedy_that_needs_discord_is_left_out() -> None:
    refused = Refused("Mr Bennet is off stage.", Remedy.ENTER_STAGE)
    assert describe_error(refused) == "Mr Bennet is off stage."


def test_a_notice_is_followed_by_its_remedy() -> None:
    notice = Notice("The oldest turns are forgotten.", Remedy.READ_HISTORY)
    assert describe_notice(notice).endswith("forgotten. `history` still shows them.")
