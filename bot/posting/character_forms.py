"""Forms, buttons and texts for people's own characters.

Custom ids say what a form or button does and to which character, so both work after a restart.
Buttons on Discord keep their ids forever: the patterns here must not change.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import discord

from bot.posting.escaping import escape_name, escape_text
from bot.posting.graphemes import shorten
from bot.posting.split import MESSAGE_LIMIT
from bot.scenes.own_characters import build_character

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.library.own_character import OwnCharacter
    from bot.scenes.own_characters import StoredCharacter
    from bot.scenes.scene import Scene

CHARACTER_FORM_ID: Final = r"aside:character:(?P<form>about|more):(?P<own>[0-9]{1,18})"
"""The pattern of the custom id of a character's form. The form of a new character has the id 0."""

MORE_BUTTON_ID: Final = r"aside:character:open:(?P<own>[0-9]{1,18})"
"""The pattern of the custom id of the button that opens a character's second form."""

JOIN_BUTTON_ID: Final = (
    r"aside:join:(?P<decision>yes|no):(?P<scene>[0-9]{1,18}):(?P<owner>[0-9]{1,20})"
    r":(?P<own>[0-9]{1,18}):(?P<revision>[0-9]{1,9})"
)
"""The pattern of the custom id of the buttons that decide about a character."""

PICTURE_FIELD: Final = "picture"
_LONGEST_FIELD: Final = 4_000
_LONGEST_NAME: Final = 80
_LONGEST_PART: Final = 450  # of each text that `/character show` displays
_LONGEST_PUBLIC: Final = 1_400
_Style = discord.ButtonStyle
_View: TypeAlias = discord.ui.View
_Modal: TypeAlias = discord.ui.Modal


class CharacterForm(StrEnum):
    """The two forms of a character. Discord allows five fields in one."""

    ABOUT = "about"
    MORE = "more"


# By form: custom id, label, description, length (0: a paragraph of any length).
_FIELDS: Final = {
    CharacterForm.ABOUT: (
        ("name", "Name", "Shown above the character's lines", _LONGEST_NAME),
        ("pronouns", "Pronouns", "For everyone in the scene", 40),
        ("description", "What everyone may know", "Every character of a scene learns this", 0),
        (
            "private",
            "What only the character knows",
            "Its own mind uses this if you leave it to the model",
            0,
        ),
    ),
    CharacterForm.MORE: (
        ("voice", "A few words in the character's voice", "For the model, if it plays", 0),
        ("face", "Address of a picture", "https://… An uploaded picture takes precedence", 2048),
    ),
}


def character_form(form: CharacterForm, one: StoredCharacter | None = None) -> discord.ui.Modal:
    """Return a form of a character, filled in, or the empty form of a new one.

    A text that is longer than a form's field is left out, so that it stays as it is.
    """
    modal = discord.ui.Modal(
        title="Your character" if form is CharacterForm.ABOUT else "Voice and picture",
        custom_id=f"aside:character:{form}:{one.id if one else 0}",
    )
    sheet = one.sheet if one else None
    for key, label, description, length in _FIELDS[form]:
        text = (getattr(sheet, key) if sheet else "") or ""
        if len(text) <= (length or _LONGEST_FIELD):
            field = discord.ui.TextInput[_Modal](
                style=discord.TextStyle.short if length else discord.TextStyle.paragraph,
                custom_id=key,
                default=text or None,
                required=key == "name",
                max_length=length or _LONGEST_FIELD,
            )
            modal.add_item(discord.ui.Label(text=label, description=description, component=field))
    if form is CharacterForm.ABOUT:
        upload = discord.ui.FileUpload[_Modal](
            custom_id=PICTURE_FIELD, required=False, min_values=0
        )
        modal.add_item(
            discord.ui.Label(
                text="Picture", description="A PNG, JPEG, WebP or GIF", component=upload
            )
        )
    modal.stop()  # discord.py would keep it in memory; submissions are matched by custom id
    return modal


def read_fields(components: Any) -> dict[str, str]:
    """Return the texts of a submitted form by custom id."""
    return {part["custom_id"]: part["value"] for part in _walk(components) if "value" in part}


def read_upload(components: Any, resolved: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return Discord's description of the file in a submitted form, if there is one."""
    attachments = resolved.get("attachments") or {}
    for part in _walk(components):
        if part.get("custom_id") == PICTURE_FIELD:
            for number in part.get("values") or ():
                found: Mapping[str, Any] | None = attachments.get(str(number))
                return found
    return None


def _walk(components: Any) -> list[dict[str, Any]]:
    found = []
    for part in components or ():
        inside = part.get("component")
        found += [part] if inside is None else [inside]
    return found


def more_view(one: StoredCharacter) -> discord.ui.View:
    """Return the button that opens a character's second form."""
    button = discord.ui.Button[_View](
        label="Voice and picture…", custom_id=f"aside:character:open:{one.id}"
    )
    return _create_view(button)


def join_view(scene: Scene, one: StoredCharacter) -> discord.ui.View:
    """Return the buttons with which a game master decides about a character."""
    target = f"{scene.id}:{one.owner_id}:{one.id}:{one.revision}"
    return _create_view(
        discord.ui.Button(
            label="Let it join", custom_id=f"aside:join:yes:{target}", style=_Style.success
        ),
        discord.ui.Button(label="Decline", custom_id=f"aside:join:no:{target}"),
    )


def format_request(one: StoredCharacter, person: str) -> str:
    """Return the question to the game masters. It has what everyone may know of the character."""
    public = shorten(build_character(one.sheet).known_as, _LONGEST_PUBLIC)
    quoted = "\n".join(f"> {line}" for line in escape_text(public).splitlines())
    text = (
        f"{escape_name(person)} asks to play **{escape_name(one.sheet.name)}**, a character of"
        f" their own. A game master decides.\n{quoted}"
    )
    return shorten(text, MESSAGE_LIMIT)


def format_sheet(sheet: OwnCharacter) -> str:
    """Return everything about a character, for its owner. Long texts are shortened."""
    pronouns = f" ({escape_text(sheet.pronouns)})" if sheet.pronouns else ""
    parts = (
        ("Everyone may know", sheet.description),
        ("Only its own mind knows", sheet.private),
        ("In its voice", sheet.voice),
        ("Picture", sheet.face or ""),
    )
    shown = (
        f"**{title}**\n{escape_text(shorten(text, _LONGEST_PART))}" for title, text in parts if text
    )
    return shorten("\n".join((f"# {escape_name(sheet.name)}{pronouns}", *shown)), MESSAGE_LIMIT)


def _create_view(*buttons: discord.ui.Button[_View]) -> discord.ui.View:
    view = discord.ui.View(timeout=None)
    for button in buttons:
        view.add_item(button)
    view.stop()  # discord.py would keep it in memory; presses are matched by custom id
    return view
