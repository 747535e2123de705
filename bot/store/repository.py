"""What the repositories have in common: the database they work on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bot.store.database import Database


class Repository:
    """One subject's rows. Every public method is one transaction and raises StoreError."""

    def __init__(self, database: Database) -> None:
        self._database = database


def id_list(ids: Iterable[int]) -> str:
    """Return `ids` as one value for `IN (SELECT value FROM json_each(?))`, which has no limit as `?, ?, …` has."""
    return json.dumps(list(ids))
