"""What is a command and what is said: a bare word is a command only where the whole line reads as one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bot.errors import NameNotFound
from bot.library.name_matching import nearest
from bot.library.normalise import normal

if TYPE_CHECKING:
    from collections.abc import Collection

HELP: Final = {
    "help": "this list",
    "cast": "who plays whom, and who answers where nobody is addressed",
    "history": "the story so far",
    "clear": "take everything said so far out of the story",
    "retry": "have the last reply given anew; `retry NAME` that character's last one",
    "thoughts": "what lies behind the last reply; `thoughts on`, `all` (planning too) or `off` for those to come",
    "prompt": "the exact text the model gets for a character now; `prompt NAME` for another one",
    "save": "`save FILE` writes the story to a file, with the thoughts where they are shown",
    "quit": "end; `exit`, `q` and Ctrl-D do too",
}
QUIT_WORDS: Final = frozenset({"quit", "exit", "q"})
THOUGHTS_WORDS: Final = frozenset({"on", "off", "all"})
_WORDS = {*HELP, *QUIT_WORDS}


@dataclass(frozen=True, slots=True)
class Command:
    """A command, and what was typed behind it."""

    word: str
    rest: str = ""


def parse_command(line: str, names: Collection[str]) -> Command | None:
    """Return the command that a line is, or None where it is something said.

    With a slash before it, it is always meant as one; without, what stands behind must fit: one of `names` (in normal
    form), `on`, a file's name. Raises UnknownName for a slash before something else.
    """
    slash = line.startswith("/") and not line.startswith("//")
    word, _, rest = (
        line.removeprefix("/").strip().partition(" ") if slash else line.strip().partition(" ")
    )
    command = Command(word.casefold(), rest.strip())
    if command.word in _WORDS and (slash or _fits(command, names)):
        return command
    if slash:
        near = nearest(word, HELP) or list(HELP)
        raise NameNotFound(
            f"There is no command “{word[:40]}”; there are: {', '.join(near)}. Without the slash it is said."
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
            return normal(rest.removeprefix("@")) in names
        case "save":
            return " " not in rest and any(mark in rest.strip(".!?…") for mark in "./\\~")
        case _:
            return False
