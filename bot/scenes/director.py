"""The director decides who speaks next."""

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
    """Whom a line speaks to, as far as the line itself tells."""

    characters: tuple[str, ...] = ()  # by name, role or mention, in the order of mention
    bot: bool = False  # the bot itself was mentioned: whoever is meant should answer
    reply_to: int | None = None  # Discord message the line replies to


def choose_speakers(
    scene: Scene, address: Addressee, speaker: str, replied: Turn | None, turns: Sequence[Turn]
) -> list[str]:
    """Return the characters that answer a line, each once, in the order of mention.

    Named characters answer, then the one whose post was replied to. The bot mentioned without a name means the
    model's character that spoke last, or the first in the cast. Only characters that the model
    plays and that are on stage answer, and nobody answers itself.
    """
    named = _named(address, replied)
    if not named and address.bot:
        named = _meant(scene, speaker, turns)
    playable = {part.character for part in scene.parts if part.answers} - {speaker}
    return [name for name in dict.fromkeys(named) if name in playable]


def explain_silence(
    scene: Scene, address: Addressee, speaker: str, replied: Turn | None
) -> dict[str, Notice]:
    """Return who is spoken to and gives no answer, with a sentence that says why; "" stands for whoever was meant."""
    spoken_to = [name for name in _named(address, replied) if name != speaker]
    if not spoken_to and address.bot and not any(part.answers for part in scene.parts):
        return {
            "": Notice(
                "The model plays no character on stage, so nobody answers.", Remedy.LIST_CAST
            )
        }
    parts = (scene.part(name) for name in spoken_to)
    return {part.character: _why_silent(part) for part in parts if not part.answers}


def _why_silent(part: Part) -> Notice:
    if part.absent:
        return Notice(f"{part.character} is off stage and hears nothing.", Remedy.ENTER_STAGE)
    if part.rests:
        return Notice(f"{part.character} rests and does not answer.", Remedy.WAKE_CHARACTER)
    return Notice(f"A player has the part of {part.character}, so the model does not answer.")


def _named(address: Addressee, replied: Turn | None) -> list[str]:
    named = list(address.characters)
    if replied is not None and replied.kind is TurnKind.REPLY:
        named.append(replied.speaker)
    return named


def _meant(scene: Scene, speaker: str, turns: Sequence[Turn]) -> list[str]:
    playable = [
        part.character for part in scene.parts if part.answers and part.character != speaker
    ]
    spoke = (turn.speaker for turn in reversed(turns) if turn.kind is TurnKind.REPLY)
    return [next((name for name in spoke if name in playable), *playable[:1])] if playable else []
