"""People's own characters and their pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import ValidationError

from bot.errors import StoreError
from bot.library.own_character import OwnCharacter
from bot.scenes.own_characters import StoredCharacter
from bot.store.repository import Repository

if TYPE_CHECKING:
    from bot.store.transaction import Row, Transaction

_COLUMNS = "id, owner_id, revision, json, picture IS NOT NULL AS has_picture"


class OwnCharacterRepository(Repository):
    """Implements `bot.scenes.own_characters.OwnCharacterStore`."""

    async def add_character(
        self, owner_id: int, sheet: OwnCharacter, picture: bytes | None, most: int
    ) -> StoredCharacter | None:
        """Store a character, or return None if the person has `most` characters already."""
        async with self._database.transaction() as transaction:
            count = await transaction.value(
                "SELECT count(*) FROM own_characters WHERE owner_id = ?", owner_id
            )
            if count >= most:
                return None
            own_id = await transaction.insert(
                "INSERT INTO own_characters (owner_id, json, picture) VALUES (?, ?, ?)",
                owner_id,
                _dump(sheet),
                picture,
            )
            return await _require(transaction, own_id)

    async def change_character(
        self, own_id: int, sheet: OwnCharacter, picture: bytes | None = None
    ) -> StoredCharacter:
        """Replace a character's sheet and, if given, its picture.

        Raise StoreError if it is gone.
        """
        async with self._database.transaction() as transaction:
            await transaction.execute(
                "UPDATE own_characters SET json = ?, picture = ifnull(?, picture),"
                " revision = revision + 1 WHERE id = ?",
                _dump(sheet),
                picture,
                own_id,
            )
            return await _require(transaction, own_id)

    async def characters_of(self, owner_id: int) -> list[StoredCharacter]:
        """Return a person's characters, the oldest first."""
        async with self._database.read() as reading:
            rows = await reading.rows(
                f"SELECT {_COLUMNS} FROM own_characters WHERE owner_id = ? ORDER BY id",  # noqa: S608 - our own names
                owner_id,
            )
        return [_load(row) for row in rows]

    async def own_character(self, own_id: int) -> StoredCharacter | None:
        """Return a character, if it exists."""
        async with self._database.read() as reading:
            return await _find(reading, own_id)

    async def picture_of(self, own_id: int) -> bytes | None:
        """Return a character's uploaded picture as a PNG."""
        async with self._database.read() as reading:
            picture: bytes | None = await reading.value(
                "SELECT picture FROM own_characters WHERE id = ?", own_id
            )
        return picture

    async def delete_character(self, own_id: int) -> None:
        """Delete a character, and its copies in all scenes."""
        async with self._database.transaction() as transaction:
            await transaction.execute("DELETE FROM own_characters WHERE id = ?", own_id)
            await transaction.execute("DELETE FROM parts WHERE own_id = ?", own_id)
        await self._database.empty_log()


async def _find(reading: Transaction, own_id: int) -> StoredCharacter | None:
    row = await reading.row(f"SELECT {_COLUMNS} FROM own_characters WHERE id = ?", own_id)  # noqa: S608 - our own names
    return None if row is None else _load(row)


async def _require(reading: Transaction, own_id: int) -> StoredCharacter:
    if (found := await _find(reading, own_id)) is None:
        raise StoreError("This character was deleted.")
    return found


def _dump(sheet: OwnCharacter) -> str:
    return sheet.model_dump_json(exclude_defaults=True)


def _load(row: Row) -> StoredCharacter:
    try:
        sheet = OwnCharacter.model_validate_json(row["json"])
    except ValidationError as error:
        raise StoreError(
            "A character in the database can't be read. Update Aside, or report this."
        ) from error
    return StoredCharacter(
        row["id"], row["owner_id"], row["revision"], sheet, bool(row["has_picture"])
    )
