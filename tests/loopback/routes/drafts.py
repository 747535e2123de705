"""The content of a message from a request's body."""

from __future__ import annotations

import mimetypes
from typing import TYPE_CHECKING

from ..conversation import COMPONENTS_V2, EPHEMERAL
from ..refusals import Refusal, form_error
from ..rules.message_rules import check_message
from ..speech import Draft

if TYPE_CHECKING:
    from ..conversation import DiscordMessage
    from ..entities import Channel, Json
    from ..router import Call

KEPT_FLAGS = 1 << 2 | 1 << 12 | COMPONENTS_V2  # no link previews, silent, layout components


def new_draft(
    call: Call,
    body: Json,
    channel: Channel,
    *,
    reply_to: DiscordMessage | None = None,
    may_be_private: bool = False,
) -> Draft:
    """Return the checked content of a new message.

    Only answers to interactions `may_be_private`.
    """
    check_message(body, call.uploads)
    nonce = body.get("nonce")
    kept = KEPT_FLAGS | EPHEMERAL if may_be_private else KEPT_FLAGS
    return Draft(
        body.get("content") or "",
        tuple(body.get("embeds") or []),
        tuple(body.get("components") or []),
        _attachments(call, body, channel, []),
        (body.get("flags") or 0) & kept,
        body.get("allowed_mentions"),
        reply_to,
        None if nonce is None else str(nonce),
    )


def edited_draft(call: Call, body: Json, message: DiscordMessage) -> Draft:
    """Return the checked content after an edit. Keys that the request leaves out do not change."""
    now = message.now
    flags = body["flags"] & KEPT_FLAGS if body.get("flags") is not None else now.flags
    check_message(body | {"flags": flags}, call.uploads, may_be_empty=True)
    draft = Draft(
        body.get("content") or "" if "content" in body else now.content,
        tuple(body.get("embeds") or []) if "embeds" in body else now.embeds,
        tuple(body.get("components") or []) if "components" in body else now.components,
        _attachments(call, body, message.channel, list(now.attachments)),
        flags | now.flags & EPHEMERAL,
        body.get("allowed_mentions"),
        message.reply_to,
        message.nonce,
        message.extra,
    )
    if not (draft.content.strip() or draft.embeds or draft.components or draft.attachments):
        raise Refusal(50006)
    return draft


def replied_to(call: Call, body: Json, channel: Channel) -> DiscordMessage | None:
    """Return the message that a new one replies to.

    If it is deleted, refuse the request unless its `fail_if_not_exists` is false.
    """
    reference = body.get("message_reference") or {}
    if not reference.get("message_id") or reference.get("type") == 1:
        return None
    if not call.world.may(call.world.bot, "read_message_history", channel):
        raise Refusal(160002)
    target = call.world.messages.get(int(reference["message_id"]))
    if target is None or target.deleted or target.channel is not channel:
        if reference.get("fail_if_not_exists", True):
            raise form_error("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")
        return None
    if target.kind not in {0, 19, 20, 23}:
        text = "Cannot reply to a system message"
        raise form_error("message_reference", "REPLIES_CANNOT_REPLY_TO_SYSTEM_MESSAGE", text)
    return target


def _attachments(call: Call, body: Json, channel: Channel, before: list[Json]) -> tuple[Json, ...]:
    """Return the files that stay (those of `before` that the body keeps) and the uploaded ones."""
    listed = body.get("attachments")
    kept = (
        before
        if listed is None
        else [each for each in before if each["id"] in {str(one["id"]) for one in listed}]
    )
    described = {
        int(one["id"]): one.get("description") for one in listed or [] if int(one["id"]) < 10
    }
    return (
        *kept,
        *(
            _attach(call, upload.number, channel, described.get(upload.number))
            for upload in call.uploads
        ),
    )


def _attach(call: Call, number: int, channel: Channel, description: str | None) -> Json:
    upload = next(each for each in call.uploads if each.number == number)
    return attachment(
        call.world.clock.snowflake(), channel, upload.filename, upload.content, call.world.files
    ) | ({"description": description} if description else {})


def attachment(
    number: int, channel: Channel, filename: str, content: bytes, files: dict[int, bytes]
) -> Json:
    """Return a file as part of a message, and store its bytes on the CDN."""
    files[number] = content
    url = f"https://cdn.discordapp.com/attachments/{channel.id}/{number}/{filename}"
    return {
        "id": str(number),
        "filename": filename,
        "size": len(content),
        "url": url,
        "proxy_url": url.replace("cdn.discordapp.com", "media.discordapp.net"),
        "content_type": mimetypes.guess_type(filename)[0] or "application/octet-stream",
    }
