"""Limits of messages, embeds, webhook names and files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..refusals import BadField, Refusal
from . import at_most, length, length_faults, refuse
from .component_rules import check_components

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..entities import Json
    from ..router import Upload

MESSAGE = 2000
EMBEDS_TOGETHER = 6000
FILE = 10 * 1024 * 1024
FORBIDDEN_IN_NAMES = ("clyde", "discord")


def check_message(body: Json, uploads: list[Upload], *, may_be_empty: bool = False) -> None:
    """Refuse a message that is too long, malformed or empty.

    An edit may leave the content as it was.
    """
    refuse(_message_faults(body))
    if sum(len(upload.content) for upload in uploads) > FILE:
        raise Refusal(40005)
    if not may_be_empty and _is_empty(body, uploads):
        raise Refusal(50006)


def _message_faults(body: Json) -> Iterator[BadField]:
    yield from length_faults(body, "content", MESSAGE)
    yield from at_most(body, "embeds", 10)
    for index, embed in enumerate(body.get("embeds") or []):
        yield from _embed_faults(embed, f"embeds.{index}.")
    if sum(_embed_length(embed) for embed in body.get("embeds") or []) > EMBEDS_TOGETHER:
        yield BadField(
            "embeds",
            "MAX_EMBED_SIZE_EXCEEDED",
            f"Embed size exceeds maximum size of {EMBEDS_TOGETHER}",
        )
    yield from check_components(body)
    yield from _mention_faults(body.get("allowed_mentions") or {})


def _is_empty(body: Json, uploads: list[Upload]) -> bool:
    filled = any(
        body.get(key) for key in ("embeds", "components", "sticker_ids", "poll", "attachments")
    )
    forwards = (body.get("message_reference") or {}).get("type") == 1
    return not (filled or uploads or forwards or (body.get("content") or "").strip())


def _embed_faults(embed: Json, path: str) -> Iterator[BadField]:
    yield from length_faults(embed, "title", 256, path=path)
    yield from length_faults(embed, "description", 4096, path=path)
    yield from length_faults(embed.get("author") or {}, "name", 256, path=f"{path}author.")
    yield from length_faults(embed.get("footer") or {}, "text", 2048, path=f"{path}footer.")
    yield from at_most(embed, "fields", 25, path=path)
    for index, each in enumerate(embed.get("fields") or []):
        yield from length_faults(each, "name", 256, least=1, path=f"{path}fields.{index}.")
        yield from length_faults(each, "value", 1024, least=1, path=f"{path}fields.{index}.")


def _embed_length(embed: Json) -> int:
    texts = [embed.get("title"), embed.get("description")]
    texts += [(embed.get("author") or {}).get("name"), (embed.get("footer") or {}).get("text")]
    for each in embed.get("fields") or []:
        texts += [each.get("name"), each.get("value")]
    return sum(length(text or "") for text in texts)


def _mention_faults(allowed: Json) -> Iterator[BadField]:
    for kind in ("users", "roles"):
        if kind in (allowed.get("parse") or []) and allowed.get(kind):
            text = f'parse:["{kind}"] and {kind}: [ids...] are mutually exclusive.'
            yield BadField("allowed_mentions", "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", text)


def check_webhook_name(body: Json, key: str = "name", *, required: bool = True) -> None:
    """Refuse a name that is empty, longer than 80, or contains "clyde" or "discord"."""
    if body.get(key) is None and not required:
        return
    refuse(length_faults(body, key, 80, least=1))
    for word in FORBIDDEN_IN_NAMES:
        if word in body[key].lower():
            text = f'{key.capitalize()} cannot contain "{word}"'
            raise Refusal(50035, faults=[BadField(key, "USERNAME_INVALID_CONTAINS", text)])
