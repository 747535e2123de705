"""The director decides which characters answer a line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.errors import Remedy
from bot.scenes.notices import Notice
from bot.scenes.turn import TurnKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.scenes.scene import Part, Scene
    from bot.scenes.turn import Turn


@dataclass(frozen=True, slots=True)
class Addressee:
    """The characters that a line addresses, as far as the line itself shows."""

    characters: tuple[str, ...] = ()  # by name, role or mention, in the order of mention
    bot: bool = False  # the bot itself was mentioned, so one character should answer
    reply_to: int | None = None  # Discord message that the line replies to


def choose_speakers(
    scene: Scene, address: Addressee, speaker: str, replied: Turn | None, replies: Sequence[Turn]
) -> list[str]:
    """Return the characters that answer a line, each once, in the order of mention.

    Named characters answer, then the one whose post the line replies to. If the bot was mentioned
    without a name, the model's character that spoke last in `replies` answers, or the first of the
    cast. Only characters that the model plays and that are on stage answer. No character answers
    itself.
    """
    named = _list_addressed(address, replied)
    if not named and address.bot:
        named = _guess_addressed(scene, speaker, replies)
    playable = {part.character for part in scene.parts if part.answers} - {speaker}
    return [name for name in dict.fromkeys(named) if name in playable]


def explain_silence(
    scene: Scene, address: Addressee, speaker: str, replied: Turn | None
) -> dict[str, Notice]:
    """Return a notice for each addressed character that does not answer.

    The key "" is for the case that the bot was mentioned and no character can answer.
    """
    addressed = [name for name in _list_addressed(address, replied) if name != speaker]
    if not addressed and address.bot and not any(part.answers for part in scene.parts):
        return {
            "": Notice(
                "The model plays no character on stage, so no answer comes.", Remedy.LIST_CAST
            )
        }
    parts = [scene.find_part(name) for name in addressed]
    return {part.character: _explain_part(part) for part in parts if part and not part.answers}


def _explain_part(part: Part) -> Notice:
    if part.absent:
        return Notice(f"{part.character} is off stage and can't hear you.", Remedy.ENTER_STAGE)
    if part.rests:
        return Notice(f"{part.character} rests and does not answer.", Remedy.WAKE_CHARACTER)
    return Notice(f"A player has the part of {part.character}, so the model does not answer.")


def _list_addressed(address: Addressee, replied: Turn | None) -> list[str]:
    names = list(address.characters)
    if replied is not None and replied.kind is TurnKind.REPLY:
        names.append(replied.speaker)
    return names


def _guess_addressed(scene: Scene, speaker: str, replies: Sequence[Turn]) -> list[str]:
    playable = [
        part.character for part in scene.parts if part.answers and part.character != speaker
    ]
    spoke = (turn.speaker for turn in reversed(replies))
    latest = next((name for name in spoke if name in playable), None)
    return [latest] if latest else playable[:1]
