"""The opening post of a scene and the greeting to its game master."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import discord

from bot.posting.escaping import disable_mentions, escape_name
from bot.posting.graphemes import shorten, utf16_length
from bot.posting.render import EMBED_LIMIT
from bot.posting.speech_markdown import parse_speech
from bot.posting.split import FormattedRun, split_into_messages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.scenes.scene import Part, Scene

FIELD_LIMIT: Final = 1_024
"""The length of an embed's field that Discord allows."""

_TITLE_LIMIT = 256
_MAX_CAST_FIELDS = 2  # keeps the embeds of a message below 6,000 characters
_HOW_TO_PLAY = """\
Speak to a character by name, `@{example} Good evening!`, or reply to one of its posts.
`/cast join` lets you play a part yourself; without one you speak under your own name.
`((…))` and `//…` are out of character. No character hears them."""


def build_embeds(scene: Scene) -> list[discord.Embed]:
    """Return the opening as embeds, each for a message of its own.

    They contain the setting, the cast and how to play.
    """
    scenario = scene.scenario
    source = (
        f"{escape_name(scenario.book)} · {escape_name(scenario.author)}"
        if scenario.author
        else escape_name(scenario.book)
    )
    story = split_into_messages(
        [FormattedRun(f"-# {source}\n\n"), *parse_speech(scenario.opening or scenario.setting)],
        EMBED_LIMIT // 2,
    )
    posts = [discord.Embed(description=text) for text in story]
    posts[0].title = shorten(escape_name(scenario.title), _TITLE_LIMIT)
    for number, lines in enumerate(
        join_lines([format_part(part) for part in scene.parts], FIELD_LIMIT, _MAX_CAST_FIELDS)
    ):
        posts[-1].add_field(name="Cast" if number == 0 else "\u200b", value=lines, inline=False)
    posts[-1].add_field(name="How to play", value=_format_how_to_play(scene.parts), inline=False)
    return posts


def format_part(part: Part) -> str:
    """Return one line with a character and who plays it.

    The line mentions the player. It must be sent without pings, like everything of Aside's.
    """
    player = f" · played by <@{part.player_id}>" if part.player_id is not None else ""
    own = f" · own character of <@{part.own.owner_id}>" if part.own is not None else ""
    state = " · rests" * part.rests + " · off stage" * part.absent
    return f"**{escape_name(part.character)}**{player}{own}{state}"


def format_gm_greeting(scene: Scene) -> str:
    """Return the first direct message to a game master."""
    return (
        f"You direct **{escape_name(scene.scenario.title)}** in <#{scene.place.channel_id}>."
        " The characters' thoughts and the model's plans for them arrive here. `/reveal` changes"
        " that."
    )


def join_lines(lines: Sequence[str], limit: int, max_texts: int) -> list[str]:
    """Return lines joined into at most `max_texts` texts of at most `limit` UTF-16 units.

    If lines are left out, the last text ends with their number.
    """
    texts: list[str] = []
    for number, line in enumerate(lines):
        rest = f"… and {len(lines) - number} more"
        if texts and utf16_length(texts[-1]) + utf16_length(line) + len(rest) + 2 <= limit:
            texts[-1] += f"\n{line}"
        elif len(texts) < max_texts:
            texts.append(line)
        else:
            texts[-1] += f"\n{rest}"
            break
    return texts


def _format_how_to_play(parts: Sequence[Part]) -> str:
    example = next((part.character for part in parts if part.by_model), "Name")
    return disable_mentions(_HOW_TO_PLAY.format(example=example.replace("`", "'")))
