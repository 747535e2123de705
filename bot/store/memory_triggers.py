"""Triggers that keep memories and turns in agreement. They are part of migration 13.

They erase the text of every memory that rests on a turn that changes, leaves the story or comes
back, whichever query does it, and delete the memories that rest on such a memory.
"""

from __future__ import annotations

from typing import Final

_ERASE = """UPDATE memories SET text = '', turn_ids = '[]', revision = revision + 1
    WHERE layer = 0 AND EXISTS (SELECT 1 FROM {turns} WHERE turns.scene_id = memories.scene_id
    AND turns.id BETWEEN memories.first_id AND memories.last_id AND (turns.heard_by IS NULL
    OR turns.speaker = memories.character
    OR EXISTS (SELECT 1 FROM json_each(turns.heard_by) WHERE value = memories.character)))
    AND scene_id = {scene}"""
_OLD_TURN, _NEW_TURN = (
    f"(SELECT {row}.id AS id, {row}.scene_id AS scene_id, {row}.speaker AS speaker,"
    f" {row}.heard_by AS heard_by) AS turns"
    for row in ("OLD", "NEW")
)
MEMORY_TRIGGERS: Final = (
    f"""CREATE TRIGGER turn_changes AFTER UPDATE OF state, take_id, speaker, heard_by ON turns
        WHEN (OLD.state = 'done') <> (NEW.state = 'done') OR OLD.take_id IS NOT NEW.take_id
            OR OLD.speaker <> NEW.speaker OR OLD.heard_by IS NOT NEW.heard_by
        BEGIN
            {_ERASE.format(turns=_OLD_TURN, scene="OLD.scene_id")};
            {_ERASE.format(turns=_NEW_TURN, scene="NEW.scene_id")};
        END""",
    f"""CREATE TRIGGER turn_goes AFTER DELETE ON turns
        BEGIN {_ERASE.format(turns=_OLD_TURN, scene="OLD.scene_id")}; END""",
    "CREATE TRIGGER words_change AFTER UPDATE OF raw ON takes BEGIN "  # noqa: S608 - our own names
    + _ERASE.format(
        turns="(SELECT * FROM turns WHERE take_id = NEW.id) AS turns",
        scene="(SELECT scene_id FROM turns WHERE id = NEW.turn_id)",
    )
    + "; END",
    """CREATE TRIGGER memory_changes AFTER UPDATE OF revision ON memories
        WHEN OLD.parent_id IS NOT NULL
        BEGIN DELETE FROM memories WHERE id = OLD.parent_id; END""",
    """CREATE TRIGGER memory_goes AFTER DELETE ON memories WHEN OLD.parent_id IS NOT NULL
        BEGIN DELETE FROM memories WHERE id IN
            (OLD.parent_id, (SELECT parent_id FROM memories WHERE id = OLD.parent_id)); END""",
)
