"""Stores the lines that people write, and lets characters answer."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from bot.errors import PostingError, Remedy
from bot.her.beats import BeatKind, action, speech
from bot.her.player_text import is_out_of_character, parse_player_text
from bot.library.normalise import is_blank
from bot.library.scenario import NARRATOR
from bot.scenes import cast, director
from bot.scenes.director import Addressee
from bot.scenes.notices import Notice
from bot.scenes.proxy_matching import Content, RecentLine, RecentLines
from bot.scenes.scene import Mode, SceneState
from bot.scenes.silences import current_silences
from bot.scenes.turn import NewLine

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from bot.her.beats import PublicBeat
    from bot.scenes.running_scenes import RunningScene
    from bot.scenes.scene import Scene
    from bot.scenes.scene_store import SceneStore
    from bot.scenes.theatre import Theatre
    from bot.scenes.turn import Take, Turn

_log = logging.getLogger(__name__)

SHOWN_MARK: Final = "📎 "
"""Begins each line of a stored text that tells what a message shows."""

_NOT_SEEN = Notice(
    "The characters can't see pictures, stickers or videos, and can't hear recordings. They learn"
    " only their descriptions. Discord calls the description of a picture its alternative text. A"
    " picture without one is described by the name of its file."
)
_PAUSED = Notice("The scene is paused, so the characters can't hear you.", Remedy.UNPAUSE_SCENE)


@dataclass(frozen=True, slots=True)
class IncomingLine:
    """A person's message in a scene's channel."""

    author_id: int
    display_name: str
    message_id: int
    text: str
    missed_at: datetime | None = None  # when it was written, if it is heard later
    files: tuple[str, ...] = ()  # the names of its attachments
    shown: tuple[str, ...] = ()  # actions such as `shows a picture: a cat`

    @property
    def raw(self) -> str:
        """The text that is stored: the words, and a line for each thing that is shown."""
        return "\n".join(filter(None, (self.text, *(f"{SHOWN_MARK}{one}" for one in self.shown))))

    def __repr__(self) -> str:
        return (
            f"IncomingLine(author_id={self.author_id}, message_id={self.message_id}, "
            f"{len(self.text)} characters)"
        )


class PlayerLines:
    """Hears the people in the scenes of a theatre.

    The events of one message are handled in the order in which Discord sent them.
    """

    def __init__(
        self,
        theatre: Theatre,
        store: SceneStore,
        now: Callable[[], datetime],
        recent: RecentLines | None = None,
    ) -> None:
        self._theatre = theatre
        self._store = store
        self._now = now
        self._recent = recent or RecentLines()
        # The notices that a user has read: scene, user and character, to the notice.
        self._explained: dict[tuple[int, int, str], Notice] = {}

    async def hear(self, scene: Scene, line: IncomingLine, address: Addressee) -> bool:
        """Store a person's line and wake the characters that answer. Return whether it was stored.

        Lines during a pause are ignored, and those of people who are muted or off stage. For a line
        with `missed_at`, the rules of that moment apply, and only the characters that were on
        stage hear it. A line without words in character keeps its place in the story, because an
        edit can add words. Its text is not stored.
        """
        if (running := self._theatre.find_running(scene.id)) is None:
            return False
        written = line, address
        speaker = cast.speaker_name(running.scene, line.author_id, line.display_name)
        if not (beats := read_beats(line, speaker)):
            line = replace(line, text="", shown=())
            address = Addressee()
        async with running.lock:
            self._remember(scene, *written)
            if line.missed_at is not None:
                return await self._hear_missed(running, line, beats, address, line.missed_at)
            silent = _explain_unheard(running.scene, line.author_id, address)
            stored = False
            if silent is None:
                audience = running.scene.audience
                stored, silent = await self._store_line(running, line, beats, address, audience)
            else:
                await self._store.mark_seen(scene.id, line.message_id)
        if beats:
            await self._explain(scene, line.author_id, silent)
        if stored and is_blank(line.text) and line.shown:
            await self._explain_shown(scene, line.author_id)
        return stored

    def _remember(self, scene: Scene, line: IncomingLine, address: Addressee) -> None:
        """Remember what a person wrote, in case a proxy bot posts it again."""
        content = Content(line.text, line.files)
        written_at = line.missed_at or self._now()
        self._recent.add(
            scene.id,
            RecentLine(line.message_id, line.author_id, content, written_at, address.reply_to),
        )

    async def mark_seen(self, scene: Scene, message_id: int) -> None:
        """Store that messages up to this one were heard or ignored, so they are not heard later."""
        await self._store.mark_seen(scene.id, message_id)

    async def last_heard(self, scene: Scene) -> int | None:
        """Return the id of the latest message that this scene has heard or ignored, if any."""
        return await self._store.last_message_id(scene.id)

    async def _hear_missed(
        self,
        running: RunningScene,
        line: IncomingLine,
        beats: tuple[PublicBeat, ...],
        address: Addressee,
        written_at: datetime,
    ) -> bool:
        scene = running.scene
        silences = await self._store.silences_at(scene.id, written_at)
        if not silences.is_heard(line.author_id):
            return False
        if not current_silences(scene).is_heard(line.author_id):
            address = Addressee()  # it was heard then, but its author has no say now
        audience = silences.audience(scene)
        stored, _ = await self._store_line(running, line, beats, address, audience)
        return stored

    async def _store_line(
        self,
        running: RunningScene,
        incoming: IncomingLine,
        beats: tuple[PublicBeat, ...],
        address: Addressee,
        audience: frozenset[str] | None,
    ) -> tuple[bool, Mapping[str, Notice]]:
        """Store a line and wake the runner.

        Return whether the line was new, and a notice for each character that does not answer.
        """
        scene = running.scene
        speaker = cast.speaker_name(scene, incoming.author_id, incoming.display_name)
        replied = await find_replied(self._store, scene, address)
        names = await choose_answers(self._store, scene, speaker, address, replied)
        names = [name for name in names if audience is None or name in audience]
        line = NewLine(
            incoming.author_id,
            speaker,
            incoming.message_id,
            incoming.raw,
            beats,
            heard_by=audience,
        )
        begun = running.runner.supersede(names)
        try:
            stored = await self._store.add_line(scene.id, line, names, self._now(), begun=begun)
            if audience != scene.audience:
                answers = [turn.id for turn in stored[1:]]
                await self._store.set_audience(answers, scene.audience)
        finally:
            if beats and (names or scene.mode is Mode.AUTO):
                running.runner.wake()
        silent = director.explain_silence(scene, address, speaker, replied)
        for name in {"", speaker, *names} - silent.keys():
            self._explained.pop((scene.id, incoming.author_id, name), None)
        return bool(stored), silent

    async def _explain(self, scene: Scene, user_id: int, silent: Mapping[str, Notice]) -> None:
        """Tell a user why no answer comes, once until one does.

        Without an explanation the silence looks like a fault.
        """
        for name, notice in silent.items():
            if self._explained.get((scene.id, user_id, name)) != notice:
                self._explained[scene.id, user_id, name] = notice
                try:
                    await self._theatre.announce(scene, notice)
                except PostingError as error:
                    _log.warning(
                        "Scene %d: the notice about a missing answer can't be posted: %s",
                        scene.id,
                        error,
                    )

    async def _explain_shown(self, scene: Scene, user_id: int) -> None:
        """Tell a user once, in private, that characters can't see pictures."""
        if await self._store.note_explained(user_id):
            try:
                await self._theatre.tell(scene, user_id, _NOT_SEEN)
            except PostingError as error:
                _log.warning("Scene %d: a notice can't be sent: %s", scene.id, error)


async def find_replied(store: SceneStore, scene: Scene, address: Addressee) -> Turn | None:
    """Return the turn of this scene that a line replies to, if it replies to one."""
    turn = await store.turn_by_message(address.reply_to) if address.reply_to else None
    return turn if turn is not None and turn.scene_id == scene.id else None


async def choose_answers(
    store: SceneStore, scene: Scene, speaker: str, address: Addressee, replied: Turn | None
) -> list[str]:
    """Return the characters that answer a line; see `director.choose_speakers`."""
    replies: list[Turn] = []
    if address.bot and not address.characters:
        names = [part.character for part in scene.parts]
        replies = await store.latest_replies(scene.id, names)
    return director.choose_speakers(scene, address, speaker, replied, replies)


def read_beats(line: IncomingLine, speaker: str) -> tuple[PublicBeat, ...]:
    """Return the beats of a line: its words, then an action for each thing that it shows.

    What a line out of character shows is out of character too.
    """
    words = parse_line(line.text, speaker)
    if not words and not is_blank(line.text):
        return ()
    return (*words, *map(action, line.shown))


def read_typed_text(take: Take | None) -> str:
    """Return the words of a stored line, without its descriptions of pictures."""
    if take is None:
        return ""
    lines = take.raw.split("\n")
    for beat in reversed(take.beats):
        if lines and beat.kind is BeatKind.ACTION and lines[-1] == f"{SHOWN_MARK}{beat.text}":
            lines.pop()
    return "\n".join(lines)


def parse_line(text: str, speaker: str) -> tuple[PublicBeat, ...]:
    """Return the beats of a line, or an empty tuple if it has no words in character."""
    if speaker == NARRATOR:  # the words of a bot
        return () if is_blank(text) else (speech(text),)
    return () if is_blank(text) or is_out_of_character(text) else parse_player_text(text, speaker)


def _explain_unheard(scene: Scene, user_id: int, address: Addressee) -> Mapping[str, Notice] | None:
    """Return the notices for a user who is not heard now, by character."""
    if scene.state is not SceneState.PLAYING:
        return {"": _PAUSED} if address != Addressee() else {}
    if user_id in scene.muted:
        return {}
    part = scene.part_of(user_id)
    if part is not None and part.absent:
        text = f"{part.character} is off stage, so the characters don't hear them."
        return {part.character: Notice(text, Remedy.ENTER_STAGE)}
    return None
