"""`aside render`: what becomes of a model's reply, for whom."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.console.shared_options import write_json
from bot.scenes.reveal import Audience, Destination, RevealPolicy

if TYPE_CHECKING:
    from bot.her.reply_parser import ParsedReply

_DEFAULT = RevealPolicy()


def render(
    character: Annotated[str, typer.Option(metavar="NAME", help="Who replies.")] = "Character",
    cast: Annotated[str, typer.Option(metavar="NAME,NAME…", help="Who else is in the scene.")] = "",
    thoughts: Annotated[
        Destination, typer.Option(help="Where the character's thoughts go.")
    ] = _DEFAULT.thoughts,
    planning: Annotated[
        Destination, typer.Option(help="Where the model's planning goes.")
    ] = _DEFAULT.planning,
    chunk: Annotated[
        int | None, typer.Option(min=1, help="Characters fed to the parser at a time; all at once.")
    ] = None,
) -> None:
    """Show what becomes of a raw reply on standard input: what is posted in the channel, what the game master gets,
    and what stands in the histories of the character and of the others. JSON."""
    from bot.her.layout import format_others_history, format_own_history
    from bot.posting.render import plain_text, render_gm_messages, render_public_messages

    raw = sys.stdin.buffer.read().decode("utf-8", "replace")
    others = tuple(name for one in cast.split(",") if (name := one.strip()))
    reply = _parse(raw, character, others, chunk)
    policy = RevealPolicy(thoughts, planning)
    write_json(
        {
            "public": [
                plain_text(message) for message in render_public_messages(policy.shown(reply.beats))
            ],
            "gm": [
                plain_text(message)
                for message in render_gm_messages(character, policy.freed(reply.beats, Audience.GM))
            ],
            "own_history": format_own_history(character, reply.beats),
            "others_history": format_others_history(character, reply.beats, others),
            "closed": reply.closed,
        }
    )


def _parse(raw: str, character: str, others: tuple[str, ...], chunk: int | None) -> ParsedReply:
    from bot.her.reply_parser import ReplyParser

    parser = ReplyParser(character, others, prefilled=False)
    size = chunk or max(1, len(raw))
    for start in range(0, len(raw), size):
        parser.feed(raw[start : start + size])
    return parser.close()
