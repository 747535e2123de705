"""Messages, webhooks, commands and interactions as Discord's JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..clock import iso
from ..computed_permissions import bits, in_channel
from ..conversation import EPHEMERAL, InteractionKind
from .people_payloads import member, user
from .place_payloads import channel

if TYPE_CHECKING:
    from ..conversation import AppCommand, DiscordMessage, Interaction, Webhook
    from ..entities import Json, User
    from ..world import World

NO_CONTENT: Json = {"content": "", "embeds": [], "attachments": [], "components": []}


def webhook(what: Webhook, application_id: int) -> Json:
    assert what.channel.guild
    return {
        "id": str(what.id),
        "type": 1,
        "guild_id": str(what.channel.guild.id),
        "channel_id": str(what.channel.id),
        "user": user(what.creator),
        "name": what.name,
        "avatar": what.avatar,
        "token": what.token,
        "application_id": str(application_id) if what.creator.bot else None,
        "url": f"https://discord.com/api/webhooks/{what.id}/{what.token}",
    }


def message(
    what: DiscordMessage, world: World, *, readable: bool = True, nested: bool = False
) -> Json:
    """Return the JSON of a message.

    If it is not `readable`, leave out what the content intent allows.
    """
    now = what.now
    data: Json = {
        "id": str(what.id),
        "channel_id": str(what.channel.id),
        "type": int(what.kind),
        "author": _author(what),
        "content": now.content,
        "embeds": list(now.embeds),
        "components": list(now.components),
        "attachments": list(now.attachments),
        "flags": now.flags,
        "timestamp": iso(what.states[0].at),
        "edited_timestamp": iso(now.at) if len(what.states) > 1 and not what.thinking else None,
        "tts": False,
        "pinned": what.pinned,
        "mention_everyone": what.mention_everyone,
        "mentions": [user(who) for who in what.mentions],
        "mention_roles": [str(each.id) for each in what.mention_roles],
        **what.extra,
    }
    if not readable:
        data |= NO_CONTENT
    if what.interaction:
        data["application_id"] = str(world.bot.id)
    elif what.webhook and what.webhook.creator.bot:
        data["application_id"] = str(what.webhook.creator.id)
    if what.webhook:
        data["webhook_id"] = str(what.webhook.id)
    if what.nonce is not None:
        data["nonce"] = what.nonce
    if what.thread:
        data["thread"] = channel(what.thread)
    if what.interaction:
        data |= _interaction_fields(what.interaction)
    if what.reactions and not nested:
        data["reactions"] = [_reaction(emoji, by, world) for emoji, by in what.reactions.items()]
    if what.reply_to and not nested:
        data |= _reply_fields(what.reply_to, world, readable=readable)
    return data


def _reaction(emoji: str, by: list[User], world: World) -> Json:
    counts = {"count": len(by), "count_details": {"burst": 0, "normal": len(by)}}
    mine = {"me": world.bot in by, "me_burst": False}
    return {"emoji": {"id": None, "name": emoji}, "burst_colors": [], **counts, **mine}


def _author(what: DiscordMessage) -> Json:
    if what.webhook is None:
        return user(what.author)
    account = {
        "id": str(what.webhook.id),
        "username": what.name,
        "discriminator": "0000",
        "global_name": None,
    }
    account["primary_guild"] = None
    return account | {
        "avatar": what.avatar_url and "from-url",
        "bot": True,
        "flags": 0,
        "public_flags": 0,
    }


def _reply_fields(target: DiscordMessage, world: World, *, readable: bool) -> Json:
    reference = {"type": 0, "message_id": str(target.id), "channel_id": str(target.channel.id)}
    if target.channel.guild:
        reference["guild_id"] = str(target.channel.guild.id)
    shown = None if target.deleted else message(target, world, readable=readable, nested=True)
    return {"message_reference": reference, "referenced_message": shown}


def _interaction_fields(what: Interaction) -> Json:
    metadata: Json = {
        "id": str(what.id),
        "type": int(what.kind),
        "user": user(what.user),
        "authorizing_integration_owners": {},
    }
    if what.source:
        metadata["interacted_message_id"] = str(what.source.id)
    if what.kind is InteractionKind.MODAL:
        metadata["triggering_interaction_metadata"] = {
            **metadata,
            "type": int(InteractionKind.COMMAND),
        }
    return {"interaction_metadata": metadata}


def command(what: AppCommand, application_id: int) -> Json:
    defaults: Json = {
        "type": 1,
        "description": "",
        "description_localizations": None,
        "name_localizations": None,
        "dm_permission": True,
        "nsfw": False,
        "contexts": None,
        "integration_types": [0],
    }
    own: Json = {
        "id": str(what.id),
        "application_id": str(application_id),
        "version": str(what.version),
    }
    permissions = what.data.get("default_member_permissions")
    own["default_member_permissions"] = None if permissions is None else str(permissions)
    if what.guild:
        own["guild_id"] = str(what.guild.id)
    given = {key: value for key, value in what.data.items() if value is not None}
    return defaults | given | own


def _interaction_channel(what: Interaction, world: World, app_permissions: int) -> Json:
    """The channel of an interaction. A bot that can't see it does not learn its name."""
    where = what.channel
    granted = in_channel(what.user, where, world.clock.now())
    data = channel(where) | {"permissions": str(granted)}
    if not where.is_dm and not app_permissions & bits("view_channel"):
        data["name"] = "___hidden___"
    return data


def interaction(what: Interaction, world: World) -> Json:
    """Return the JSON of an interaction for the gateway."""
    now = world.clock.now()
    where = what.channel
    app_permissions = in_channel(world.bot, where, now)
    data: Json = {
        "id": str(what.id),
        "application_id": str(world.bot.id),
        "type": int(what.kind),
        "token": what.token,
        "version": 1,
        "data": what.data,
        "channel_id": str(where.id),
        "channel": _interaction_channel(what, world, app_permissions),
        "app_permissions": str(app_permissions),
        "locale": what.user.locale,
        "entitlements": [],
        "entitlement_sku_ids": [],
        "authorizing_integration_owners": {"0": str(where.guild.id) if where.guild else "0"},
        "context": 1 if where.is_dm else 0,
        "attachment_size_limit": 10 * 1024 * 1024,
    }
    if where.guild:
        who = where.guild.members[what.user.id]
        data["guild_id"] = str(where.guild.id)
        data["guild"] = {"id": str(where.guild.id), "locale": where.guild.locale, "features": []}
        data["guild_locale"] = where.guild.locale
        data["member"] = member(who, permissions=in_channel(what.user, where, now))
    else:
        data["user"] = user(what.user)
    if what.source:
        data["message"] = message(what.source, world)
        if what.source.only_for:
            data["message"]["flags"] |= EPHEMERAL
    return data
