"""The buttons under Aside's posts. They outlive a restart: what they stand for is in their custom ids."""

from __future__ import annotations

from typing import Final

import discord

RETRY: Final = r"aside:retry:(?P<turn>[0-9]{1,18})"
"""What the custom id of a "Try again" button looks like, as a regular expression."""


def retry_id(turn_id: int) -> str:
    """Return the custom id of the button that tries this turn again."""
    return f"aside:retry:{turn_id}"


def retry_view(turn_id: int) -> discord.ui.View:
    """Return a view with the button that tries this turn again. Its presses are for whoever knows `RETRY`."""
    view = discord.ui.View(timeout=None)
    view.add_item(discord.ui.Button(label="Try again", emoji="🔁", custom_id=retry_id(turn_id)))
    view.stop()  # discord.py would keep it in memory for ever, waiting for presses that are not its own
    return view
