"""Checks of requests against Discord's own OpenAPI description.

The description belongs to Discord and is not part of this project. `LOOPBACK_DISCORD_OPENAPI` names
its file. Without the variable, it is looked for in a folder `shared` beside the checkout. If it is
missing, these checks are off, but those of `rules` remain.
"""

from __future__ import annotations

import copy
import json
import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from .refusals import BadField, Refusal

if TYPE_CHECKING:
    from .router import Route

BESIDE_THE_CHECKOUT = Path(__file__).resolve().parents[3] / "shared" / "discord-openapi.json"
NAME = "urn:discord"
# discord.py sends these. The description lacks them, but Discord accepts them.
NSFW = {"nsfw"}
EXTRAS = {
    "sync_commands": NSFW,
    "sync_guild_commands": NSFW,
    "create_command": NSFW,
    "create_guild_command": NSFW,
    "edit_command": NSFW,
    "start_thread": {"type", "use_nested_fields"},
}
SMALLEST_ID = 1 << 40
LARGE_NUMBERS = {"permissions", "default_member_permissions", "nonce"}


class Description:
    """Discord's description of its API, made strict: keys that it does not name are faults."""

    def __init__(self, text: str) -> None:
        self._document = json.loads(text)
        _forbid_unknown_keys(self._document)
        self._registry = Registry().with_resource(NAME, DRAFT202012.create_resource(self._document))
        self._allowed: set[tuple[str, str]] = (
            set()
        )  # a bot that starts in every test sends the same commands each time
        self._validators: dict[tuple[str, ...], Draft202012Validator | None] = {}

    def check(self, route: Route, body: Any) -> None:
        """Refuse a body that the description of this route does not allow."""
        validator = self._validator(route, "requestBody")
        known = (route.name, json.dumps(body))
        if validator is None or known in self._allowed:
            return
        error = best_match(validator.iter_errors(_without_extras(route.name, body)))
        if error is not None:
            path = ".".join(str(step) for step in error.absolute_path) or "body"
            raise Refusal(50035, faults=[BadField(path, "OPENAPI", error.message[:500])])
        self._allowed.add(known)

    def describes(self, route: Route) -> bool:
        """Return whether the description covers the bodies of this route."""
        return self._validator(route, "requestBody") is not None

    def deviations(self, route: Route, answer: Any) -> list[str]:
        """Return the deviations of one of the loopback's answers from the description."""
        validator = (
            self._validator(route, "responses", str(route.status)) if answer is not None else None
        )
        if route.name == "start_thread":  # the description lacks the first message of a forum post
            answer = {key: value for key, value in answer.items() if key != "message"}
        errors = (
            [best_match([error]) for error in validator.iter_errors(answer)] if validator else []
        )
        return [
            f"{route.name}: {error.json_path}: {error.message[:300]}" for error in errors if error
        ]

    def _validator(self, route: Route, *steps: str) -> Draft202012Validator | None:
        steps = (
            "paths",
            _description_path(route.path),
            route.method.lower(),
            *steps,
            "content",
            "application/json",
            "schema",
        )
        if steps not in self._validators:
            place: Any = self._document
            for step in steps:
                place = place.get(step, {})
            names = "/".join(step.replace("~", "~0").replace("/", "~1") for step in steps)
            pointer = {"$ref": f"{NAME}#/{names}".replace("{", "%7B").replace("}", "%7D")}
            self._validators[steps] = (
                Draft202012Validator(pointer, registry=self._registry) if place else None
            )
        return self._validators[steps]


@cache
def find_description() -> Description | None:
    """Return the description, or None if there is no file."""
    path = Path(os.environ.get("LOOPBACK_DISCORD_OPENAPI") or BESIDE_THE_CHECKOUT)
    return Description(path.read_text(encoding="utf-8")) if path.is_file() else None


def _description_path(path: str) -> str:
    """Return one of our paths as the description writes it."""
    return path.replace(
        "/webhooks/{application_id}/{interaction_token}", "/webhooks/{webhook_id}/{webhook_token}"
    ).replace("/{emoji}", "/{emoji_name}")


def _forbid_unknown_keys(schema: Any) -> None:
    """Forbid further keys in every object that lists its properties.

    That is correct because the description combines objects by choice only, never by sum.
    """
    if isinstance(schema, dict):
        if isinstance(schema.get("properties"), dict):
            schema.setdefault("additionalProperties", False)
        for inner in schema.values():
            _forbid_unknown_keys(inner)
    elif isinstance(schema, list):
        for inner in schema:
            _forbid_unknown_keys(inner)


def _without_extras(route: str, body: Any) -> Any:
    """Return the body without discord.py's known extras, and with ids as strings."""
    body = copy.deepcopy(body)
    for each in body if isinstance(body, list) else [body]:
        for key in EXTRAS.get(route, ()):
            each.pop(key, None)
    if isinstance(body, dict):
        if isinstance(body.get("permissions"), str):
            body["permissions"] = int(body["permissions"])
        for holder in (body, body.get("data"), body.get("message")):
            if isinstance(holder, dict):
                _clean_message(holder)
    return _ids_as_text(body)


def _clean_message(message: Any) -> None:
    message.pop("tts", None)  # discord.py sends it with every edit
    for embed in message.get("embeds") or []:
        embed.pop("flags", None)
    for attachment in message.get("attachments") or []:
        attachment["id"] = str(attachment["id"])
    if (
        message.get("components") == []
    ):  # removes all buttons: Discord accepts it, its description does not
        del message["components"]


def _ids_as_text(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: _ids_as_text(inner, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [_ids_as_text(inner, key) for inner in value]
    return (
        str(value)
        if type(value) is int and value >= SMALLEST_ID and key not in LARGE_NUMBERS
        else value
    )
