"""A scene and its cast: one run of a scenario in one channel or thread."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from bot.scenes.reveal import RevealPolicy

if TYPE_CHECKING:
    from datetime import datetime

    from bot.library.scenario import Character, Scenario


class SceneState(StrEnum):
    """Where a scene stands; the values are stored in the database."""

    PLAYING = "playing"
    PAUSED = "paused"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class Part:
    """Who plays one character: a player where `player_id` is set, the model otherwise."""

    character: str
    player_id: int | None = None  # Discord user id
    role_id: int | None = None  # the mentionable role made for the character in the scene's server

    @property
    def by_model(self) -> bool:
        """Whether the model plays this character."""
        return self.player_id is None


@dataclass(frozen=True, slots=True)
class Place:
    """Where on Discord a scene plays. A thread carries its parent's id, since its webhooks live there."""

    guild_id: int
    channel_id: int
    parent_id: int | None = None

    @property
    def webhook_channel_id(self) -> int:
        """The channel that holds the persona webhooks of this place."""
        return self.parent_id or self.channel_id


@dataclass(frozen=True, slots=True)
class Scene:
    """One run of a scenario. Immutable: its owner, the theatre, replaces it when something changes."""

    id: int
    place: Place
    scenario: Scenario
    gm_ids: tuple[int, ...]
    parts: tuple[Part, ...]
    started_at: datetime
    state: SceneState = SceneState.PLAYING
    reveal: RevealPolicy = field(default_factory=RevealPolicy)
    history_cut_told: bool = False  # the channel has been told that the oldest turns left the context

    def is_gm(self, user_id: int) -> bool:
        """Whether this user directs the scene."""
        return user_id in self.gm_ids

    def part(self, character: str) -> Part:
        """Return the part of that exact name. Raises KeyError."""
        for part in self.parts:
            if part.character == character:
                return part
        raise KeyError(character)

    def part_of(self, user_id: int) -> Part | None:
        """Return the part this user plays, if any."""
        return next((part for part in self.parts if part.player_id == user_id), None)

    def character(self, name: str) -> Character:
        """Return the scenario's character of that exact name. Raises KeyError."""
        return self.scenario.character(name)
