"""Parse YAML into plain data and record the line of each value.

The subset is strict: one document, keys that are text, no duplicate keys, no tags. Aliases are
allowed as long as their expansion stays small.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import yaml

from bot.documents.fault import Fault, SourcePosition
from bot.documents.yaml_messages import (
    HALF_CHARACTER,
    TOO_DEEP,
    explain_syntax_error,
    find_missing_space,
    refuse_control_characters,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

Path: TypeAlias = tuple[str | int, ...]

MAX_DEPTH = 40
# Characters plus 16 for each value after all aliases are expanded.
MAX_WEIGHT = 10 * 1024 * 1024
# Longer scalars stay text, because YAML's base 60 numbers would take Python hours to compute.
MAX_NUMBER_LENGTH = 64
LOADER: type[yaml.SafeLoader | yaml.CSafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

# A comment that is probably a part of the text, such as in `Agent #7` or `Room # 7`.
_CUT = re.compile(r"[ \t]#\S|[ \t]+#[ \t]*\d")
# YAML 1.1 reads these as octal numbers and as numbers of base 60.
_SURPRISING_NUMBER = re.compile(r"[-+]?0[0-9_]+|[-+]?[0-9_]+(:[0-9_.]+)+")
_INVISIBLE = "\u00a0\u2007\u202f\u200b\u200e\u2060\u3000\ufeff"
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
    def from_data(cls, data: object, source: str | SourcePosition) -> Tree:
        """Return a tree of data that is not from a file. Every value has the position `source`."""
        tree = cls(data)
        position = SourcePosition(source) if isinstance(source, str) else source
        _record_positions(data, (), position, tree.positions)
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
    """A value under construction. An alias shares its anchor's node, so nodes form no cycle."""

    position: SourcePosition
    anchor: str | None = None
    value: object = None
    items: list[_Node] | None = None
    entries: dict[str, _Node] | None = None
    keys: dict[str, SourcePosition] = field(default_factory=dict)
    key: str | None = None  # the key whose value comes next
    weight: int = 16
    depth: int = 0  # of the values inside
    flow: bool = False  # whether a list or mapping is written in brackets

    @property
    def is_scalar(self) -> bool:
        return self.items is None and self.entries is None


def parse(
    text: str, source: str, loader: type[yaml.SafeLoader | yaml.CSafeLoader] = LOADER
) -> Tree:
    """Return the tree of a YAML text. Its data is None if the text is empty. Raises Fault."""
    refuse_control_characters(text, source)
    try:
        root = _Composer(text, source, loader).compose()
    except yaml.YAMLError as error:
        raise explain_syntax_error(error, text, source) from None
    except (ValueError, OverflowError):  # PyYAML's own scanner lets an impossible escape through
        raise Fault(
            SourcePosition(source),
            "an escape in double quotes is not a character. Write the character itself",
        ) from None
    if (
        root is not None
        and root.is_scalar
        and (fault := find_missing_space(text.splitlines(), source))
    ):
        raise fault
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
        self._unused: dict[str, SourcePosition] = {}  # the anchors of scalars without an alias
        self._lines = text.splitlines()
        self._open: list[_Node] = []
        self._root: _Node | None = None

    def compose(self) -> _Node | None:
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent) and self._root is not None:
                raise Fault(
                    self._position(event),
                    "a second document starts here. Keep one document and delete the line `---`",
                )
            if isinstance(event, yaml.CollectionStartEvent):
                self._begin(event)
            elif isinstance(event, yaml.CollectionEndEvent):
                self._place(self._close(event))
            elif isinstance(event, yaml.ScalarEvent):
                self._place(self._scalar(event))
            elif isinstance(event, yaml.AliasEvent):
                self._place(self._alias(event))
        for name, position in self._unused.items():
            raise Fault(
                position,
                f"YAML reads `&{name[:40]}` as an anchor, but it has no alias. Put the text in "
                "quotes",
            )
        return None if self._root is not None and self._root.position.written == "" else self._root

    def _position(self, event: yaml.Event, written: str | None = None) -> SourcePosition:
        mark = event.start_mark
        return (
            SourcePosition(self._source, mark.line + 1, mark.column + 1, written)
            if mark
            else SourcePosition(self._source)
        )

    def _begin(self, event: yaml.CollectionStartEvent) -> None:
        position = self._position(event)
        self._refuse_depth(position, 0)
        if event.tag not in (None, "!", _CORE + "map", _CORE + "seq"):
            raise _unknown_tag(position, event.tag)
        node = _Node(position, event.anchor, flow=bool(event.flow_style))
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

    def _close(self, event: yaml.CollectionEndEvent) -> _Node:
        """Return the collection that ends. One in brackets keeps the person's spelling."""
        node = self._open.pop()
        end, line = event.end_mark, node.position.line
        if node.flow and end and line == end.line + 1:
            written = self._lines[end.line][(node.position.column or 1) - 1 : end.column]
            node.position = replace(node.position, written=written)
        return node

    def _scalar(self, event: yaml.ScalarEvent) -> _Node:
        position = self._position(event, event.value)
        _refuse_half_characters(position, event.value)
        value = _construct_scalar(event, position, self._constructor)
        plain = not event.style
        if plain and event.start_mark and event.end_mark:
            folded = event.end_mark.line > event.start_mark.line
            position = replace(position, folded=folded)
        if plain and event.end_mark and event.end_mark.line < len(self._lines):
            rest = self._lines[event.end_mark.line][event.end_mark.column :]
            if _CUT.match(rest) and (isinstance(value, str) or value is None):
                raise Fault(position, _describe_cut(event.value))
        if event.anchor:
            self._unused[event.anchor] = position
        return _Node(position, event.anchor, value, weight=len(event.value) + 16)

    def _alias(self, event: yaml.AliasEvent) -> _Node:
        position = self._position(event)
        name = event.anchor
        if name not in self._anchors:
            raise Fault(
                position,
                f"`*{name}` refers to an anchor that does not exist. "
                "Put text that begins with `*` in quotes",
            )
        self._unused.pop(name, None)
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
        if key is None or not node.is_scalar:
            raise Fault(
                node.position,
                "a key must be text, but this is a list or a group of keys. Put it in quotes",
            )
        if earlier := parent.keys.get(key):
            raise Fault(
                node.position,
                f"the key `{key[:40]}` is already in line {earlier.line}. Keep one of them, or "
                "start each entry of a list with `- `",
            )
        if key != (visible := key.strip(_INVISIBLE)):
            raise Fault(
                node.position,
                f"the key `{visible[:40]}` has an invisible character beside it. Delete it",
            )
        parent.keys[key] = node.position
        return key


def _construct_scalar(
    event: yaml.ScalarEvent, position: SourcePosition, constructor: yaml.constructor.SafeConstructor
) -> object:
    tag = event.tag
    if tag is not None and tag.startswith("!"):
        raise _unknown_tag(position, tag)
    if tag is None:
        tag = _RESOLVER.resolve(yaml.ScalarNode, event.value, event.implicit)  # type: ignore[no-untyped-call] # of PyYAML
    kind = tag.removeprefix(_CORE)
    if event.tag is not None and kind not in _PLAIN:
        raise _unknown_tag(position, event.tag)
    if kind not in _PLAIN or len(event.value) > MAX_NUMBER_LENGTH:
        return event.value
    if kind in ("int", "float") and _SURPRISING_NUMBER.fullmatch(event.value):
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
    name = tag.replace(_CORE, "!!")[:40]
    if tag.startswith("!"):
        return Fault(position, f"YAML reads `{name}` as a tag. If it is text, put it in quotes")
    return Fault(position, f"the tag `{name}` is not supported. Delete it")


def _refuse_half_characters(position: SourcePosition, text: str) -> None:
    for letter in text:
        if "\ud800" <= letter <= "\udfff":
            escape = f"\\u{ord(letter):04x}"
            raise Fault(position, HALF_CHARACTER.format(escape=escape))


def _describe_cut(text: str) -> str:
    problem = "the text ends before the `#`" if text else "there is no text before the `#`"
    return (
        f"{problem}, because ` #` starts a comment. Put the text in quotes. If it is a comment, "
        "put two spaces before the `#` and one after it"
    )


def _build_value(node: _Node, path: Path, tree: Tree) -> object:
    tree.positions[path] = node.position
    if node.items is not None:
        return [_build_value(item, (*path, index), tree) for index, item in enumerate(node.items)]
    if node.entries is not None:
        tree.keys.update({(*path, key): position for key, position in node.keys.items()})
        return {key: _build_value(value, (*path, key), tree) for key, value in node.entries.items()}
    return node.value
