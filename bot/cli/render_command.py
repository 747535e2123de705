"""`aside render`: show how a raw reply is split into public and private parts."""

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
    character: Annotated[
        str, typer.Option(metavar="NAME", help="The character who replies.")
    ] = "Character",
    cast: Annotated[
        str, typer.Option(metavar="NAME,NAME…", help="The other characters of the scene.")
    ] = "",
    thoughts: Annotated[
        Destination, typer.Option(help="Who sees the character's thoughts.")
    ] = _DEFAULT.thoughts,
    planning: Annotated[
        Destination, typer.Option(help="Who sees the model's planning.")
    ] = _DEFAULT.planning,
    chunk: Annotated[
        int | None,
        typer.Option(
            min=1, help="Feed the parser this many characters at a time (default: all at once)."
        ),
    ] = None,
) -> None:
    """Print the parts of a raw reply as JSON. Read the reply from standard input.

    The parts are the posts in the channel, the messages to the game master, and the reply in the
    character's own history and in the others' histories.
    """
    from bot.her.layout import format_others_history, format_own_history
    from bot.posting.render import plain_text, render_gm_messages, render_public_messages

    raw = sys.stdin.buffer.read().decode("utf-8", "replace")
    others = tuple(name for one in cast.split(",") if (name := one.strip()))
    reply = _parse(raw, character, others, chunk)
    policy = RevealPolicy(thoughts, planning)
    write_json(
        {
            "public": [
                plain_text(message)
                for message in render_public_messages(policy.select_for_channel(reply.beats))
            ],
            "gm": [
                plain_text(message)
                for message in render_gm_messages(
                    character, policy.release(reply.beats, Audience.GM)
                )
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
