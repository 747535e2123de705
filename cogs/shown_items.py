"""What a message shows besides its words: pictures, stickers, polls, recordings and forwards.

The characters can't see or hear any of it, so each becomes an action in words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cogs.message_text import replace_markup

if TYPE_CHECKING:
    from collections.abc import Iterator

    import discord

MAX_SHOWN_LENGTH: Final = 300
"""The most characters of each description."""

_KINDS: Final = {"image": "shows a picture", "video": "shows a video", "audio": "plays a recording"}


def describe_shown(message: discord.Message) -> tuple[str, ...]:
    """Return an action for each thing that the message shows, such as `shows a picture: a cat`."""
    return tuple(map(_shorten, _describe(message)))


def _describe(message: discord.Message) -> Iterator[str]:
    for attachment in message.attachments:
        yield _describe_attachment(attachment)
    for sticker in message.stickers:
        yield f"shows a sticker: {sticker.name}"
    if message.poll is not None:
        answers = ", ".join(answer.text for answer in message.poll.answers)
        yield f"asks in a poll: {message.poll.question} ({answers})"
    for snapshot in message.message_snapshots:
        words = replace_markup(snapshot.content, message.created_at)
        files = [_describe_attachment(attachment) for attachment in snapshot.attachments]
        stickers = [f"shows a sticker: {sticker.name}" for sticker in snapshot.stickers]
        parts = [f"“{words}”"] * bool(words.strip()) + files + stickers
        yield f"forwards a message: {', '.join(parts)}" if parts else "forwards a message"


def _describe_attachment(attachment: discord.Attachment) -> str:
    if attachment.is_voice_message():
        return "sends a voice message"
    kind = (attachment.content_type or "").partition("/")[0]
    action = _KINDS.get(kind, "shows a file")
    return f"{action}: {attachment.description or attachment.filename}"


def _shorten(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= MAX_SHOWN_LENGTH else f"{words[: MAX_SHOWN_LENGTH - 1]}…"
