"""Discord's markup as people see it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from cogs.message_text import replace_markup

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
STAMP = int(NOON.timestamp())


@pytest.mark.parametrize(
    ("raw", "seen"),
    [
        ("Hello <:wave:1234567890123456789>!", "Hello :wave:!"),
        ("<a:dance:1234567890123456789><:wave:1234567890123456789>", ":dance::wave:"),
        (f"At <t:{STAMP}>", "At 1 December 2026 12:00 UTC"),
        (f"<t:{STAMP}:t>", "12:00 UTC"),
        (f"<t:{STAMP}:T>", "12:00:00 UTC"),
        (f"<t:{STAMP}:d>", "01/12/2026"),
        (f"<t:{STAMP}:D>", "1 December 2026"),
        (f"<t:{STAMP}:F>", "Tuesday, 1 December 2026 12:00 UTC"),
        (f"<t:{STAMP + 7200}:R>", "in 2 hours"),
        (f"<t:{STAMP - 86400}:R>", "1 day ago"),
        ("<t:-86400:D>", "31 December 1969"),
        ("Use </gm narrate:1234567890123456789>", "Use /gm narrate"),
        ("See <id:guide> and <id:customize>", "See Server Guide and Channels & Roles"),
        ("<id:linked-roles:1234567890123456789>", "Linked Roles"),
        ("<https://example.org/a?b=c>", "https://example.org/a?b=c"),
    ],
)
def test_markup_reads_as_discord_shows_it(raw: str, seen: str) -> None:
    assert replace_markup(raw, NOON) == seen


@pytest.mark.parametrize(
    "text",
    [
        "`<:wave:1234567890123456789>`",
        "```\n<t:0:R>\n```",
        "<t:99999999999999:R>",
        "<t:9999999999999>",
        "<:x:1>",
        "<id:nowhere>",
        "a < b and c > d",
        "<script:alert>",
    ],
)
def test_code_and_unknown_markup_stay_as_they_are(text: str) -> None:
    assert replace_markup(text, NOON) == text
