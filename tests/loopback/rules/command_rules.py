"""Limits of application commands and of autocompleted choices."""

from __future__ import annotations

import unicodedata
from collections import Counter
from typing import TYPE_CHECKING, Any

from ..refusals import BadField
from . import at_most, length, length_faults

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..entities import Json

CHAT, USER, MESSAGE = 1, 2, 3
(
    SUBCOMMAND,
    GROUP,
    STRING,
    INTEGER,
    BOOLEAN,
    USER_OPTION,
    CHANNEL,
    ROLE,
    MENTIONABLE,
    NUMBER,
    ATTACHMENT,
) = range(1, 12)
MOST_OF_A_KIND = {CHAT: 100, USER: 15, MESSAGE: 15}
WHOLE_COMMAND = 8000


def check_commands(commands: list[Json], path: str = "") -> Iterator[BadField]:
    """Yield the faults of a whole set of commands."""
    for index, command in enumerate(commands):
        yield from check_command(command, f"{path}{index}.")
    for (kind, name), count in Counter(
        (each.get("type") or CHAT, each.get("name")) for each in commands
    ).items():
        if count > 1:
            yield BadField(
                "name",
                "APPLICATION_COMMANDS_DUPLICATE_NAME",
                f"Kind {kind}: {name!r} is there twice",
            )
    for kind, most in MOST_OF_A_KIND.items():
        if sum((each.get("type") or CHAT) == kind for each in commands) > most:
            yield BadField(
                "commands", "BASE_TYPE_MAX_LENGTH", f"Must be {most} or fewer of type {kind}."
            )


def check_command(command: Json, path: str = "") -> Iterator[BadField]:
    """Yield the faults of one command."""
    if (command.get("type") or CHAT) != CHAT:
        yield from length_faults(command, "name", 32, least=1, path=path)
        if command.get("description"):
            text = "Context menu commands cannot have description"
            yield BadField(
                f"{path}description", "APPLICATION_COMMANDS_CONTEXT_MENU_DESCRIPTION", text
            )
        return
    yield from _name_faults(command, path)
    yield from _options(command.get("options") or [], path)
    if _weight(command) > WHOLE_COMMAND:
        text = f"Command exceeds maximum size ({WHOLE_COMMAND})"
        yield BadField(f"{path}name", "APPLICATION_COMMAND_TOO_LARGE", text)


def _name_faults(thing: Json, path: str) -> Iterator[BadField]:
    name = thing.get("name") or ""
    if (
        not 1 <= len(name) <= 32
        or name != name.lower()
        or not all(_may_stand_in_name(each) for each in name)
    ):
        yield BadField(f"{path}name", "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid")
    yield from length_faults(thing, "description", 100, least=1, path=path)


def _may_stand_in_name(character: str) -> bool:
    return character in "-_'" or unicodedata.category(character)[0] in "LNM"


def _options(options: list[Json], path: str) -> Iterator[BadField]:
    yield from at_most({"options": options}, "options", 25, path=path)
    needed_so_far = True
    for index, option in enumerate(options):
        here = f"{path}options.{index}."
        yield from _name_faults(option, here)
        if option.get("type") in {SUBCOMMAND, GROUP}:
            yield from _options(option.get("options") or [], here)
            continue
        if option.get("required") and not needed_so_far:
            text = "Required options must be placed before non-required options"
            yield BadField(f"{here}required", "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID", text)
        needed_so_far = bool(option.get("required"))
        if option.get("autocomplete") and option.get("choices"):
            yield BadField(
                f"{here}choices",
                "APPLICATION_COMMAND_OPTIONS_AUTOCOMPLETE_CHOICES",
                "Not with autocomplete",
            )
        yield from check_choices(option.get("choices") or [], option.get("type"), here)
    for name, count in Counter(option.get("name") for option in options).items():
        if count > 1:
            yield BadField(
                f"{path}options",
                "APPLICATION_COMMAND_OPTIONS_NAME_ALREADY_EXISTS",
                f"{name!r} is there twice",
            )


def check_choices(choices: list[Json], kind: int | None, path: str = "") -> Iterator[BadField]:
    """Yield the faults of an option's choices.

    There may be 25, with names and values of 100 characters, and values of the option's type.
    """
    yield from at_most({"choices": choices}, "choices", 25, path=path)
    for index, choice in enumerate(choices):
        here = f"{path}choices.{index}."
        yield from length_faults(choice, "name", 100, least=1, path=here)
        if isinstance(choice.get("value"), str):
            yield from length_faults(choice, "value", 100, path=here)
        if not _fits(choice.get("value"), kind):
            yield BadField(
                f"{here}value",
                "BASE_TYPE_CHOICES",
                f"The value does not fit an option of type {kind}",
            )


def _fits(value: Any, kind: int | None) -> bool:
    if kind == INTEGER:
        return isinstance(value, int) and not isinstance(value, bool)
    if kind == NUMBER:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, str)


def _weight(thing: Json) -> int:
    """Return the number of characters that count towards the limit of a whole command."""
    total = length(thing.get("name") or "") + length(thing.get("description") or "")
    total += sum(_weight(option) for option in thing.get("options") or [])
    return total + sum(
        length(str(each["name"])) + length(str(each["value"]))
        for each in thing.get("choices") or []
    )
