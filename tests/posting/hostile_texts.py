"""Texts that are hard to escape and split."""

from __future__ import annotations

import re

from hypothesis import settings
from hypothesis import strategies as st

MARKS = [
    *(
        "*",
        "**",
        "***",
        "_",
        "__",
        "~~",
        "`",
        "``",
        "```",
        "|",
        "||",
        "\\",
        "[",
        "](https://a.example)",
        "<",
        ">",
    ),
    *(
        "\n",
        "\n\n",
        " ",
        "  ",
        "# ",
        "> ",
        ">>> ",
        "- ",
        "-# ",
        "1. ",
        "```py\n",
        "\n```",
        "\u200b",
        "\u200d",
    ),
    *(
        "@everyone",
        "@here",
        "<@123456789012345678>",
        "<@&5>",
        "<#7>",
        "<t:0:R>",
        "</scene start:9>",
        "<id:home>",
    ),
    *(
        "https://a.example/x||y_z",
        "👩‍👩‍👧",
        "🇬🇧",
        "é",
        "漢字",
        "。",
        "…",
        ". ",
        "! ",
        "\ud800",
        "\x00",
        "\r\n",
    ),
]
WORDS = ["night", "Bennet", "sister", "x", "marry", "Longbourn"]

some = settings(max_examples=60, deadline=None)
"""Hypothesis settings. There is no deadline because the machine may be busy."""

pieces = st.sampled_from(MARKS) | st.sampled_from(WORDS) | st.text(max_size=3)
marked = st.lists(pieces, max_size=40).map("".join)
words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=900).map(" ".join)


def bare(text: str) -> str:
    """Return the letters and digits of a text, which escaping and cutting must keep."""
    return "".join(re.findall(r"[^\W_]", text))
