"""Look up the keys and types that a pydantic model allows at a path of a document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import BaseModel

Schema: TypeAlias = dict[str, Any]


class ModelShape:
    """The JSON schema of a model, addressed by paths into a document."""

    def __init__(self, model: type[BaseModel]) -> None:
        self._root = model.model_json_schema()
        self._named: dict[str, Schema] = self._root.get("$defs", {})

    def at(self, path: tuple[str | int, ...]) -> list[Schema]:
        """Return the schemas that the value at `path` may match.

        A step may name a branch of a discriminated union.
        """
        here = list(self._alternatives(self._root))
        for step in path:
            chosen = [branch for schema in here if (branch := self._branch(schema, step))]
            inner = [schema for outer in here for schema in self._inside(outer, step)]
            here = [
                schema for found in (chosen or inner) for schema in self._alternatives(found)
            ] or here
        return here

    def keys(self, path: tuple[str | int, ...]) -> dict[str, str]:
        """Return the description of each key allowed in the mapping at `path`, without secrets."""
        properties = [schema.get("properties", {}) for schema in self.at(path)]
        found = {key: schema for each in properties for key, schema in each.items()}
        return {
            key: schema.get("description", "")
            for key, schema in found.items()
            if not self._is_secret(schema)
        }

    def leaves(self, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
        """Yield the path of every value without keys of its own. Entries of lists are left out."""
        for key in self.keys(path):
            inner = (*path, key)
            yield from self.leaves(inner) if self.keys(inner) else [inner]

    def takes_list(self, path: tuple[str | int, ...]) -> bool:
        """Return whether the value at `path` may be a list."""
        return any(schema.get("type") == "array" for schema in self.at(path))

    def _alternatives(self, schema: Schema) -> Iterator[Schema]:
        if "$ref" in schema:
            yield from self._alternatives(self._named[schema["$ref"].rpartition("/")[2]])
        elif branches := schema.get("anyOf") or schema.get("oneOf"):
            if "discriminator" in schema:
                yield {"discriminator": schema["discriminator"]}
            for branch in branches:
                yield from self._alternatives(branch)
        else:
            yield schema

    def _is_secret(self, schema: Schema) -> bool:
        return any(alternative.get("writeOnly") for alternative in self._alternatives(schema))

    @staticmethod
    def _branch(schema: Schema, step: str | int) -> Schema | None:
        reference = schema.get("discriminator", {}).get("mapping", {}).get(step)
        return {"$ref": reference} if reference else None

    @staticmethod
    def _inside(schema: Schema, step: str | int) -> Iterator[Schema]:
        found = (
            schema.get("items") if isinstance(step, int) else schema.get("properties", {}).get(step)
        )
        if found:
            yield found
