"""The base of all repositories."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bot.store.database import Database


class Repository:
    """The rows of one subject. Every public method is one transaction and may raise StoreError."""

    def __init__(self, database: Database) -> None:
        self._database = database


def id_list(ids: Iterable[int]) -> str:
    """Return `ids` as one value for `IN (SELECT value FROM json_each(?))`, which, unlike `?, ?, …`,
    has no limit.
    """
    return json.dumps(list(ids))
