"""Stores long scenes for the benchmark of memory, much faster than playing them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

    from bot.library.scenario import Scenario

_FIRST_MESSAGE: Final = 10**18
_SAID: Final = (
    "The {number}. matter of the day is the weather, which promises well for the walk to Meryton, "
    "and the post, which has brought nothing that any of us would care to answer."
)


def store_turns(path: Path, scene_id: int, channel_id: int, scenario: Scenario, turns: int) -> None:
    """Add `turns` turns to a stored scene: a player's line, then a reply, and so on.

    Every reply has a thought and a post. The characters take turns.
    """
    names = [character.name for character in scenario.characters]
    with closing(sqlite3.connect(path)) as connection, connection:
        (last,) = connection.execute("SELECT ifnull(max(id), 0) FROM turns").fetchone()
        for number in range(1, turns + 1):
            is_reply = number % 2 == 0
            speaker = names[number // 2 % len(names)] if is_reply else "Alice"
            _store_turn(connection, scene_id, channel_id, last + number, speaker, is_reply=is_reply)
        connection.execute(
            "UPDATE sqlite_sequence SET seq = ? WHERE name IN ('turns', 'takes')", (last + turns,)
        )


def _store_turn(
    connection: sqlite3.Connection,
    scene_id: int,
    channel_id: int,
    number: int,
    speaker: str,
    *,
    is_reply: bool,
) -> None:
    """Store one turn. `number` is its id and that of its take."""
    said = _SAID.format(number=number)
    connection.execute(
        "INSERT INTO turns (id, scene_id, kind, speaker, state, created_at, author_id, message_id)"
        " VALUES (?, ?, ?, ?, 'done', 0, ?, ?)",
        (
            number,
            scene_id,
            "reply" if is_reply else "line",
            speaker,
            None if is_reply else 2,
            None if is_reply else _FIRST_MESSAGE + number,
        ),
    )
    connection.execute(
        "INSERT INTO takes (id, turn_id, number, raw) VALUES (?, ?, 1, ?)", (number, number, said)
    )
    beats = [("action", "looks out of the window"), ("speech", said)]
    if is_reply:
        beats.insert(0, ("thought", f"That is the {number}. thing that I shall not say aloud."))
        connection.execute(
            "INSERT INTO posts (message_id, channel_id, turn_id, take_id, part, purpose)"
            " VALUES (?, ?, ?, ?, 0, 'persona')",
            (_FIRST_MESSAGE + number, channel_id, number, number),
        )
    connection.executemany(
        "INSERT INTO beats (take_id, position, kind, text) VALUES (?, ?, ?, ?)",
        [(number, position, kind, text) for position, (kind, text) in enumerate(beats)],
    )
    connection.execute("UPDATE turns SET take_id = ? WHERE id = ?", (number, number))
