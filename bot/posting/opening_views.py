"""The button and the menu with which a game master opens a thought to one player.

Their custom ids name the turn and the take, so they work after a restart. Buttons on Discord keep
their ids forever: the patterns here must not change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import discord

from bot.posting.graphemes import shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.scenes.insight import PossibleReader

OPEN_BUTTON_ID: Final = r"aside:open:(?P<turn>[0-9]{1,18}):(?P<take>[0-9]{1,18})"
"""The pattern of the custom id of the button under a thought."""

READER_MENU_ID: Final = r"aside:reader:(?P<turn>[0-9]{1,18}):(?P<take>[0-9]{1,18})"
"""The pattern of the custom id of the menu of players."""

_LONGEST_LABEL = 100


def open_view(turn_id: int, take_id: int) -> discord.ui.View:
    """Return a view with the button that opens the thoughts of a take to one player."""
    button: discord.ui.Button[discord.ui.View] = discord.ui.Button(
        label="Show to a player…", emoji="🔎", custom_id=f"aside:open:{turn_id}:{take_id}"
    )
    return _create_view(button)


def readers_view(turn_id: int, take_id: int, readers: Sequence[PossibleReader]) -> discord.ui.View:
    """Return a view with the menu of the players who may get the thoughts of a take."""
    options = [
        discord.SelectOption(label=shorten(reader.name, _LONGEST_LABEL), value=str(reader.user_id))
        for reader in readers
    ]
    menu: discord.ui.Select[discord.ui.View] = discord.ui.Select(
        placeholder="Choose a player",
        options=options,
        custom_id=f"aside:reader:{turn_id}:{take_id}",
    )
    return _create_view(menu)


def _create_view(item: discord.ui.Item[discord.ui.View]) -> discord.ui.View:
    view = discord.ui.View(timeout=None)
    view.add_item(item)
    view.stop()  # discord.py would keep it in memory; presses are matched by custom id
    return view
