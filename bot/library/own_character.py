"""A person's own character: its fields and its file formats."""

from __future__ import annotations

import base64
import binascii
import json
from typing import TYPE_CHECKING, Annotated, Any, Final

import yaml
from pydantic import BeforeValidator, Field, StringConstraints

from bot.documents import Fault, SourcePosition, Tree, combine_faults, parse, validate
from bot.errors import CharacterError
from bot.library.scenario import Document, FaceAddress, Name, Prose

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_FILE_BYTES: Final = 12 * 1024 * 1024
"""The size of the largest character file that is read. A card can contain a picture."""

_LONGEST_PRONOUNS = 40
_CARD: Final = "chara_card_v3"
_PNG: Final = "data:image/png;base64,"
_PICTURE_MARK: Final = ";base64,"


def _one_line(text: object) -> object:
    return " ".join(text.split()) if isinstance(text, str) else text


class OwnCharacter(Document):
    """A character that a person made. The sizes are those of a scenario's characters."""

    name: Annotated[Name, BeforeValidator(_one_line)] = Field(
        description="shown above the character's lines"
    )
    pronouns: Annotated[
        str, BeforeValidator(_one_line), StringConstraints(max_length=_LONGEST_PRONOUNS)
    ] = Field(default="", description="the character's pronouns, for everyone")
    description: Prose = Field(default="", description="what everyone in a scene may know")
    private: Prose = Field(default="", description="what only the character's own mind knows")
    voice: Prose = Field(default="", description="a few words in the character's voice")
    face: FaceAddress | None = Field(default=None, description="an https address of a picture")


def check_character(fields: Mapping[str, object], source: str = "The form") -> OwnCharacter:
    """Return the character with these fields. Raise CharacterError with the first fault."""
    return _require_valid(Tree.from_data(dict(fields), source))


def dump_yaml(character: OwnCharacter) -> str:
    """Return the character as YAML, which `read_character` reads."""
    fields = character.model_dump(exclude_defaults=True)
    return yaml.safe_dump(fields, allow_unicode=True, sort_keys=False, width=100)


def dump_card(character: OwnCharacter, picture: bytes | None = None) -> str:
    """Return the character as a V3 card. `picture` is a PNG, which becomes the card's icon.

    Other programs read public and private part as one description. `read_character` finds both
    parts in the card's extensions.
    """
    about = (character.description, character.private)
    icon = {"type": "icon", "name": "main", "ext": "png"}
    uri = _PNG + base64.b64encode(picture).decode() if picture else character.face
    data: dict[str, object] = {
        "name": character.name,
        "description": "\n\n".join(filter(None, about)),
        "mes_example": character.voice,
        "assets": [icon | {"uri": uri}] if uri else [],
        "extensions": {"aside": character.model_dump(exclude_defaults=True)},
        **dict.fromkeys(_CARD_TEXTS, ""),
        **{name: [] for name in _CARD_LISTS},
    }
    card = {"spec": _CARD, "spec_version": "3.0", "data": data}
    return json.dumps(card, ensure_ascii=False, indent=2)


# Fields that the V3 format requires and that Aside has no use for.
_CARD_TEXTS: Final = (
    "personality",
    "scenario",
    "first_mes",
    "creator",
    "creator_notes",
    "character_version",
    "system_prompt",
    "post_history_instructions",
)
_CARD_LISTS: Final = ("tags", "alternate_greetings", "group_only_greetings")


def read_character(content: bytes, source: str) -> tuple[OwnCharacter, bytes | None]:
    """Return the character of a file and its picture, if the file contains one.

    Reads the YAML of `dump_yaml` and V3 cards. Everything that another program's card says about
    the character becomes private, because the card does not tell what others may know. Raise
    CharacterError.
    """
    if len(content) > MAX_FILE_BYTES:
        raise CharacterError(f"{source} is larger than {MAX_FILE_BYTES // 2**20} MiB.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise CharacterError(f"{source} is not a text file. Save it as UTF-8.") from None
    if not text.lstrip().startswith("{"):
        return _read_yaml(text, source), None
    try:
        card = json.loads(text)
        data = card["data"] if card["spec"] == _CARD else None
    except (ValueError, KeyError, TypeError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise CharacterError(f"{source} is not a V3 character card. Export the card again as V3.")
    return _read_card(data, source), _find_picture(data.get("assets"))


def _read_yaml(text: str, source: str) -> OwnCharacter:
    try:
        tree = parse(text, source)
    except Fault as fault:
        raise combine_faults([fault], CharacterError) from None
    return _require_valid(tree)


def _read_card(data: dict[str, Any], source: str) -> OwnCharacter:
    extensions = data.get("extensions")
    if isinstance(extensions, dict) and isinstance(ours := extensions.get("aside"), dict):
        return check_character(ours, source)
    texts = {name: text for name, text in data.items() if isinstance(text, str)}
    about = (texts.get(name, "").strip() for name in ("description", "personality", "scenario"))
    fields: dict[str, object] = {
        "name": texts.get("name", ""),
        "private": "\n\n".join(filter(None, about)),
        "voice": texts.get("mes_example", ""),
    }
    return check_character(fields, source)


def _find_picture(assets: object) -> bytes | None:
    """Return the bytes of the first icon that is in the card itself."""
    for asset in assets if isinstance(assets, list) else ():
        uri = asset.get("uri") if isinstance(asset, dict) and asset.get("type") == "icon" else None
        if isinstance(uri, str) and uri.startswith("data:image/") and _PICTURE_MARK in uri:
            try:
                return base64.b64decode(uri.partition(_PICTURE_MARK)[2], validate=True)
            except (binascii.Error, ValueError):
                return None
    return None


def _require_valid(tree: Tree) -> OwnCharacter:
    try:
        checked = validate(tree, OwnCharacter)
    except RecursionError:
        checked = [Fault(SourcePosition(str(tree.position(()))), "the values are nested too deep")]
    if isinstance(checked, list):
        raise combine_faults(checked, CharacterError)
    return checked
