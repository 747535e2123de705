"""The bot's own account, its application, DMs, and the gateway's address."""

from __future__ import annotations

from .. import payloads
from ..gateway import application_flags
from ..refusals import Refusal, form_error
from ..router import Answer, Call, route


@route("GET", "/users/@me")
def get_own_user(call: Call) -> Answer:
    return payloads.user(call.world.bot) | {
        "verified": True,
        "mfa_enabled": False,
        "email": None,
        "locale": "en-US",
    }


@route("PATCH", "/users/@me")
def edit_own_user(call: Call) -> Answer:
    bot = call.world.bot
    bot.name = call.body.get("username") or bot.name
    bot.avatar = "uploaded" if call.body.get("avatar") else bot.avatar
    return payloads.user(bot)


@route("GET", "/users/{user_id}")
def get_user(call: Call) -> Answer:
    user = call.world.users.get(call.number("user_id"))
    if user is None:
        raise Refusal(10013)
    return payloads.user(user)


@route("GET", "/users/@me/guilds")
def list_own_guilds(call: Call) -> Answer:
    mine = [each for each in call.world.guilds.values() if call.world.bot.id in each.members]
    return [
        {"id": str(each.id), "name": each.name, "owner": False, "features": []} for each in mine
    ]


@route("DELETE", "/users/@me/guilds/{guild_id}")
def leave_guild(call: Call) -> Answer:
    call.world.leave(call.guild(), call.world.bot)
    return None


@route("POST", "/users/@me/channels")
def open_dm(call: Call) -> Answer:
    user = call.world.users.get(int(call.body["recipient_id"]))
    if user is None or user.bot:
        raise form_error("recipient_id", "INVALID_RECIPIENT", "Invalid Recipient(s)")
    return payloads.channel(call.world.dm(user))


@route("GET", "/gateway")
def get_gateway(_call: Call) -> Answer:
    return {"url": "wss://gateway.discord.gg"}


@route("GET", "/gateway/bot")
def get_bot_gateway(_call: Call) -> Answer:
    limit = {"total": 1000, "remaining": 999, "reset_after": 14_400_000, "max_concurrency": 1}
    return {"url": "wss://gateway.discord.gg", "shards": 1, "session_start_limit": limit}


@route("GET", "/oauth2/applications/@me")
def get_own_application(call: Call) -> Answer:
    return get_application(call)


@route("GET", "/applications/{application_id}")
def get_application(call: Call) -> Answer:
    world = call.world
    owner = next(iter(world.guilds.values())).owner if world.guilds else world.bot
    return {
        "id": str(world.bot.id),
        "name": world.bot.display_name,
        "description": "",
        "icon": None,
        "type": None,
        "flags": application_flags(world),
        "flags_new": str(application_flags(world)),
        "bot": payloads.user(world.bot),
        "bot_public": True,
        "bot_require_code_grant": False,
        "verify_key": "0" * 64,
        "rpc_origins": [],
        "owner": payloads.user(owner),
        "team": None,
        "tags": [],
        "redirect_uris": [],
        "interactions_endpoint_url": None,
        "role_connections_verification_url": None,
        "approximate_guild_count": len(world.guilds),
        "approximate_user_install_count": 0,
        "approximate_user_authorization_count": 0,
        "eligible_oauth2_scopes": [],
        "integration_types_config": {"0": {}},
        "explicit_content_filter": 0,
        "max_participants": -1,
        "event_webhooks_status": 1,
        "event_webhooks_types": [],
    }


@route("GET", "/applications/{application_id}/emojis")
def list_application_emojis(_call: Call) -> Answer:
    return {"items": []}
