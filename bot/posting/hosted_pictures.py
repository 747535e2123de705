"""Gives pictures a public address without a web server of Aside's own.

A picture becomes an emoji of the bot's application. Discord serves emoji at an address that needs
no signature and does not expire, and an application's own emoji appear in nobody's list.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import time
from io import BytesIO
from typing import Final

import discord
from PIL import Image

from bot.posting.discord_errors import REQUEST_ERRORS, Code

_log = logging.getLogger(__name__)

PATIENCE: Final = 3.0
"""Seconds that a post waits for the address of a new picture. Without it, it has no picture."""

RETRY_AFTER: Final = 300.0
"""Seconds before Aside asks again after Discord refused a picture."""

_SIDE: Final = 128  # pixels; Discord scales larger emoji down
_PREFIX: Final = "aside_"
_DRAWN: Final = f"{_PREFIX}m_"  # monograms, which can be drawn again
_UPLOADED: Final = f"{_PREFIX}p_"


class HostedPictures:
    """The pictures that are emoji of the application. The owner awaits `close`.

    The names of the emoji tell which pictures they show, so nothing is stored.
    """

    def __init__(self, client: discord.Client) -> None:
        self._client = client
        self._ids: dict[str, int] | None = None  # by name; None before they were listed
        self._lock = asyncio.Lock()
        self._tasks: dict[str, asyncio.Task[None]] = {}  # by name
        self._retry_at = 0.0  # seconds of the monotonic clock

    async def close(self) -> None:
        """Cancel the uploads in progress."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def get_address(self, png: bytes, *, drawn: bool = False) -> str | None:
        """Return the public address of a picture. Upload it if necessary.

        `drawn` pictures make room for others. Return None if Discord refuses, or does not answer in
        time. The upload then goes on.
        """
        name = _name(png, drawn=drawn)
        if self._ids is not None and name in self._ids:
            return _address(self._ids[name])
        if time.monotonic() < self._retry_at:
            return None
        if (task := self._tasks.get(name)) is None:
            task = asyncio.create_task(self._upload(name, png), name=f"upload of {name}")
            self._tasks[name] = task
            task.add_done_callback(lambda _: self._tasks.pop(name, None))
        await asyncio.wait([task], timeout=PATIENCE)
        return _address(self._ids[name]) if self._ids is not None and name in self._ids else None

    async def remove(self, png: bytes) -> None:
        """Delete the emoji of an uploaded picture. If Discord refuses, log a warning."""
        name = _name(png, drawn=False)
        try:
            async with self._lock:
                await self._delete(await self._list(), name)
        except REQUEST_ERRORS as error:
            _log.warning("A picture could not be deleted from Discord: %s", error)

    async def _upload(self, name: str, png: bytes) -> None:
        try:
            async with self._lock:
                ids = await self._list()
                if name not in ids:
                    image = await asyncio.to_thread(_scale_down, png)
                    ids[name] = await self._create(ids, name, image)
        except REQUEST_ERRORS as error:
            self._retry_at = time.monotonic() + RETRY_AFTER
            _log.warning("A character is shown without its picture: %s", error)

    async def _list(self) -> dict[str, int]:
        if self._ids is None:
            emojis = await self._client.fetch_application_emojis()
            self._ids = {one.name: one.id for one in emojis if one.name.startswith(_PREFIX)}
        return self._ids

    async def _create(self, ids: dict[str, int], name: str, image: bytes) -> int:
        """Create an emoji. If the application has as many as it can, replace a monogram."""
        try:
            return (await self._client.create_application_emoji(name=name, image=image)).id
        except REQUEST_ERRORS as error:
            drawn = [one for one in ids if one.startswith(_DRAWN)]
            if getattr(error, "code", 0) != Code.TOO_MANY_EMOJIS or not drawn:
                raise
            await self._delete(ids, min(drawn, key=lambda one: ids[one]))
        return (await self._client.create_application_emoji(name=name, image=image)).id

    async def _delete(self, ids: dict[str, int], name: str) -> None:
        if (emoji_id := ids.pop(name, None)) is not None:
            with contextlib.suppress(discord.NotFound):
                await (await self._client.fetch_application_emoji(emoji_id)).delete()


def _name(png: bytes, *, drawn: bool) -> str:
    return f"{_DRAWN if drawn else _UPLOADED}{hashlib.sha256(png).hexdigest()[:20]}"


def _address(emoji_id: int) -> str:
    return f"https://cdn.discordapp.com/emojis/{emoji_id}.png"


def _scale_down(png: bytes) -> bytes:
    with Image.open(BytesIO(png)) as picture:
        picture.thumbnail((_SIDE, _SIDE), Image.Resampling.LANCZOS)
        file = BytesIO()
        picture.save(file, "PNG")
    return file.getvalue()
