"""The stage: shows a scene to its people on Discord."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING, Final, Protocol
from weakref import WeakValueDictionary

from bot.errors import PostingError
from bot.posting import escaping, opening_post
from bot.posting.buttons import try_again_view
from bot.posting.channels import Channels
from bot.posting.direct_messages import DirectMessages
from bot.posting.discord_errors import REQUEST_ERRORS, Code
from bot.posting.graphemes import shorten
from bot.posting.persona_messages import PersonaMessages
from bot.posting.persona_posts import PersonaPosts
from bot.posting.render import render_gm_messages
from bot.posting.split import MESSAGE_LIMIT
from bot.posting.streaming import LiveReply, Pace
from bot.posting.webhook_names import assign_webhook_names, format_webhook_name
from bot.posting.webhooks import Face, Persona, Webhooks
from bot.scenes.posts import Post, PostPurpose
from bot.scenes.reveal import Audience, drop_known_private
from bot.scenes.turn import TurnKind, TurnState

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

    import discord

    from bot.her.beats import PublicBeat
    from bot.posting.reply_draft import ReplyDraft
    from bot.scenes.posts import Posts
    from bot.scenes.scene import Place, Scene
    from bot.scenes.turn import Take, Turn

_log = logging.getLogger(__name__)

TYPING: Final = 8.0
"""Seconds between two typing notices; Discord shows each for ten."""

LAST_REQUEST: Final = 5.0
"""Seconds for which the last request of a stream is waited for."""


class Faces(Protocol):
    """Knows what characters look like. Asked in a thread, since it may read files."""

    def face(self, scenario_id: str, character: str, /) -> Face | None:
        """Return a character's picture, by a public https address or as a file's bytes; None where it has none."""
        ...


class ReplyPoster:
    """Shows scenes on Discord: what `bot.scenes.interfaces.Stage` asks for, and the opening.

    `unreached` is told when a game master could not be written to, while there may still be a way to tell them.
    `streaming`: replies are shown while they are being written. `earlier`: the last turn that was begun before the
    program was started, which may stand there unremembered. The owner calls `close` in the end.
    """

    def __init__(
        self,
        client: discord.Client,
        posts: Posts,
        faces: Faces,
        *,
        unreached: Callable[[Scene, int], Awaitable[None]] | None = None,
        streaming: bool = True,
        earlier: int = 0,
    ) -> None:
        self._posts = posts
        self._faces = faces
        self._unreached = unreached
        self._streaming = streaming
        self._pace = Pace()
        self._streams: dict[int, LiveReply] = {}  # by turn, while it is being written
        self._showing: WeakValueDictionary[int, asyncio.Lock] = (
            WeakValueDictionary()
        )  # by turn, while its posts change
        self._channels = Channels(client)
        self._webhooks = Webhooks(client, posts)
        self._voice = PersonaMessages(self._channels, self._webhooks, posts)
        self._personas = PersonaPosts(self._voice, posts, earlier)
        self._directs = DirectMessages(client, posts)

    async def close(self) -> None:
        """End what is still under way."""
        await self._webhooks.close()

    async def open(self, scene: Scene) -> None:
        """Post the opening of a scene, and make ready for its characters. Raises PostingError."""
        for embed in opening_post.build_embeds(scene):
            await self._channels.say(scene.place, embed=embed)
        await self._personas.hook(scene.place, Persona(""))

    async def greet(self, scene: Scene, gm_id: int) -> bool:
        """Write to a game master that thoughts will come here; return whether it arrived."""
        return await self._directs.greet(gm_id, opening_post.format_gm_greeting(scene))

    def undelivered(self, gm_id: int) -> str | None:
        """Return, once, what a game master must be told in private because a direct message did not reach them."""
        return self._directs.undelivered(gm_id)

    @contextlib.asynccontextmanager
    async def thinking(self, scene: Scene, turn: Turn) -> AsyncGenerator[None]:
        """Show that somebody is typing, and what `progress` tells, for as long as the context lasts. Where that fails
        nothing else does."""
        typing = asyncio.create_task(self._type(scene.place), name=f"typing for turn {turn.id}")
        stream = LiveReply(
            self._pace, lambda: self._draft(scene, turn), f"streaming of turn {turn.id}"
        )
        if self._streaming and turn.kind is TurnKind.REPLY:
            self._streams[turn.id] = stream
        try:
            yield
        finally:
            self._streams.pop(turn.id, None)
            await stream.end(LAST_REQUEST)
            typing.cancel()
            await asyncio.gather(typing, return_exceptions=True)

    async def progress(self, _scene: Scene, turn: Turn, beats: tuple[PublicBeat, ...]) -> None:
        """Take note of what has settled of a reply. It is shown as fast as Discord allows."""
        if stream := self._streams.get(turn.id):
            stream.tell(beats)

    async def deliver(self, scene: Scene, turn: Turn, take: Take) -> None:
        """Post a take, and write to the game masters what is theirs of it; what was done before is not done twice.

        Raises PostingError where the channel can't be posted to. A game master who can't be written to stops nothing.
        """
        persona = await self._persona(scene, turn.speaker)
        async with self._alone(turn):
            first = await self._personas.show(scene, turn, take, persona)
            await self._clear_fault(scene.place, turn)
        if (
            take.seed is not None
        ):  # what a person rewrote has the thoughts of the take it was made from
            await self._tell_gms(scene, turn, take, persona, first)
        try:
            await self._personas.pass_on(scene, turn)
        except PostingError as error:
            _log.warning(
                "Turn %d: buttons of an earlier reply could not be removed: %s", turn.id, error
            )

    async def withdraw(self, scene: Scene, turn: Turn) -> None:
        """Take away what shows of a reply that will not be finished. The take that the turn has shows again, covered
        where the turn left the story. Raises PostingError."""
        persona = await self._persona(scene, turn.speaker)
        async with self._alone(turn):
            if turn.take is None:
                await self._personas.withdraw(scene, turn, persona)
            elif turn.state is TurnState.HIDDEN:
                await self._personas.cover(scene, turn)
            else:
                await self._personas.show(scene, turn, turn.take, persona)

    async def cover(self, scene: Scene, turn: Turn) -> None:
        """Cover the posts of a reply that was taken out of the story. Raises PostingError."""
        async with self._alone(turn):
            await self._clear_fault(scene.place, turn)
            await self._personas.cover(scene, turn)

    async def erase(self, place: Place, post: Post) -> None:
        """Take one of our messages away, as far as that is possible."""
        await self._voice.remove(place, post)

    async def fail(self, scene: Scene, turn: Turn, sentence: str) -> None:
        """Say that a reply failed, with a button to try again; what shows of it goes. Raises PostingError."""
        if turn.take is None:
            await self.withdraw(scene, turn)
        await self._clear_fault(scene.place, turn)
        text = shorten(f"⚠️ {escaping.format_sentence(sentence)}", MESSAGE_LIMIT)
        message = await self._channels.say(scene.place, text, view=try_again_view(turn.id))
        await self._posts.add_post(
            Post(message.id, scene.place.channel_id, turn.id, None, 0, PostPurpose.FAULT)
        )

    async def tell(self, scene: Scene, sentence: str) -> None:
        """Say something of Aside's own, in small print. Raises PostingError."""
        await self._channels.say(
            scene.place, shorten(f"-# {escaping.format_sentence(sentence)}", MESSAGE_LIMIT)
        )

    async def _persona(self, scene: Scene, speaker: str) -> Persona:
        names = assign_webhook_names(character.name for character in scene.scenario.characters)
        face = await asyncio.to_thread(self._faces.face, scene.scenario.id, speaker)
        return Persona(names.get(speaker) or format_webhook_name(speaker), face)

    def _alone(self, turn: Turn) -> asyncio.Lock:
        """The lock under which the posts of a turn are changed."""
        return self._showing.setdefault(turn.id, asyncio.Lock())

    async def _draft(self, scene: Scene, turn: Turn) -> ReplyDraft:
        return await self._personas.draft(scene, turn, await self._persona(scene, turn.speaker))

    async def _tell_gms(
        self, scene: Scene, turn: Turn, take: Take, persona: Persona, first: int
    ) -> None:
        new = drop_known_private(take.beats, turn.lengthens.beats) if turn.lengthens else take.beats
        messages = render_gm_messages(turn.speaker, scene.reveal.freed(new, Audience.GM))
        if messages:
            link = f"{self._channels.at(scene.place).jump_url}/{first}"
            for gm_id in await self._directs.send(
                scene, turn, take, messages, link, persona.address
            ):
                if self._unreached is not None:
                    await self._unreached(scene, gm_id)

    async def _type(self, place: Place) -> None:
        while True:
            with contextlib.suppress(*REQUEST_ERRORS):
                await self._channels.at(place).typing()
            await asyncio.sleep(TYPING)

    async def _clear_fault(self, place: Place, turn: Turn) -> None:
        """Take away what was said of an earlier attempt that failed."""
        for row in await self._posts.posts(turn.id):
            if row.purpose is PostPurpose.FAULT:
                try:
                    await self._channels.remove(place, row.message_id)
                except (*REQUEST_ERRORS, PostingError) as error:
                    if getattr(error, "code", 0) != Code.UNKNOWN_MESSAGE:
                        _log.warning("Message %d could not be removed: %s", row.message_id, error)
                await self._posts.forget_post(row.message_id)
