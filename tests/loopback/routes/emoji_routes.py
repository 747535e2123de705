"""The emoji of the bot's application."""

from __future__ import annotations

import base64

from ..conversation import ApplicationEmoji
from ..refusals import Refusal
from ..router import Answer, Call, route
from ..rules import length_faults, refuse

LARGEST = 256 * 1024
PATH = "/applications/{application_id}/emojis"


@route("GET", PATH)
def list_emojis(call: Call) -> Answer:
    return {"items": [_payload(each) for each in call.world.emojis.values()]}


@route("POST", PATH, status=201)
def create_emoji(call: Call) -> Answer:
    refuse(list(length_faults(call.body, "name", 32, least=2)))
    image = base64.b64decode(call.body["image"].partition(",")[2])
    if len(image) > LARGEST:
        raise Refusal(50138)
    if len(call.world.emojis) >= call.world.most_emojis:
        raise Refusal(30008)
    emoji = ApplicationEmoji(call.world.clock.snowflake(), call.body["name"], image)
    call.world.emojis[emoji.id] = emoji
    return _payload(emoji)


@route("GET", PATH + "/{emoji_id}")
def get_emoji(call: Call) -> Answer:
    return _payload(_find(call))


@route("DELETE", PATH + "/{emoji_id}", status=204)
def delete_emoji(call: Call) -> Answer:
    del call.world.emojis[_find(call).id]
    return None


def _find(call: Call) -> ApplicationEmoji:
    if (emoji := call.world.emojis.get(call.number("emoji_id"))) is None:
        raise Refusal(10014)
    return emoji


def _payload(emoji: ApplicationEmoji) -> dict[str, object]:
    return {
        "id": str(emoji.id),
        "name": emoji.name,
        "roles": [],
        "require_colons": True,
        "managed": False,
        "animated": False,
        "available": True,
    }
