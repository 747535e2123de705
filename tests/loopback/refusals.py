"""Discord's refusals: codes, statuses and messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .entities import Json

# code: (HTTP status, Discord's message, whether only a client's mistake can cause it)
NO_SUCH_ADDRESS, WRONG_TOKEN = -404, -401  # Discord has no codes for these and sends 0
REFUSALS: dict[int, tuple[int, str, bool]] = {
    NO_SUCH_ADDRESS: (404, "404: Not Found", True),
    WRONG_TOKEN: (401, "401: Unauthorized", False),
    10003: (404, "Unknown Channel", False),
    10004: (404, "Unknown Guild", False),
    10007: (404, "Unknown Member", False),
    10008: (404, "Unknown Message", False),
    10011: (404, "Unknown Role", False),
    10013: (404, "Unknown User", False),
    10014: (404, "Unknown Emoji", False),
    10015: (404, "Unknown Webhook", False),
    10062: (404, "Unknown interaction", True),
    10063: (404, "Unknown application command", False),
    20009: (
        400,
        "Explicit content cannot be sent to the desired recipient(s)",
        False,
    ),
    20012: (403, "You are not authorized to perform this action on this application", False),
    30005: (400, "Maximum number of server roles reached (250)", True),
    30007: (400, "Maximum number of webhooks reached (15)", True),
    30008: (400, "Maximum number of emojis reached (2000)", False),
    30046: (
        400,
        "Maximum number of edits to messages older than 1 hour reached. Try again later.",
        False,
    ),
    40003: (429, "You are opening direct messages too fast.", False),
    40005: (413, "Request entity too large", True),
    40067: (400, "A tag is required to create a forum post in this channel", False),
    40060: (400, "Interaction has already been acknowledged.", True),
    50001: (403, "Missing Access", False),
    50005: (403, "Cannot edit a message authored by another user", True),
    50006: (400, "Cannot send an empty message", True),
    50007: (403, "Cannot send messages to this user", False),
    50008: (400, "Cannot send messages in a non-text channel", True),
    50013: (403, "Missing Permissions", False),
    50138: (400, "Image file size is too large", True),
    50021: (403, "Cannot execute action on a system message", True),
    50024: (400, "Cannot execute action on this channel type", True),
    50027: (401, "Invalid Webhook Token", False),
    50035: (400, "Invalid Form Body", True),
    50083: (400, "Thread is archived", False),
    50109: (400, "The request body contains invalid JSON.", True),
    50278: (403, "Cannot send messages to this user due to having no mutual guilds", False),
    60003: (403, "Two factor is required for this operation", False),
    160002: (403, "Cannot reply without permission to read message history", False),
    160004: (400, "A thread has already been created for this message", False),
    160005: (403, "Thread is locked", False),
    200000: (400, "Message was blocked by automatic moderation", False),
    200001: (400, "Title was blocked by automatic moderation", False),
    240000: (400, "Message blocked by harmful links filter", False),
    220001: (400, "Webhooks posted to forum channels must have a thread_name or thread_id", True),
    220002: (
        400,
        "Webhooks posted to forum channels cannot have both a thread_name and thread_id",
        True,
    ),
    220003: (400, "Webhooks can only create threads in forum channels", True),
}


@dataclass(frozen=True, slots=True)
class BadField:
    """One fault in a request's body: its path (`embeds.0.title`), Discord's code and message."""

    path: str
    code: str
    text: str


class Refusal(Exception):
    """A request that Discord refuses.

    `mistake` means that a correct client never gets this answer.
    """

    def __init__(self, code: int, *, faults: Sequence[BadField] = ()) -> None:
        self.status, self.text, self.mistake = REFUSALS[code]
        self.code = code
        self.faults = tuple(faults)
        super().__init__(self.text, *(f"{fault.path}: {fault.text}" for fault in faults))

    def payload(self) -> Json:
        body: Json = {"message": self.text, "code": max(self.code, 0)}
        if self.faults:
            body["errors"] = _tree(self.faults)
        return body


def form_error(path: str, code: str, text: str) -> Refusal:
    """Return the refusal of a body with one fault."""
    return Refusal(50035, faults=[BadField(path, code, text)])


def _tree(faults: Sequence[BadField]) -> Json:
    root: Json = {}
    for fault in faults:
        node: dict[str, Any] = root
        for step in fault.path.split("."):
            node = node.setdefault(step, {})
        node.setdefault("_errors", []).append({"code": fault.code, "message": fault.text})
    return root
