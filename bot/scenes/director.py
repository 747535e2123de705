"""The director decides who speaks next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.scenes.turn import TurnKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.scenes.scene import Scene
    from bot.scenes.turn import Turn


@dataclass(frozen=True, slots=True)
class Address:
    """Whom a line speaks to, as far as the line itself tells."""

    characters: tuple[str, ...] = ()  # by name, role or mention, in the order of mention
    bot: bool = False  # the bot itself was mentioned: whoever is meant should answer
    reply_to: int | None = None  # Discord message the line replies to


def answering(scene: Scene, address: Address, speaker: str, replied: Turn | None, turns: Sequence[Turn]) -> list[str]:
    """Return the characters that answer a line, each once, in the order of mention.

    Named characters answer, then the one whose post was replied to. The bot mentioned without a name means the
    model's character that spoke last, or the first in the cast. Only characters that the model
    plays and that are on stage answer, and nobody answers itself.
    """
    named = list(address.characters)
    if replied is not None and replied.kind is TurnKind.REPLY:
        named.append(replied.speaker)
    if not named and address.bot:
        named = _meant(scene, speaker, turns)
    playable = {part.character for part in scene.parts if part.answers} - {speaker}
    return [name for name in dict.fromkeys(named) if name in playable]


def _meant(scene: Scene, speaker: str, turns: Sequence[Turn]) -> list[str]:
    playable = [part.character for part in scene.parts if part.answers and part.character != speaker]
    spoke = (turn.speaker for turn in reversed(turns) if turn.kind is TurnKind.REPLY)
    return [next((name for name in spoke if name in playable), *playable[:1])] if playable else []
