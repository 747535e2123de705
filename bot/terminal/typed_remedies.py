"""The words for remedies at a terminal: typed commands. Actions that need Discord are left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bot.errors import EngineError, Refused, Remedy

if TYPE_CHECKING:
    from bot.scenes.notices import Notice

TEXTS: Final = {
    Remedy.LIST_CAST: "`cast` shows who plays whom.",
    Remedy.READ_HISTORY: "`history` still shows them.",
    Remedy.MAKE_TAKE: "Use `retry` to make another one.",
    Remedy.TRY_AGAIN: "Use `retry` first.",
    Remedy.RUN_BOT: "Start the bot once with `aside run`.",
}


def describe_error(error: Exception) -> str:
    """Return an error's sentence, followed by its remedy if the terminal has one.

    Whoever sits at the terminal runs Aside, and reads the details of an engine's error.
    """
    text = (error.detail if isinstance(error, EngineError) else "") or str(error)
    return _join(text, error.remedy if isinstance(error, Refused) else None)


def describe_notice(notice: Notice) -> str:
    """Return a notice's sentence, followed by its remedy if the terminal has one."""
    return _join(notice.text, notice.remedy)


def _join(text: str, remedy: Remedy | None) -> str:
    return f"{text} {TEXTS[remedy]}" if remedy in TEXTS else text
