"""Direct messages to game masters: what characters think, where the channel must not read it."""

from __future__ import annotations

import hashlib
import logging
from typing import TYPE_CHECKING

import discord

from bot.posting.channels import NO_MENTIONS
from bot.posting.discord_errors import REQUEST_ERRORS, Code
from bot.posting.graphemes import shorten
from bot.scenes.posts import Post, PostPurpose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.posting.render import Outgoing
    from bot.scenes.posts import Posts
    from bot.scenes.scene import Scene
    from bot.scenes.turn import Take, Turn

_log = logging.getLogger(__name__)

_LONGEST_AUTHOR = 256
_CLOSED = (Code.DM_CLOSED, Code.DM_UNREACHABLE)


class DirectMessages:
    """Writes to game masters, and remembers to whom it could not.

    What could not be delivered stays stored with its take; `undelivered` has the sentence for whom it concerns.
    """

    def __init__(self, client: discord.Client, posts: Posts) -> None:
        self._client = client
        self._posts = posts
        self._undelivered: dict[int, str] = {}

    def undelivered(self, gm_id: int) -> str | None:
        """Return, once, the sentence for a game master to whom something could not be delivered."""
        return self._undelivered.pop(gm_id, None)

    async def greet(self, gm_id: int, text: str) -> bool:
        """Write to a person for the first time; return whether it arrived."""
        try:
            channel = await self._client.create_dm(discord.Object(gm_id))
            await channel.send(text, allowed_mentions=NO_MENTIONS)
        except REQUEST_ERRORS as error:
            self._remember(gm_id, error)
            return False
        return True

    async def send(
        self,
        scene: Scene,
        turn: Turn,
        take: Take,
        messages: Sequence[Outgoing],
        link: str,
        face: str | None,
    ) -> list[int]:
        """Write these messages of a take to every game master who has not got them; return those who can't be
        reached. `link` leads to the reply, `face` is a picture's address."""
        unreached = []
        for gm_id in scene.gm_ids:
            try:
                await self._send_to(
                    gm_id, scene, turn, take, [_embed(scene, one, link, face) for one in messages]
                )
            except REQUEST_ERRORS as error:
                self._remember(gm_id, error)
                unreached.append(gm_id)
        return unreached

    async def _send_to(
        self, gm_id: int, scene: Scene, turn: Turn, take: Take, embeds: Sequence[discord.Embed]
    ) -> None:
        channel = await self._client.create_dm(discord.Object(gm_id))
        rows = await self._posts.posts(turn.id)
        there = {
            row.part for row in rows if row.channel_id == channel.id and row.take_id == take.id
        }
        for part, embed in enumerate(embeds):
            if part not in there:
                nonce = _nonce(scene, take, gm_id, part)
                message = await channel.send(embed=embed, nonce=nonce, allowed_mentions=NO_MENTIONS)
                await self._posts.add_post(
                    Post(message.id, channel.id, turn.id, take.id, part, PostPurpose.GM)
                )
        self._undelivered.pop(gm_id, None)

    def _remember(self, gm_id: int, error: Exception) -> None:
        _log.warning("A game master could not be written to: %s", error)
        if getattr(error, "code", 0) in _CLOSED:
            why = (
                "your direct messages are closed to me. Open them in the server's privacy settings"
            )
        else:
            why = "Discord refused my last direct message to you. I will try again with the next reply"
        self._undelivered[gm_id] = (
            f"What characters think can't reach you: {why}. It is kept: use “Show thoughts” on a reply."
        )


def _embed(scene: Scene, outgoing: Outgoing, link: str, face: str | None) -> discord.Embed:
    embed = discord.Embed(description=outgoing.text)
    embed.set_author(name=shorten(outgoing.author or "", _LONGEST_AUTHOR), url=link, icon_url=face)
    embed.set_footer(text=scene.scenario.title)
    return embed


def _nonce(scene: Scene, take: Take, gm_id: int, part: int) -> str:
    """Return what Discord knows this message by, so that asking again soon does not post it again. The scene's
    start is in it, since ids begin anew in a new database."""
    key = f"{scene.started_at.timestamp()} {take.id} {gm_id} {part}"
    return hashlib.sha256(key.encode()).hexdigest()[:24]
