"""A scene and its cast: one run of a scenario in one channel or thread."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from bot.scenes.reveal import RevealPolicy

if TYPE_CHECKING:
    from datetime import datetime

    from bot.library.scenario import Character, Scenario

AT_TERMINAL: Final = 0
"""Stands for a server where a scene was begun at a terminal, and for the user who sat there: neither is on Discord."""


DEFAULT_BUDGET: Final = 3


class SceneState(StrEnum):
    """Where a scene stands; the values are stored in the database."""

    PLAYING = "playing"
    PAUSED = "paused"
    ENDED = "ended"


class Mode(StrEnum):
    """Who answers what nobody was addressed by; the values are stored in the database and typed by game masters."""

    ADDRESSED = "addressed"  # nobody
    AUTO = "auto"  # whoever is likely to


@dataclass(frozen=True, slots=True)
class Part:
    """Who plays one character: a player where `player_id` is set, nobody where it rests, the model otherwise."""

    character: str
    player_id: int | None = None  # Discord user id
    role_id: int | None = None  # the mentionable role made for the character in the scene's server
    rests: bool = False
    absent: bool = False  # off stage: it hears nothing and says nothing meanwhile

    @property
    def by_model(self) -> bool:
        """Whether the model plays this character."""
        return self.player_id is None and not self.rests

    @property
    def answers(self) -> bool:
        """Whether the model speaks for this character now."""
        return self.by_model and not self.absent


@dataclass(frozen=True, slots=True)
class Place:
    """Where a scene plays: a channel or a thread on Discord, or a terminal.

    A thread carries its parent's id, since its webhooks live there.
    """

    guild_id: int
    channel_id: int  # negative: a terminal
    parent_id: int | None = None

    @property
    def at_terminal(self) -> bool:
        """Whether this is no place on Discord."""
        return self.channel_id < 0

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
    history_cut_told: bool = (
        False  # the channel has been told that the oldest turns left the context
    )
    mode: Mode = Mode.ADDRESSED
    budget: int = DEFAULT_BUDGET  # how many turns of the model's may follow a person's while nobody is addressed
    muted: tuple[int, ...] = ()  # users who are not heard

    def is_gm(self, user_id: int) -> bool:
        """Whether this user directs the scene."""
        return user_id in self.gm_ids

    @property
    def audience(self) -> frozenset[str] | None:
        """The characters who hear what is said now; None where all do."""
        present = frozenset(part.character for part in self.parts if not part.absent)
        return None if len(present) == len(self.parts) else present

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
