"""Delivers scenes to their people on Discord."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from bot.errors import PostingError
from bot.posting import opening_post
from bot.posting.channels import Channels
from bot.posting.character_faces import CharacterFaces
from bot.posting.direct_messages import DirectMessages
from bot.posting.discord_errors import REQUEST_ERRORS, explain_discord_error
from bot.posting.escaping import format_sentence
from bot.posting.failure_notices import FailureNotices
from bot.posting.graphemes import shorten
from bot.posting.hosted_pictures import HostedPictures
from bot.posting.line_poster import LinePoster
from bot.posting.narration_poster import NarrationPoster
from bot.posting.persona_messages import PersonaMessages
from bot.posting.persona_posts import PersonaPosts
from bot.posting.render import render_player_messages
from bot.posting.reply_poster import ReplyPoster
from bot.posting.split import MESSAGE_LIMIT
from bot.posting.webhooks import Webhooks
from bot.posting.whisper_poster import WhisperPoster
from bot.scenes.turn import TurnKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from contextlib import AbstractAsyncContextManager

    import discord

    from bot.her.beats import PrivateBeat, PublicBeat
    from bot.posting.character_faces import Faces, OwnPictures
    from bot.posting.direct_messages import NotifyAbout
    from bot.posting.whisper_poster import PrivateAnswers
    from bot.scenes.notices import Notice
    from bot.scenes.posts import Post, Posts, UnreachablePeople, UnreachablePerson
    from bot.scenes.reveal import Revealed
    from bot.scenes.scene import Place, Scene
    from bot.scenes.turn import Take, Turn


class DiscordDelivery:
    """The `bot.scenes.scene_delivery.Delivery` for Discord.

    Replies, narrations and whispers each have a poster. They share one set of channels, one set of
    webhooks and one set of direct messages. The owner awaits `close`.

    `private_answers` shows messages that one person sees. `describe_notice` words a notice and its
    remedy. `notify_unreachable` is called if a game master can't be reached, and `notify_departed`
    if a person can no longer read the scene's place. With `streaming`, replies are shown while they
    are generated. `last_earlier_turn` is the id of the last turn stored before the program started:
    the posts of such turns may not be stored. `people` stores whom direct messages don't reach, and
    `unreachable` are those that were stored before.
    """

    def __init__(
        self,
        *,
        client: discord.Client,
        posts: Posts,
        people: UnreachablePeople,
        faces: Faces,
        own_pictures: OwnPictures,
        private_answers: PrivateAnswers,
        describe_notice: Callable[[Notice], str],
        notify_unreachable: NotifyAbout | None = None,
        notify_departed: NotifyAbout | None = None,
        unreachable: Iterable[UnreachablePerson] = (),
        streaming: bool = True,
        last_earlier_turn: int = 0,
    ) -> None:
        self._describe_notice = describe_notice
        self._channels = Channels(client=client)
        self._webhooks = Webhooks(client=client, posts=posts)
        self._pictures = HostedPictures(client)
        self._direct_messages = DirectMessages(
            client=client,
            posts=posts,
            people=people,
            unreachable=unreachable,
            notify_unreachable=notify_unreachable,
            notify_departed=notify_departed,
        )
        self._failure_notices = FailureNotices(channels=self._channels, posts=posts)
        self._messages = PersonaMessages(
            channels=self._channels, webhooks=self._webhooks, posts=posts, pictures=self._pictures
        )
        self._replies = ReplyPoster(
            channels=self._channels,
            direct_messages=self._direct_messages,
            personas=PersonaPosts(
                messages=self._messages, posts=posts, last_earlier_turn=last_earlier_turn
            ),
            failure_notices=self._failure_notices,
            faces=CharacterFaces(faces, own_pictures, self._pictures),
            streaming=streaming,
        )
        self.lines = LinePoster(self._messages, self._replies.find_persona)
        """Posts the lines of players under their characters' names and faces."""
        self._narrations = NarrationPoster(channels=self._channels, posts=posts)
        self._whispers = WhisperPoster(
            channels=self._channels,
            direct_messages=self._direct_messages,
            posts=posts,
            private_answers=private_answers,
        )

    async def close(self) -> None:
        """Cancel the creation of webhooks and the upload of pictures."""
        await self._webhooks.close()
        await self._pictures.close()

    async def open(self, scene: Scene) -> None:
        """Post the opening of a scene and prepare its webhook.

        If that fails, remove the part that was posted. Raises PostingError.
        """
        posted: list[int] = []
        try:
            for embed in opening_post.build_embeds(scene):
                message = await self._channels.send(scene.place, embed=embed)
                posted.append(message.id)
            await self._replies.prepare(scene)
        except Exception:
            for message_id in posted:
                with contextlib.suppress(*REQUEST_ERRORS, PostingError):
                    await self._channels.delete(scene.place, message_id)
            raise

    async def greet(self, scene: Scene, gm_id: int) -> bool:
        """Tell a game master in a direct message that thoughts arrive there.

        Return whether the message arrived.
        """
        return await self._direct_messages.greet(gm_id, opening_post.format_gm_greeting(scene))

    def pop_undelivered(self, user_id: int) -> str | None:
        """Remove and return the notice for a user whom a direct message did not reach."""
        return self._direct_messages.pop_undelivered(user_id)

    async def save_notified(self, user_id: int) -> None:
        """Store that a user has read the notice that direct messages don't reach them."""
        await self._direct_messages.save_notified(user_id)

    def retry_direct_messages(self, user_id: int) -> None:
        """Try to reach a user with the next reply although their direct messages were closed."""
        self._direct_messages.allow_retry(user_id)

    def show_thinking(self, scene: Scene, turn: Turn) -> AbstractAsyncContextManager[None]:
        """Show that a character is about to speak, except if they whisper."""
        return self._replies.show_thinking(scene, turn) if turn.public else contextlib.nullcontext()

    async def progress(self, _scene: Scene, turn: Turn, beats: tuple[PublicBeat, ...]) -> None:
        """Note which public beats of a reply have settled so far."""
        self._replies.progress(turn, beats)

    async def deliver(self, scene: Scene, turn: Turn, take: Take) -> None:
        """Send a finished turn to everyone who may read it.

        Parts that were sent before are not sent again. Raises PostingError.
        """
        if turn.kind in (TurnKind.NARRATION, TurnKind.SETTING):
            await self._narrations.deliver(scene, turn, take)
        elif turn.kind is TurnKind.WHISPER:
            await self._whispers.deliver(scene, turn, take)
        else:
            await self._replies.deliver(scene, turn, take)

    async def withdraw(self, scene: Scene, turn: Turn) -> None:
        """Delete the posts of a turn that will not be finished. Raises PostingError."""
        if turn.kind is TurnKind.REPLY:
            await self._replies.withdraw(scene, turn)
        elif turn.kind is TurnKind.NARRATION:
            await self._narrations.cover(scene, turn)

    async def remove_posts(self, scene: Scene, turn: Turn) -> None:
        """Delete all posts of a turn. Raises PostingError."""
        if turn.kind is TurnKind.REPLY:
            await self._replies.remove(scene, turn)
        else:
            await self._narrations.cover(scene, turn)

    async def cover(self, scene: Scene, turn: Turn) -> None:
        """Show that a turn was taken out of the story.

        A reply is put under spoilers, and a narration is deleted. Raises PostingError.
        """
        if turn.kind is TurnKind.REPLY:
            await self._replies.cover(scene, turn)
        else:
            await self._narrations.cover(scene, turn)

    async def fail(self, scene: Scene, turn: Turn, sentence: str) -> None:
        """Say that a turn failed, with a button to try again.

        The channel reads it, but only the whisperer reads it of a whisper. An unfinished reply is
        deleted. Raises PostingError.
        """
        if turn.kind is TurnKind.WHISPER:
            await self._whispers.fail(scene, turn, sentence)
            return
        if turn.take is None:
            await self.withdraw(scene, turn)
        await self._failure_notices.post(scene.place, turn, sentence)
        await self._replies.restore_buttons(scene, turn)

    async def show_thoughts(self, scene: Scene, turn: Turn, beats: tuple[PrivateBeat, ...]) -> None:
        """Show the thoughts of a reply without words, next to the notice of its failure.

        Raises PostingError.
        """
        if turn.kind is TurnKind.WHISPER:
            await self._whispers.show_thoughts(scene, turn, beats)
        else:
            await self._replies.show_thoughts(scene, turn, beats)

    async def announce(self, scene: Scene, notice: Notice) -> None:
        """Post a notice with its remedy in the channel. Raises PostingError."""
        await self.post_sentence(scene, self._describe_notice(notice))

    async def tell(self, _scene: Scene, user_id: int, notice: Notice) -> None:
        """Send a notice to one person, in a direct message or with their next command."""
        await self._direct_messages.tell(user_id, self._describe_notice(notice))

    async def send_opened(
        self, reader_id: int, speaker: str, thoughts: tuple[Revealed, ...]
    ) -> None:
        """Send opened thoughts to their player in a direct message. Raises PostingError."""
        messages = render_player_messages(speaker, thoughts, reader_id)
        try:
            await self._direct_messages.send(reader_id, messages)
        except REQUEST_ERRORS as error:
            raise explain_discord_error(error, "a direct message") from error

    async def post_sentence(self, scene: Scene, sentence: str) -> None:
        """Post a sentence of Aside's own in small print. Raises PostingError."""
        text = shorten(f"-# {format_sentence(sentence)}", MESSAGE_LIMIT)
        await self._channels.send(scene.place, text)

    async def withdraw_picture(self, png: bytes) -> None:
        """Remove the public address of a picture. If Discord refuses, log a warning."""
        await self._pictures.remove(png)

    async def erase(self, place: Place, post: Post) -> None:
        """Delete one of Aside's messages. If Discord refuses, log a warning."""
        await self._messages.delete(place, post)
