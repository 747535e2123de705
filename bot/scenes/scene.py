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
"""The server id and the user id of a scene that began at a terminal."""

DEFAULT_BUDGET: Final = 3
"""Model turns that may follow a person's turn in mode `auto`."""

MAX_BUDGET: Final = 20


class SceneState(StrEnum):
    """The state of a scene. The values are stored in the database."""

    PLAYING = "playing"
    PAUSED = "paused"
    ENDED = "ended"


class Mode(StrEnum):
    """Who answers a line that addresses no character.

    The values are stored in the database and typed by game masters.
    """

    ADDRESSED = "addressed"  # only addressed characters answer
    AUTO = "auto"  # the likeliest character answers


class JoinPolicy(StrEnum):
    """Whether players may bring their own characters into a scene.

    The values are stored in the database and typed by game masters.
    """

    ASK = "ask"  # a game master decides about each
    OPEN = "open"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True, repr=False)
class OwnCopy:
    """A scene's copy of a person's own character, as it was when the character joined.

    The copy contains what only the character's own mind knows.
    """

    own_id: int  # of the stored character
    owner_id: int  # Discord user id
    character: Character


@dataclass(frozen=True, slots=True)
class Part:
    """The player of one character.

    A user plays it if `player_id` is set. Otherwise the model plays it, unless it rests.
    """

    character: str
    player_id: int | None = None  # Discord user id
    role_id: int | None = None  # the mentionable role made for the character in the scene's server
    rests: bool = False
    absent: bool = False  # off stage: it neither hears nor speaks
    own: OwnCopy | None = None  # of a person's own character; the scenario's have none
    persona_of: int | None = None  # the user whose lines appear under the character's name

    @property
    def speaks_as_persona(self) -> bool:
        """True if the player's lines appear under the character's name and face."""
        return self.player_id is not None and self.persona_of == self.player_id

    @property
    def by_model(self) -> bool:
        """True if the model plays this character."""
        return self.player_id is None and not self.rests

    @property
    def answers(self) -> bool:
        """True if the model plays this character and it is on stage."""
        return self.by_model and not self.absent


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a scene: a channel or thread on Discord, or a terminal.

    A thread has its parent's id, because the parent holds its webhooks.
    """

    guild_id: int
    channel_id: int  # negative: a terminal
    parent_id: int | None = None

    @property
    def at_terminal(self) -> bool:
        """True if this is a terminal."""
        return self.channel_id < 0

    @property
    def webhook_channel_id(self) -> int:
        """The id of the channel that holds the persona webhooks of this place."""
        return self.parent_id or self.channel_id


@dataclass(frozen=True, slots=True)
class Scene:
    """One run of a scenario. Immutable: its owner, the theatre, replaces it to change it.

    `scenario` is the scene's own copy. It contains the own characters that have joined.
    """

    id: int
    place: Place
    scenario: Scenario
    gm_ids: tuple[int, ...]
    parts: tuple[Part, ...]
    started_at: datetime
    state: SceneState = SceneState.PLAYING
    reveal: RevealPolicy = field(default_factory=RevealPolicy)
    history_cut_announced: bool = False  # the channel knows that the context lost the oldest turns
    mode: Mode = Mode.ADDRESSED
    budget: int = DEFAULT_BUDGET  # model turns that may follow a person's turn in mode `auto`
    muted: tuple[int, ...] = ()  # ids of users who are not heard
    join_policy: JoinPolicy = JoinPolicy.ASK  # for people's own characters
    bots: tuple[int, ...] = ()  # ids of bots whose posts are heard as the environment

    def is_gm(self, user_id: int) -> bool:
        """Return whether this user is a game master of the scene."""
        return user_id in self.gm_ids

    @property
    def audience(self) -> frozenset[str] | None:
        """The characters on stage, who hear new turns, if not all are."""
        present = frozenset(part.character for part in self.parts if not part.absent)
        return None if len(present) == len(self.parts) else present

    def part(self, character: str) -> Part:
        """Return the part of the character with this exact name. Raises KeyError."""
        if (part := self.find_part(character)) is None:
            raise KeyError(character)
        return part

    def find_part(self, character: str) -> Part | None:
        """Return the part of the character with this exact name.

        Return None if no character of the scene has it. A person's own character may have left.
        """
        return next((part for part in self.parts if part.character == character), None)

    def part_of(self, user_id: int) -> Part | None:
        """Return the part that this user plays, if any."""
        return next((part for part in self.parts if part.player_id == user_id), None)

    def character(self, name: str) -> Character:
        """Return the scenario's character with this exact name. Raises KeyError."""
        return self.scenario.character(name)
