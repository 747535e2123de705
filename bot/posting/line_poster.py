"""Posts the lines of players under their characters' names and faces."""

from __future__ import annotations

from typing import TYPE_CHECKING

import discord

from bot.errors import DiscordNotResponding, PostingError
from bot.posting.discord_errors import REQUEST_ERRORS
from bot.posting.permissions import explain_missing_permission
from bot.posting.persona_messages import EditResult, SentMessage
from bot.posting.render import Outgoing
from bot.posting.webhooks import Persona

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bot.posting.persona_messages import PersonaMessages
    from bot.scenes.scene import Scene
    from bot.scenes.turn import Turn


class LinePoster:
    """Implements `bot.scenes.persona_lines.LineVoice` for Discord.

    `find_persona` returns the name and picture of a speaker.
    """

    def __init__(
        self,
        messages: PersonaMessages,
        find_persona: Callable[[Scene, str], Awaitable[Persona]],
    ) -> None:
        self._messages = messages
        self._find_persona = find_persona

    async def require_persona_lines(self, scene: Scene) -> None:
        """Raise PostingError if Aside may not delete messages or create webhooks there."""
        channels = self._messages.channels
        try:
            channel = channels.client.get_channel(
                scene.place.channel_id
            ) or await channels.client.fetch_channel(scene.place.channel_id)
        except REQUEST_ERRORS as error:
            raise channels.explain_posting_error(scene.place, error) from error
        if isinstance(channel, discord.abc.GuildChannel | discord.Thread) and not (
            channel.permissions_for(channel.guild.me).manage_messages
        ):
            raise explain_missing_permission(
                ("Manage Messages",), channels.display_name(scene.place)
            )
        await self._messages.webhooks.get(scene.place, Persona(""))

    async def post_line(self, scene: Scene, turn: Turn, text: str) -> int:
        """Post a line under its speaker's name and face. Return the message's id."""
        persona = await self._find_persona(scene, turn.speaker)
        hook = await self._messages.webhooks.get(scene.place, persona)
        sent = await self._messages.send(turn.id, scene.place, persona, hook, Outgoing(text))
        return sent.message_id

    async def find_posted_line(self, scene: Scene, turn: Turn) -> int | None:
        """Return the message that shows the same text as the turn's own one, if it was posted."""
        channel = self._messages.channels.messageable(scene.place)
        try:
            original = await channel.fetch_message(turn.message_id or 0)
        except discord.NotFound:
            return None
        except REQUEST_ERRORS as error:
            raise DiscordNotResponding("A player's message can't be read.") from error
        persona = await self._find_persona(scene, turn.speaker)
        lost = await self._messages.find_lost(turn.id, scene.place, persona)
        return next((one.id for one in lost if one.content == original.content), None)

    async def edit_line(
        self, scene: Scene, message_id: int, webhook_id: int | None, text: str
    ) -> None:
        """Give a line's post another text. Raises PostingError."""
        sent = SentMessage(message_id, webhook_id)
        result = await self._messages.edit(scene.place, sent, Outgoing(text))
        if result is not EditResult.DONE:
            raise PostingError("Discord does not let me change this message any more.")

    async def delete_line(self, scene: Scene, message_id: int) -> bool:
        """Delete a message. Return whether it is gone. Raises no error."""
        return await self._messages.delete(scene.place, SentMessage(message_id, None))
