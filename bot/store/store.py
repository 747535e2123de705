"""The store: all repositories on one database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.store.branch_repository import BranchRepository
from bot.store.database import Database
from bot.store.insight_repository import InsightRepository
from bot.store.key_value_repository import KeyValueRepository
from bot.store.memory_repository import MemoryRepository
from bot.store.migrations import MIGRATIONS, migrate
from bot.store.note_repository import NoteRepository
from bot.store.own_character_repository import OwnCharacterRepository
from bot.store.personal_data_repository import PersonalDataRepository
from bot.store.post_repository import PostRepository
from bot.store.repost_repository import RepostRepository
from bot.store.server_proxy_repository import ServerProxyRepository
from bot.store.silence_repository import SilenceRepository
from bot.store.story_repository import StoryRepository
from bot.store.take_repository import TakeRepository
from bot.store.turn_repository import TurnRepository
from bot.store.unreachable_people_repository import UnreachablePeopleRepository

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType
    from typing import Self


class Store(
    BranchRepository,
    TurnRepository,
    StoryRepository,
    MemoryRepository,
    TakeRepository,
    NoteRepository,
    OwnCharacterRepository,
    RepostRepository,
    SilenceRepository,
    PostRepository,
    UnreachablePeopleRepository,
    PersonalDataRepository,
    KeyValueRepository,
    ServerProxyRepository,
    InsightRepository,
):
    """Everything Aside remembers, in one SQLite file.

    Open it with `await Store.open(path)` and end it with `await store.close()`, or use `async
    with`. Implements `SceneStore` and `Posts` of `bot.scenes`.
    """

    @classmethod
    async def open(cls, path: Path, *, patience: float = 5.0) -> Self:
        """Open the store at `path`, create it if it is missing, and migrate it to the latest
        schema.

        `patience` is how many seconds to wait for other programs' locks. Raise StoreError; nothing
        stays open then.
        """
        database = await Database.open(path, newest_schema=len(MIGRATIONS), patience=patience)
        try:
            await migrate(database)
        except BaseException:
            await database.close()
            raise
        return cls(database)

    async def close(self) -> None:
        """Finish the current transaction, then close the file. A second call is harmless."""
        await self._database.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()
