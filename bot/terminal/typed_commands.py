"""Commands of a chat. A line without a slash is a command only if all of it reads as one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bot.errors import NameNotFound
from bot.library.name_matching import find_nearest
from bot.library.normalise import normalise

if TYPE_CHECKING:
    from collections.abc import Collection

HELP: Final = {
    "help": "this list",
    "cast": "who plays whom, and who answers lines without an addressee",
    "history": "the story so far",
    "clear": "remove everything so far from the story",
    "retry": "write another version of the last reply, or of NAME's with `retry NAME`",
    "thoughts": "show the last reply's thoughts, or set them `on`, `all` (with planning) or `off`",
    "prompt": "show the exact prompt of your partner, or of NAME with `prompt NAME`",
    "save": "`save FILE` writes the story to a file, with thoughts if they are shown",
    "quit": "end the chat, like `exit`, `q` and Ctrl-D",
}
QUIT_WORDS: Final = frozenset({"quit", "exit", "q"})
THOUGHTS_WORDS: Final = frozenset({"on", "off", "all"})
_WORDS = {*HELP, *QUIT_WORDS}


@dataclass(frozen=True, slots=True)
class Command:
    """A command and the text after it."""

    word: str
    rest: str = ""


def parse_command(line: str, names: Collection[str]) -> Command | None:
    """Return the line's command, or None if it is a line of the scene.

    Without a slash, the text after the command must fit it: one of `names` (in normal form), `on`,
    or a file name. Raise NameNotFound for a slash with an unknown command.
    """
    slash = line.startswith("/") and not line.startswith("//")
    word, _, rest = (
        line.removeprefix("/").strip().partition(" ") if slash else line.strip().partition(" ")
    )
    command = Command(word.casefold(), rest.strip())
    if command.word in _WORDS and (slash or _fits(command, names)):
        return command
    if slash:
        near = find_nearest(word, HELP) or list(HELP)
        raise NameNotFound(
            f"Unknown command “{word[:40]}”. Try: {', '.join(near)}. Leave out the slash to say it."
        )
    return None


def _fits(command: Command, names: Collection[str]) -> bool:
    rest = command.rest
    if not rest:
        return True
    match command.word:
        case "thoughts":
            return rest.casefold() in THOUGHTS_WORDS
        case "prompt" | "retry":
            return normalise(rest.removeprefix("@")) in names
        case "save":
            return " " not in rest and any(mark in rest.strip(".!?…") for mark in "./\\~")
        case _:
            return False
