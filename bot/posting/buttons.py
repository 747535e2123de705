"""The buttons under Aside's posts. They outlive a restart: what they stand for is in their custom ids."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final

import discord

from bot.scenes.turn import TurnKind

if TYPE_CHECKING:
    from bot.scenes.turn import Take, Turn

TRY_AGAIN_ID: Final = r"aside:retry:(?P<turn>[0-9]{1,18})"
"""What the custom id of a "Try again" button looks like, as a regular expression."""

TURN_ACTION_ID: Final = r"aside:reply:(?P<deed>[a-z]+):(?P<turn>[0-9]{1,18})"
"""What the custom id of a button that does something with a turn looks like."""

UNHIDE_ID: Final = r"aside:restore:(?P<scene>[0-9]{1,18}):(?P<moment>[0-9]{1,18})"
"""What the custom id of a button that brings back what was undone looks like."""

EDIT_FORM_ID: Final = r"aside:edited:(?P<turn>[0-9]{1,18}):(?P<take>[0-9]{1,18})"
"""What the custom id of the form that rewrites a take looks like."""

EDIT_FIELD_ID: Final = "text"
"""The custom id of the field that holds the text in that form."""

MAX_FIELD_LENGTH: Final = 4_000
"""How many characters a field of a form may hold."""


class TurnAction(StrEnum):
    """What a button does with a turn; the values are in the custom ids of buttons that stand on Discord for ever."""

    PREVIOUS_TAKE = "back"  # to the take before
    NEXT_TAKE = "on"  # to the take after
    RETRY = "again"
    WRITE_MORE = "longer"
    MENU = "menu"
    SHOW_THOUGHTS = "thoughts"
    EDIT = "edit"
    BRANCH = "branch"
    HIDE = "hide"
    REWIND = "rewind"
    CONFIRM_REWIND = "surely"


_Style = discord.ButtonStyle


def retry_id(turn_id: int) -> str:
    """Return the custom id of the button that tries this turn again."""
    return f"aside:retry:{turn_id}"


def try_again_view(turn_id: int) -> discord.ui.View:
    """Return a view with the button that tries this turn again. Its presses are for whoever knows `TRY_AGAIN_ID`."""
    return _view([discord.ui.Button(label="Try again", emoji="🔁", custom_id=retry_id(turn_id))])


def reply_view(turn: Turn, take: Take) -> discord.ui.View:
    """Return what stands under the latest reply: through its takes, another one, more of it, and the rest."""
    return _view(
        [
            *_arrows(turn, take),
            _button(turn.id, TurnAction.RETRY, "Retry", "🔁"),
            _button(turn.id, TurnAction.WRITE_MORE, "Continue", "⏩"),
            _button(turn.id, TurnAction.MENU, "More…"),
        ]
    )


def menu_view(turn: Turn) -> discord.ui.View:
    """Return everything that can be done with a turn: with a reply's takes, and with its place in the story."""
    story = [
        _button(turn.id, TurnAction.REWIND, "Rewind to here", "⏪"),
        _button(turn.id, TurnAction.BRANCH, "Branch", "🌱"),
        _button(turn.id, TurnAction.HIDE, "Hide", "✂️"),
    ]
    if turn.kind is not TurnKind.REPLY or turn.take is None:
        return _view(story)
    takes = [
        *_arrows(turn, turn.take),
        _button(turn.id, TurnAction.RETRY, "Retry", "🔁"),
        _button(turn.id, TurnAction.WRITE_MORE, "Continue", "⏩"),
        _button(turn.id, TurnAction.EDIT, "Edit", "✏️"),
    ]
    return _view(takes, [_button(turn.id, TurnAction.SHOW_THOUGHTS, "Show thoughts", "💭"), *story])


def confirm_rewind_view(turn_id: int) -> discord.ui.View:
    """Return a view with the button that rewinds without asking once more."""
    return _view([_button(turn_id, TurnAction.CONFIRM_REWIND, "Rewind", "⏪", style=_Style.danger)])


def unhide_view(scene_id: int, moment: int) -> discord.ui.View:
    """Return a view with the button that brings back what was undone at that moment, in microseconds since 1970."""
    custom_id = f"aside:restore:{scene_id}:{moment}"
    return _view([discord.ui.Button(label="Restore", emoji="↩️", custom_id=custom_id)])


def edit_form(turn_id: int, take_id: int, text: str) -> discord.ui.Modal:
    """Return the form that rewrites a take. What is sent back is for whoever knows `EDIT_FORM_ID`."""
    form = discord.ui.Modal(title="Edit this reply", custom_id=f"aside:edited:{turn_id}:{take_id}")
    field = discord.ui.TextInput[discord.ui.Modal](
        style=discord.TextStyle.paragraph,
        custom_id=EDIT_FIELD_ID,
        default=text,
        max_length=MAX_FIELD_LENGTH,
    )
    form.add_item(discord.ui.Label(text="What is said, and *done*", component=field))
    form.stop()  # discord.py would keep it in memory, and know nothing of it after a restart
    return form


def _arrows(turn: Turn, take: Take) -> list[discord.ui.Button[discord.ui.View]]:
    if len(turn.takes) < 2 or take.id not in turn.takes:
        return []
    place, last = turn.takes.index(take.id) + 1, len(turn.takes)
    return [
        _button(turn.id, TurnAction.PREVIOUS_TAKE, "◀", disabled=place == 1),
        _button(turn.id, TurnAction.NEXT_TAKE, f"{place}/{last} ▶", disabled=place == last),
    ]


def _button(
    turn_id: int,
    deed: TurnAction,
    label: str,
    emoji: str | None = None,
    *,
    disabled: bool = False,
    style: discord.ButtonStyle = _Style.secondary,
) -> discord.ui.Button[discord.ui.View]:
    custom_id = f"aside:reply:{deed}:{turn_id}"
    return discord.ui.Button(
        label=label, emoji=emoji, custom_id=custom_id, disabled=disabled, style=style
    )


def _view(*rows: list[discord.ui.Button[discord.ui.View]]) -> discord.ui.View:
    view = discord.ui.View(timeout=None)
    for number, row in enumerate(rows):
        for button in row:
            button.row = number
            view.add_item(button)
    view.stop()  # discord.py would keep it in memory for ever, waiting for presses that are not its own
    return view
