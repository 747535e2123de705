"""Application commands that a bot registers globally or for one server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import payloads
from ..conversation import AppCommand
from ..refusals import Refusal
from ..router import Answer, Call, route
from ..rules import refuse
from ..rules.command_rules import check_command, check_commands

if TYPE_CHECKING:
    from ..entities import Guild, Json

EVERYWHERE = "/applications/{application_id}/commands"
IN_GUILD = "/applications/{application_id}/guilds/{guild_id}/commands"


@route("GET", EVERYWHERE)
def list_commands(call: Call) -> Answer:
    return _list(call, None)


@route("GET", IN_GUILD)
def list_guild_commands(call: Call) -> Answer:
    return _list(call, call.guild())


@route("PUT", EVERYWHERE)
def sync_commands(call: Call) -> Answer:
    return _sync(call, None)


@route("PUT", IN_GUILD)
def sync_guild_commands(call: Call) -> Answer:
    return _sync(call, call.guild())


@route("POST", EVERYWHERE, status=201)
def create_command(call: Call) -> Answer:
    return _create(call, None)


@route("POST", IN_GUILD, status=201)
def create_guild_command(call: Call) -> Answer:
    return _create(call, call.guild())


@route("GET", EVERYWHERE + "/{command_id}")
def get_command(call: Call) -> Answer:
    return payloads.command(_command(call), call.world.bot.id)


@route("PATCH", EVERYWHERE + "/{command_id}")
def edit_command(call: Call) -> Answer:
    command = _command(call)
    changed = command.data | call.body
    refuse(check_command(changed))
    command.data = changed
    command.version = call.world.clock.snowflake()
    return payloads.command(command, call.world.bot.id)


@route("DELETE", EVERYWHERE + "/{command_id}")
def delete_command(call: Call) -> Answer:
    del call.world.commands[_command(call).id]
    return None


@route("GET", IN_GUILD + "/permissions")
def list_command_permissions(_call: Call) -> Answer:
    return []


def _of(call: Call, guild: Guild | None) -> list[AppCommand]:
    return [each for each in call.world.commands.values() if each.guild is guild]


def _list(call: Call, guild: Guild | None) -> Answer:
    return [payloads.command(each, call.world.bot.id) for each in _of(call, guild)]


def _sync(call: Call, guild: Guild | None) -> Answer:
    """Replace the whole set. A command that keeps its name keeps its id."""
    refuse(check_commands(call.items))
    before = {(each.kind, each.name): each for each in _of(call, guild)}
    for command in before.values():
        del call.world.commands[command.id]
    for data in call.items:
        _enter(call, guild, data, before.get((data.get("type") or 1, data["name"])))
    return _list(call, guild)


def _create(call: Call, guild: Guild | None) -> Answer:
    refuse(check_command(call.body))
    key = (call.body.get("type") or 1, call.body["name"])
    before = {(each.kind, each.name): each for each in _of(call, guild)}
    return payloads.command(_enter(call, guild, call.body, before.get(key)), call.world.bot.id)


def _enter(call: Call, guild: Guild | None, data: Json, before: AppCommand | None) -> AppCommand:
    new_id = call.world.clock.snowflake()
    version = call.world.clock.snowflake()
    if before:
        new_id, version = before.id, before.version if before.data == data else version
    command = AppCommand(new_id, data, version, guild)
    call.world.commands[command.id] = command
    return command


def _command(call: Call) -> AppCommand:
    command = call.world.commands.get(call.number("command_id"))
    if command is None:
        raise Refusal(10063)
    return command
