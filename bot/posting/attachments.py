"""Files of rendered messages as discord.py sends them."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import discord

if TYPE_CHECKING:
    from bot.posting.render import Outgoing


def create_files(outgoing: Outgoing) -> list[discord.File]:
    """Return the files of a message.

    Call this for each attempt to send the message, because discord.py closes the files it sends.
    """
    return [discord.File(io.BytesIO(file.content), filename=file.name) for file in outgoing.files]
