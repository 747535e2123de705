"""The text of Discord messages as people see it, without Discord's markup."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import discord

_CODE = re.compile(r"(?<![\\`])(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
_EMOJI = re.compile(r"<a?(:\w{2,32}:)\d+>")
_TIMESTAMP = re.compile(r"<t:(-?\d{1,13})(?::([tTdDfFsSR]))?>")
_COMMAND = re.compile(r"<(/[^:<>]{1,100}):\d+>")
_NAVIGATION = re.compile(r"<id:(customize|browse|guide|home|linked-roles)(?::\d+)?>")
_LINK = re.compile(r"<(https?://[^\s<>]+)>")
_MENTION = re.compile(r"<(@[!&]?|#)(\d{15,20})>")

_NAVIGATION_LABELS: Final = {
    "customize": "Channels & Roles",
    "browse": "Browse Channels",
    "guide": "Server Guide",
    "home": "Server Guide",
    "linked-roles": "Linked Roles",
}
_DATE_FORMATS: Final = {
    "t": "{0:%H:%M} UTC",
    "T": "{0:%H:%M:%S} UTC",
    "d": "{0:%d/%m/%Y}",
    "D": "{0.day} {0:%B %Y}",
    "f": "{0.day} {0:%B %Y %H:%M} UTC",
    "F": "{0:%A}, {0.day} {0:%B %Y %H:%M} UTC",
    "s": "{0:%d/%m/%Y, %H:%M} UTC",
    "S": "{0:%d/%m/%Y, %H:%M:%S} UTC",
}
_UNITS: Final = (
    ("year", 31_536_000),
    ("month", 2_592_000),
    ("day", 86_400),
    ("hour", 3_600),
    ("minute", 60),
    ("second", 1),
)


def replace_markup(text: str, written_at: datetime) -> str:
    """Return the text with custom emoji, timestamps, commands and links as Discord shows them.

    Relative timestamps count from `written_at`. Code stays as it is. Times are in UTC, because
    each reader sees their own time zone.
    """

    def replace(part: str) -> str:
        part = _EMOJI.sub(r"\1", part)
        part = _TIMESTAMP.sub(lambda match: _format_timestamp(match, written_at), part)
        part = _COMMAND.sub(r"\1", part)
        part = _NAVIGATION.sub(lambda match: _NAVIGATION_LABELS[match[1]], part)
        return _LINK.sub(r"\1", part)

    return _replace_outside_code(text, replace)


def find_mentioned_users(text: str) -> list[int]:
    """Return the ids of the users that a text mentions, each once."""
    mentions = _MENTION.finditer(_CODE.sub("", text))
    return list(dict.fromkeys(int(one[2]) for one in mentions if one[1] in ("@", "@!")))


def replace_mentions(text: str, guild: discord.Guild, names: Mapping[int, str]) -> str:
    """Return the text with mentions as names. `names` are the names of users by their ids.

    For the options of commands, because Discord does not resolve the mentions in them.
    """

    def name(match: re.Match[str]) -> str:
        kind = match[1]
        target_id = int(match[2])
        if kind == "@&":
            role = guild.get_role(target_id)
            return f"@{role.name}" if role else "@deleted-role"
        if kind == "#":
            channel = guild.get_channel_or_thread(target_id)
            return f"#{channel.name}" if channel else "#unknown"
        return f"@{names.get(target_id, 'unknown-user')}"

    return _replace_outside_code(text, lambda part: _MENTION.sub(name, part))


def _replace_outside_code(text: str, replace: Callable[[str], str]) -> str:
    parts, end = [], 0
    for code in _CODE.finditer(text):
        parts += [replace(text[end : code.start()]), code[0]]
        end = code.end()
    return "".join((*parts, replace(text[end:])))


def _format_timestamp(match: re.Match[str], written_at: datetime) -> str:
    try:
        moment = datetime.fromtimestamp(0, UTC) + timedelta(seconds=int(match[1]))
    except OverflowError:  # Discord shows a timestamp that is out of range as text
        return match[0]
    if match[2] == "R":
        return _format_distance((moment - written_at).total_seconds())
    return _DATE_FORMATS[match[2] or "f"].format(moment)


def _format_distance(seconds: float) -> str:
    unit, length = next((unit for unit in _UNITS if abs(seconds) >= unit[1]), _UNITS[-1])
    count = round(abs(seconds) / length)
    words = f"{count} {unit}{'' if count == 1 else 's'}"
    return f"in {words}" if seconds > 0 else f"{words} ago"
