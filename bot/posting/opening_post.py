"""How a scene begins: the opening post, and what its game master is told in private."""

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
"""How wide a field of an embed may be."""

_TITLE_LIMIT = 256
_MOST_FIELDS = 2  # of the cast; with the rest they stay below the 6,000 of all embeds of a message
_HOW_TO_PLAY = """\
Speak to a character by name, `@{example} Good evening!`, or reply to one of its posts.
`/cast join` lets you play a part yourself; without one you speak under your own name.
`((…))` and `//…` are out of character: nobody on stage hears them."""


def build_embeds(scene: Scene) -> list[discord.Embed]:
    """Return the opening as embeds, each a message of its own: the scene, who plays whom, how to play."""
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
        join_lines([format_part(part) for part in scene.parts], FIELD_LIMIT, _MOST_FIELDS)
    ):
        posts[-1].add_field(name="Cast" if number == 0 else "\u200b", value=lines, inline=False)
    posts[-1].add_field(name="How to play", value=_how_to_play(scene.parts), inline=False)
    return posts


def format_part(part: Part) -> str:
    """Return who plays one character, as a line. A player is named, and not pinged: nothing of ours may ping."""
    player = f" · played by <@{part.player_id}>" if part.player_id is not None else ""
    return f"**{escape_name(part.character)}**{player}{' · rests' * part.rests}{' · off stage' * part.absent}"


def format_gm_greeting(scene: Scene) -> str:
    """Return what a new game master reads in private."""
    return (
        f"You direct **{escape_name(scene.scenario.title)}** in <#{scene.place.channel_id}>. What its characters think and how"
        " the model plans to play them comes here, unless you say otherwise with `/reveal`."
    )


def join_lines(lines: Sequence[str], limit: int, most: int) -> list[str]:
    """Return lines joined into at most `most` texts within `limit`. What is left out is counted at the end."""
    texts: list[str] = []
    for number, line in enumerate(lines):
        rest = f"… and {len(lines) - number} more"
        if texts and utf16_length(texts[-1]) + utf16_length(line) + len(rest) + 2 <= limit:
            texts[-1] += f"\n{line}"
        elif len(texts) < most:
            texts.append(line)
        else:
            texts[-1] += f"\n{rest}"
            break
    return texts


def _how_to_play(parts: Sequence[Part]) -> str:
    example = next((part.character for part in parts if part.by_model), "Name")
    return disable_mentions(_HOW_TO_PLAY.format(example=example.replace("`", "'")))
