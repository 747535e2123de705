"""Parse YAML into plain data and record the line of each value.

The subset is strict: one document, keys that are text, no duplicate keys, no tags. Aliases are
allowed as long as their expansion stays small.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import yaml

from bot.documents.fault import Fault, SourcePosition
from bot.documents.yaml_messages import TOO_DEEP, refuse_control_characters, syntax_fault

if TYPE_CHECKING:
    from collections.abc import Iterator

Path: TypeAlias = tuple[str | int, ...]

MAX_DEPTH = 40
# Characters plus 16 for each value after all aliases are expanded.
MAX_WEIGHT = 10 * 1024 * 1024
# Longer scalars stay text, because YAML's base 60 numbers would take Python hours to compute.
MAX_NUMBER_LENGTH = 64
LOADER: type[yaml.SafeLoader | yaml.CSafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_CORE = "tag:yaml.org,2002:"
_RESOLVER = yaml.resolver.Resolver()
_PLAIN = frozenset({"str", "int", "float", "bool", "null", "timestamp"})


@dataclass(slots=True)
class Tree:
    """Plain data (dict, list, str, int, float, bool, date, None) and the position of each value."""

    data: object
    positions: dict[Path, SourcePosition] = field(default_factory=dict)
    # The position of the key, for values of a mapping.
    keys: dict[Path, SourcePosition] = field(default_factory=dict)

    @classmethod
    def from_data(cls, data: object, source: str) -> Tree:
        """Return a tree of data that is not from a file. Every value has the position `source`."""
        tree = cls(data)
        _record_positions(data, (), SourcePosition(source), tree.positions)
        return tree

    def position(self, path: Path) -> SourcePosition:
        """Return the position of the value at `path`, or of the closest enclosing value."""
        while path and path not in self.positions:
            path = path[:-1]
        return self.positions[path]

    def remove(self, path: Path) -> None:
        """Remove the value at `path`. Raises KeyError."""
        group = self.value(path[:-1])
        if isinstance(group, dict):
            del group[path[-1]]
        self.positions = {
            place: position
            for place, position in self.positions.items()
            if place[: len(path)] != path
        }

    def value(self, path: Path) -> object:
        """Return the value at `path`. Raises KeyError or IndexError."""
        value: Any = self.data
        for step in path:
            value = value[step]
        return value


@dataclass(slots=True)
class _Node:
    """A value under construction. An alias shares its anchor's node, so nodes never form a cycle."""

    position: SourcePosition
    anchor: str | None = None
    value: object = None
    items: list[_Node] | None = None
    entries: dict[str, _Node] | None = None
    keys: dict[str, SourcePosition] = field(default_factory=dict)
    key: str | None = None  # the key whose value comes next
    weight: int = 16
    depth: int = 0  # of the values inside


def parse(
    text: str, source: str, loader: type[yaml.SafeLoader | yaml.CSafeLoader] = LOADER
) -> Tree:
    """Return the tree of a YAML text. Its data is None if the text is empty. Raises Fault."""
    refuse_control_characters(text, source)
    try:
        root = _Composer(text, source, loader).compose()
    except yaml.YAMLError as error:
        raise syntax_fault(error, text, source) from None
    tree = Tree(None, {(): SourcePosition(source, 1)})
    if root is not None:
        tree.data = _build_value(root, (), tree)
    return tree


class _Composer:
    """Builds nodes from YAML events, one at a time, so that depth and size can be limited."""

    def __init__(
        self, text: str, source: str, loader: type[yaml.SafeLoader | yaml.CSafeLoader]
    ) -> None:
        self._events: Iterator[yaml.Event] = yaml.parse(text, Loader=loader)
        self._source = source
        # One for each text, because a constructor keeps the objects that it made.
        self._constructor = yaml.constructor.SafeConstructor()
        self._anchors: dict[str, _Node | None] = {}  # None while the anchored value is open
        self._open: list[_Node] = []
        self._root: _Node | None = None

    def compose(self) -> _Node | None:
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent) and self._root is not None:
                raise Fault(
                    self._spot(event),
                    "a second document starts here. Keep one document and delete the line `---`",
                )
            if isinstance(event, yaml.CollectionStartEvent):
                self._begin(event)
            elif isinstance(event, yaml.CollectionEndEvent):
                self._place(self._open.pop())
            elif isinstance(event, yaml.ScalarEvent):
                self._place(self._scalar(event))
            elif isinstance(event, yaml.AliasEvent):
                self._place(self._alias(event))
        return None if self._root is not None and self._root.position.written == "" else self._root

    def _spot(self, event: yaml.Event, written: str | None = None) -> SourcePosition:
        mark = event.start_mark
        return (
            SourcePosition(self._source, mark.line + 1, mark.column + 1, written)
            if mark
            else SourcePosition(self._source)
        )

    def _begin(self, event: yaml.CollectionStartEvent) -> None:
        position = self._spot(event)
        self._refuse_depth(position, 0)
        if event.tag not in (None, "!", _CORE + "map", _CORE + "seq"):
            raise _unknown_tag(position, event.tag)
        node = _Node(position, event.anchor)
        if isinstance(event, yaml.MappingStartEvent):
            node.entries = {}
        else:
            node.items = []
        if event.anchor:
            self._anchors[event.anchor] = None
        self._open.append(node)

    def _refuse_depth(self, position: SourcePosition, depth: int) -> None:
        if len(self._open) + depth >= MAX_DEPTH:
            raise Fault(position, TOO_DEEP)

    def _scalar(self, event: yaml.ScalarEvent) -> _Node:
        position = self._spot(event, event.value)
        return _Node(
            position,
            event.anchor,
            _construct_scalar(event, position, self._constructor),
            weight=len(event.value) + 16,
        )

    def _alias(self, event: yaml.AliasEvent) -> _Node:
        position = self._spot(event)
        name = event.anchor
        if name not in self._anchors:
            raise Fault(
                position,
                f"`*{name}` refers to an anchor that does not exist. "
                "Put text that begins with `*` in quotes",
            )
        node = self._anchors[name]
        if node is None:
            raise Fault(position, f"`*{name}` is inside the value that it names. Write it out")
        self._refuse_depth(position, node.depth)
        return node

    def _place(self, node: _Node) -> None:
        if node.anchor:
            self._anchors[node.anchor] = node
        if not self._open:
            self._root = node
            return
        parent = self._open[-1]
        parent.weight += node.weight
        parent.depth = max(parent.depth, node.depth + 1)
        if parent.weight > MAX_WEIGHT:
            raise Fault(
                node.position,
                "the aliases (`*name`) expand to too much text. Write the values out",
            )
        if parent.items is not None:
            parent.items.append(node)
        elif parent.key is None:
            parent.key = self._key(parent, node)
        elif parent.entries is not None:
            parent.entries[parent.key] = node
            parent.key = None

    @staticmethod
    def _key(parent: _Node, node: _Node) -> str:
        key = node.position.written
        if key is None:
            raise Fault(
                node.position,
                "a key must be text, but this is a list or a group of keys. Put it in quotes",
            )
        if earlier := parent.keys.get(key):
            raise Fault(
                node.position,
                f"the key `{key[:40]}` is already in line {earlier.line}. Keep one of them",
            )
        parent.keys[key] = node.position
        return key


def _construct_scalar(
    event: yaml.ScalarEvent, position: SourcePosition, constructor: yaml.constructor.SafeConstructor
) -> object:
    tag = event.tag
    if tag is None or tag == "!":
        tag = _RESOLVER.resolve(yaml.ScalarNode, event.value, event.implicit)  # type: ignore[no-untyped-call] # of PyYAML
    kind = tag.removeprefix(_CORE)
    if event.tag not in (None, "!") and kind not in _PLAIN:
        raise _unknown_tag(position, event.tag)
    if kind not in _PLAIN or len(event.value) > MAX_NUMBER_LENGTH:
        return event.value
    try:
        value: object = constructor.construct_object(yaml.ScalarNode(tag, event.value))
    except (ValueError, KeyError, yaml.YAMLError):
        return event.value  # only looks like a number or a date
    return value


def _record_positions(
    value: object, path: Path, position: SourcePosition, positions: dict[Path, SourcePosition]
) -> None:
    positions[path] = position
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for step, each in inner:
        _record_positions(each, (*path, step), position, positions)


def _unknown_tag(position: SourcePosition, tag: str) -> Fault:
    return Fault(position, f"the tag `{tag.replace(_CORE, '!!')[:40]}` is not supported. Delete it")


def _build_value(node: _Node, path: Path, tree: Tree) -> object:
    tree.positions[path] = node.position
    if node.items is not None:
        return [_build_value(item, (*path, index), tree) for index, item in enumerate(node.items)]
    if node.entries is not None:
        tree.keys.update({(*path, key): position for key, position in node.keys.items()})
        return {key: _build_value(value, (*path, key), tree) for key, value in node.entries.items()}
    return node.value
