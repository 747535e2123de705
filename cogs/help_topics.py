"""Which people a command is for, and the lists of commands that `/help` shows them."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from discord import app_commands

from bot.posting.split import MESSAGE_LIMIT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_Command: TypeAlias = app_commands.Command[Any, ..., Any]
_AnyCommand = TypeVar("_AnyCommand", bound=_Command | app_commands.ContextMenu)


class HelpTopic(StrEnum):
    """A part of the help. The values are shown to people."""

    PLAYERS = "players"
    GAME_MASTERS = "game masters"
    MANAGERS = "server managers"


TOPIC: Final = "topic"
"""The key of a command's HelpTopic in its `extras`, or in those of its group."""

_INTRODUCTIONS: Final = {
    HelpTopic.PLAYERS: (
        "A character answers if you address it: with `@Name`, its role, or a reply to its post."
        " Act with `*sighs*` or `(curtsies)`. `[A clock strikes.]` on a line of its own happens"
        " around the scene, and `((this))` is out of character. Edit or delete your message to"
        " change your words."
    ),
    HelpTopic.GAME_MASTERS: (
        "Whoever starts a scene is its game master. They get the characters' thoughts and"
        " planning by direct message, unless `/reveal` sends them elsewhere."
    ),
    HelpTopic.MANAGERS: "People who may manage the server decide what the bot does here.",
}


def for_game_masters(command: _AnyCommand) -> _AnyCommand:
    """Mark a command as one for game masters."""
    command.extras[TOPIC] = HelpTopic.GAME_MASTERS
    return command


def topic_of(command: _Command) -> HelpTopic:
    """Return the topic of a command: its own, its group's, or else the players'."""
    node: _Command | app_commands.Group | None = command
    while node is not None:
        topic = node.extras.get(TOPIC)
        if isinstance(topic, HelpTopic):
            return topic
        if node.default_permissions is not None and node.default_permissions.manage_guild:
            return HelpTopic.MANAGERS
        node = node.parent
    return HelpTopic.PLAYERS


def write_help(topic: HelpTopic, tree: app_commands.CommandTree[Any]) -> list[str]:
    """Return the help about a topic, from the descriptions of the tree's commands, as messages."""
    found = sorted(
        (command for command in _walk(tree) if topic_of(command) is topic),
        key=lambda command: command.qualified_name,
    )
    lines = [f"`/{command.qualified_name}` – {command.description}" for command in found]
    menus = [menu.name for menu in _menus(tree) if menu.extras.get(TOPIC, topic) is topic]
    if menus and topic is not HelpTopic.MANAGERS:
        lines.append(f"In a message's *Apps* menu: {', '.join(sorted(menus))}")
    others = ", ".join(f"`{one}`" for one in HelpTopic if one is not topic)
    lines.append(f"-# `/help` has more for {others}.")
    return _join_lines([f"**For {topic}**", _INTRODUCTIONS[topic], *lines])


def _walk(tree: app_commands.CommandTree[Any]) -> Iterator[_Command]:
    for command in tree.walk_commands():
        if isinstance(command, app_commands.Command):
            yield command


def _menus(tree: app_commands.CommandTree[Any]) -> Iterator[app_commands.ContextMenu]:
    for command in tree.get_commands():
        if isinstance(command, app_commands.ContextMenu):
            yield command


def _join_lines(lines: Iterable[str]) -> list[str]:
    """Return the lines as messages, each within Discord's limit."""
    messages = [""]
    for line in lines:
        longer = f"{messages[-1]}\n{line}".strip()
        if len(longer) <= MESSAGE_LIMIT:
            messages[-1] = longer
        else:
            messages.append(line)
    return messages
