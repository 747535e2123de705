"""The bot's own reactions: adding and removing them."""

from __future__ import annotations

from urllib.parse import unquote

from ..router import Answer, Call, route
from ..world import Event
from .message_routes import refuse_if_archived

OWN = "/channels/{channel_id}/messages/{message_id}/reactions/{emoji}/@me"


@route("PUT", OWN)
def add_reaction(call: Call) -> Answer:
    channel = call.channel()
    call.require("add_reactions read_message_history", channel)
    refuse_if_archived(channel)
    _announce(call, "MESSAGE_REACTION_ADD")
    by = call.message(channel).reactions.setdefault(unquote(call.ids["emoji"]), [])
    if call.world.bot not in by:
        by.append(call.world.bot)
    return None


@route("DELETE", OWN)
def remove_reaction(call: Call) -> Answer:
    channel = call.channel()
    refuse_if_archived(channel)
    _announce(call, "MESSAGE_REACTION_REMOVE")
    reactions = call.message(channel).reactions
    emoji = unquote(call.ids["emoji"])
    if call.world.bot in reactions.get(emoji, []):
        reactions[emoji].remove(call.world.bot)
    return None


def _announce(call: Call, name: str) -> None:
    channel = call.channel()
    world = call.world
    data = {
        "user_id": str(world.bot.id),
        "channel_id": str(channel.id),
        "message_id": str(call.message(channel).id),
        "emoji": {"id": None, "name": unquote(call.ids["emoji"])},
        "type": 0,
        "burst": False,
    }
    if channel.guild:
        data["guild_id"] = str(channel.guild.id)
    world.announce(Event(name, data, channel.guild, channel))
