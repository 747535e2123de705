"""The buttons under Aside's posts.

Their custom ids say what they do and to which turn, so they work after a restart. Buttons on
Discord keep their ids forever: the patterns and values here must not change.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final

import discord

from bot.posting.split import MESSAGE_LIMIT
from bot.scenes.turn import TurnKind

if TYPE_CHECKING:
    from bot.scenes.turn import Take, Turn

TRY_AGAIN_ID: Final = r"aside:retry:(?P<turn>[0-9]{1,18})"
"""The pattern of the custom id of a "Try again" button."""

TURN_ACTION_ID: Final = r"aside:reply:(?P<action>[a-z]+):(?P<turn>[0-9]{1,18})"
"""The pattern of the custom id of a button for an action on a turn."""

UNHIDE_ID: Final = r"aside:restore:(?P<scene>[0-9]{1,18}):(?P<moment>[0-9]{1,18})"
"""The pattern of the custom id of an "Unhide" button."""

EDIT_FORM_ID: Final = r"aside:edited:(?P<turn>[0-9]{1,18}):(?P<take>[0-9]{1,18})"
"""The pattern of the custom id of the form that edits a take."""

LINE_FORM_ID: Final = r"aside:line:(?P<message>[0-9]{1,20}):(?P<webhook>[0-9]{1,20})"
"""The pattern of the custom id of the form that edits a player's line."""

EDIT_FIELD_ID: Final = "text"
"""The custom id of the text field in that form."""

MAX_FIELD_LENGTH: Final = 4_000
"""The number of characters that Discord allows in a form's field."""


class TurnAction(StrEnum):
    """The action of a button on a turn. The values are part of custom ids."""

    PREVIOUS_TAKE = "back"
    NEXT_TAKE = "on"
    RETRY = "again"
    WRITE_MORE = "longer"
    MENU = "menu"
    SHOW_THOUGHTS = "thoughts"
    REVEAL_THOUGHTS = "reveal"
    EDIT = "edit"
    BRANCH = "branch"
    HIDE = "hide"
    REWIND = "rewind"
    CONFIRM_REWIND = "surely"


_Style = discord.ButtonStyle


def try_again_view(turn_id: int) -> discord.ui.View:
    """Return a view with the button that retries a failed turn."""
    custom_id = f"aside:retry:{turn_id}"
    return _create_view(
        [discord.ui.Button(label="Try again", emoji="🔁", custom_id=custom_id)],
    )


def reply_view(turn: Turn, take: Take) -> discord.ui.View:
    """Return the buttons of the latest reply: its takes, retry, write more and the menu."""
    return _create_view(
        [
            *_create_arrows(turn, take),
            _create_button(turn.id, TurnAction.RETRY, "Retry", "🔁"),
            _create_button(turn.id, TurnAction.WRITE_MORE, "Write more", "⏩"),
            _create_button(turn.id, TurnAction.MENU, "More…"),
        ]
    )


def menu_view(turn: Turn) -> discord.ui.View:
    """Return the buttons for everything that can be done with a turn."""
    story = [
        _create_button(turn.id, TurnAction.REWIND, "Rewind to here", "⏪"),
        _create_button(turn.id, TurnAction.BRANCH, "Branch", "🌱"),
        _create_button(turn.id, TurnAction.HIDE, "Hide", "✂️"),
    ]
    if turn.kind is not TurnKind.REPLY or turn.take is None:
        return _create_view(story)
    takes = [
        *_create_arrows(turn, turn.take),
        _create_button(turn.id, TurnAction.RETRY, "Retry", "🔁"),
        _create_button(turn.id, TurnAction.WRITE_MORE, "Write more", "⏩"),
        _create_button(turn.id, TurnAction.EDIT, "Edit", "✏️"),
    ]
    thoughts = _create_button(turn.id, TurnAction.SHOW_THOUGHTS, "Show thoughts", "💭")
    reveal = _create_button(turn.id, TurnAction.REVEAL_THOUGHTS, "Reveal thoughts", "📣")
    return _create_view(takes, [thoughts, reveal, *story])


def confirm_rewind_view(turn_id: int) -> discord.ui.View:
    """Return a view with the button that rewinds without another question."""
    button = _create_button(turn_id, TurnAction.CONFIRM_REWIND, "Rewind", "⏪", style=_Style.danger)
    return _create_view([button])


def unhide_view(scene_id: int, moment: int) -> discord.ui.View:
    """Return a view with the button that puts back the turns that left the story at that moment.

    `moment` is in microseconds since 1970.
    """
    custom_id = f"aside:restore:{scene_id}:{moment}"
    return _create_view([discord.ui.Button(label="Unhide", emoji="↩️", custom_id=custom_id)])


def edit_form(turn_id: int, take_id: int, text: str) -> discord.ui.Modal:
    """Return the form that edits a take. Its custom id matches `EDIT_FORM_ID`."""
    form = discord.ui.Modal(title="Edit this reply", custom_id=f"aside:edited:{turn_id}:{take_id}")
    field = discord.ui.TextInput[discord.ui.Modal](
        style=discord.TextStyle.paragraph,
        custom_id=EDIT_FIELD_ID,
        default=text,
        max_length=MAX_FIELD_LENGTH,
    )
    form.add_item(discord.ui.Label(text="Speech, with actions in *asterisks*", component=field))
    form.stop()  # discord.py would keep it in memory; submissions are matched by custom id
    return form


def line_form(message_id: int, webhook_id: int, text: str) -> discord.ui.Modal:
    """Return the form that edits a player's line. Its custom id matches `LINE_FORM_ID`."""
    form = discord.ui.Modal(
        title="Edit your line", custom_id=f"aside:line:{message_id}:{webhook_id}"
    )
    field = discord.ui.TextInput[discord.ui.Modal](
        style=discord.TextStyle.paragraph,
        custom_id=EDIT_FIELD_ID,
        default=text,
        required=False,
        max_length=MESSAGE_LIMIT,
    )
    form.add_item(discord.ui.Label(text="Leave this empty to delete the line", component=field))
    form.stop()  # discord.py would keep it in memory; submissions are matched by custom id
    return form


def _create_arrows(turn: Turn, take: Take) -> list[discord.ui.Button[discord.ui.View]]:
    if len(turn.takes) < 2 or take.id not in turn.takes:
        return []
    number = turn.takes.index(take.id) + 1
    count = len(turn.takes)
    return [
        _create_button(turn.id, TurnAction.PREVIOUS_TAKE, "◀", disabled=number == 1),
        _create_button(
            turn.id, TurnAction.NEXT_TAKE, f"{number}/{count} ▶", disabled=number == count
        ),
    ]


def _create_button(
    turn_id: int,
    action: TurnAction,
    label: str,
    emoji: str | None = None,
    *,
    disabled: bool = False,
    style: discord.ButtonStyle = _Style.secondary,
) -> discord.ui.Button[discord.ui.View]:
    custom_id = f"aside:reply:{action}:{turn_id}"
    return discord.ui.Button(
        label=label, emoji=emoji, custom_id=custom_id, disabled=disabled, style=style
    )


def _create_view(*rows: list[discord.ui.Button[discord.ui.View]]) -> discord.ui.View:
    view = discord.ui.View(timeout=None)
    for number, row in enumerate(rows):
        for button in row:
            button.row = number
            view.add_item(button)
    view.stop()  # discord.py would keep it in memory; presses are matched by custom id
    return view
