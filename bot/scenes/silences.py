"""Who is not heard, and who does not hear, in a scene at one moment.

The store keeps the times of pauses, of muted users and of absent characters. A line that is heard
late, such as after a restart, is so judged by the rules of the moment when it was written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.scenes.scene import SceneState

if TYPE_CHECKING:
    from bot.scenes.scene import Scene


@dataclass(frozen=True, slots=True)
class Silences:
    """A pause, the users who are not heard, and the characters who do not hear."""

    paused: bool = False
    users: frozenset[int] = frozenset()
    characters: frozenset[str] = frozenset()

    def is_heard(self, user_id: int) -> bool:
        """Return whether a line of this user is heard."""
        return not self.paused and user_id not in self.users

    def audience(self, scene: Scene) -> frozenset[str] | None:
        """Return the characters of the scene who hear, if not all do."""
        if not self.characters:
            return None
        return frozenset(part.character for part in scene.parts) - self.characters


def current_silences(scene: Scene) -> Silences:
    """Return the silences that a scene has now."""
    absent = [part for part in scene.parts if part.absent]
    players = [part.player_id for part in absent if part.player_id is not None]
    return Silences(
        paused=scene.state is SceneState.PAUSED,
        users=frozenset((*scene.muted, *players)),
        characters=frozenset(part.character for part in absent),
    )
