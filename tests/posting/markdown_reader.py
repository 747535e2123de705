"""Reads messages by the rules of Discord's client, in its order."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

RULES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("escape", re.compile(r"\\([^0-9A-Za-z\s])")),
    ("fence", re.compile(r"```(?:[A-Za-z0-9_+\-.#]+\n)?\n*([^\n][\s\S]*?)\n*```")),
    ("code", re.compile(r"(?P<ticks>`+)([\s\S]*?[^`])(?P=ticks)(?!`)")),
    ("address", re.compile(r"(https?://[^\s<]+[^<.,:;\"')\]\s])")),
    ("spoiler", re.compile(r"\|\|([\s\S]+?)\|\|")),
    ("bold", re.compile(r"\*\*((?:\\[\s\S]|[^\\])+?)\*\*(?!\*)")),
    ("underline", re.compile(r"__((?:\\[\s\S]|[^\\])+?)__(?!_)")),
    (
        "italics",
        re.compile(
            r"\*(?=\S)((?:\*\*|\\[\s\S]|\s+(?:\\[\s\S]|[^\s*\\]|\*\*)|[^\s*\\])+?)\*(?!\*)"
            r"|\b_((?:__|\\[\s\S]|[^\\_])+?)_\b"
        ),
    ),
    ("struck", re.compile(r"~~(?=\S)([\s\S]*?\S)~~")),
    (
        "mention",
        re.compile(r"(@everyone|@here|<(?:@[!&]?\d+|#\d+|t:-?\d+(?::\w)?|/[^<>]+:\d+|id:\w+)>)"),
    ),
)
VERBATIM = ("escape", "fence", "code", "address", "mention")
BLOCK = re.compile(r"[ \t]*(#{1,3}|-#|>>>|>|[-*]|\d+\.)\s")


@dataclass(slots=True)
class Node:
    kind: str
    text: str = ""
    inside: list[Node] = field(default_factory=list)


def read(message: str) -> list[Node]:
    """Parse a message."""
    nodes: list[Node] = []
    at = 0
    while at < len(message):
        for kind, pattern in RULES:
            if found := pattern.match(message, at):
                content = next(group for group in reversed(found.groups()) if group is not None)
                nodes.append(
                    Node(kind, content) if kind in VERBATIM else Node(kind, inside=read(content))
                )
                at = found.end()
                break
        else:
            nodes.append(Node("text", message[at]))
            at += 1
    return nodes


def shown(message: str) -> str:
    """Return the text that is visible without a click, without formatting."""
    return plain(read(message), hidden=False)


def everything(message: str) -> str:
    """Return all text, including spoilers, without formatting."""
    return plain(read(message), hidden=True)


def plain(nodes: list[Node], *, hidden: bool) -> str:
    parts = (
        node.text + plain(node.inside, hidden=hidden)
        for node in nodes
        if hidden or node.kind != "spoiler"
    )
    return "".join(parts).replace("\u200b", "")


def kinds(message: str) -> set[str]:
    """Return the kinds of formatting in a message."""
    return {node.kind for node in walk(read(message))} - {"text", "escape", "address"}


def of(message: str, kind: str) -> list[str]:
    """Return the texts with this kind of formatting, in order."""
    nodes = (node for node in walk(read(message)) if node.kind == kind)
    return [(node.text + plain(node.inside, hidden=True)).replace("\u200b", "") for node in nodes]


def walk(nodes: list[Node]) -> Iterator[Node]:
    for node in nodes:
        yield node
        yield from walk(node.inside)
