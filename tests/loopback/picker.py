"""The checks of Discord's client before it sends an interaction.

It finds the command, and checks and resolves the options.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import payloads
from .computed_permissions import in_channel
from .entities import THREADS, Channel, DiscordRole, User
from .routes.drafts import attachment
from .rules.command_rules import (
    ATTACHMENT,
    BOOLEAN,
    CHAT,
    GROUP,
    INTEGER,
    NUMBER,
    STRING,
    SUBCOMMAND,
)

if TYPE_CHECKING:
    from .conversation import AppCommand
    from .entities import Json
    from .world import World

ADMINISTRATOR = 1 << 3
LONGEST_OPTION = 6000
PLAIN = {STRING: (str,), INTEGER: (int,), BOOLEAN: (bool,), NUMBER: (int, float)}


class NotOffered(AssertionError):
    """Discord's client would not offer this command, option or value to this person."""


@dataclass(slots=True)
class Picked:
    """A command with its options, ready to send."""

    data: Json
    resolved: Json = field(default_factory=dict)


def list_commands(world: World, user: User, channel: Channel, kind: int = CHAT) -> list[AppCommand]:
    """Return the commands that Discord offers to `user` in `channel`, the server's own first."""
    there = [
        each
        for each in world.commands.values()
        if each.kind == kind and each.guild in {None, channel.guild}
    ]
    mine = [each for each in there if _is_for(each, world, user, channel)]
    return sorted(mine, key=lambda each: each.guild is None)


def _is_for(command: AppCommand, world: World, user: User, channel: Channel) -> bool:
    data = command.data
    contexts = data.get("contexts")
    if channel.is_dm:
        return data.get("dm_permission", True) is not False and (contexts is None or 1 in contexts)
    if contexts is not None and 0 not in contexts:
        return False
    allowed = in_channel(user, channel, world.clock.now())
    needed = data.get("default_member_permissions")
    if (
        needed is not None
        and not allowed & ADMINISTRATOR
        and (int(needed) == 0 or int(needed) & ~allowed)
    ):
        return False
    place = channel.parent if channel.kind in THREADS and channel.parent else channel
    return bool(
        world.may(user, "use_application_commands", channel)
        and (place.nsfw or not data.get("nsfw"))
    )


def find(world: World, user: User, channel: Channel, name: str, kind: int = CHAT) -> AppCommand:
    """Return the command that `user` is offered under `name`."""
    commands = list_commands(world, user, channel, kind)
    for each in commands:
        if each.name == name:
            return each
    names = ", ".join(sorted(each.name for each in commands)) or "none"
    raise NotOffered(
        f"{user.display_name} is not offered {name!r} in {channel.name}; offered: {names}"
    )


def pick(
    world: World, user: User, channel: Channel, line: str, options: Json, *, focused: str = ""
) -> Picked:
    """Return the interaction's data for a command line.

    `line` is the command as typed ("scene start"). `options` are its options by name. `focused`
    is the option that the person is typing.
    """
    first, *rest = line.removeprefix("/").split()
    command = find(world, user, channel, first)
    level, path = command.data, []
    for word in rest:
        inside = {
            each["name"]: each
            for each in level.get("options") or []
            if each["type"] in {SUBCOMMAND, GROUP}
        }
        if word not in inside:
            raise NotOffered(
                f"/{line}: there is no {word!r}, only {', '.join(inside) or 'options'}"
            )
        level = inside[word]
        path.append(level)
    specs: list[Json] = level.get("options") or []
    if specs and specs[0]["type"] in {SUBCOMMAND, GROUP}:
        raise NotOffered(
            f"/{line} needs one of {', '.join(each['name'] for each in specs)} after it"
        )
    picked = Picked({"id": str(command.id), "name": command.name, "type": CHAT})
    values = _fill(picked, world, channel, line, specs, options, focused)
    for each in reversed(path):
        values = [{"name": each["name"], "type": each["type"], "options": values}]
    picked.data["options"] = values
    if command.guild:
        picked.data["guild_id"] = str(command.guild.id)
    if picked.resolved:
        picked.data["resolved"] = picked.resolved
    return picked


def _fill(
    picked: Picked,
    world: World,
    channel: Channel,
    line: str,
    specs: list[Json],
    options: Json,
    focused: str,
) -> list[Json]:
    """Return the options in the command's order. The one being typed may have any value."""
    names = {each["name"] for each in specs}
    given = {_python_name(name, names): value for name, value in options.items()}
    needed = set() if focused else {each["name"] for each in specs if each.get("required")}
    if given.keys() - names or needed - given.keys():
        unknown = sorted(given.keys() - names)
        missing = sorted(needed - given.keys())
        raise NotOffered(f"/{line}: unknown options {unknown}, missing options {missing}")
    filled: list[Json] = []
    for spec in (each for each in specs if each["name"] in given):
        option: Json = {"name": spec["name"], "type": spec["type"], "value": given[spec["name"]]}
        if spec["name"] == _python_name(focused, names):
            option["focused"] = True
        else:
            option["value"] = _value(picked, world, channel, spec, option["value"])
        filled.append(option)
    return filled


def _python_name(name: str, names: set[str]) -> str:
    """Return the Python name of an option, without hyphens."""
    return name if name in names else name.replace("_", "-")


def _value(picked: Picked, world: World, channel: Channel, spec: Json, value: Any) -> Any:
    """Return one option's value as Discord sends it.

    Raise NotOffered if the client would refuse it.
    """
    if spec["type"] in PLAIN:
        return _plain(spec, value)
    if spec["type"] == ATTACHMENT:
        return attach_file(picked, world, channel, *value)
    thing = getattr(value, "user", value)
    resolve(picked.resolved, world, channel, thing)
    return str(thing.id)


def attach_file(
    picked: Picked, world: World, channel: Channel, filename: str, content: bytes
) -> str:
    """Upload a file for an interaction and return its id."""
    sent = attachment(world.clock.snowflake(), channel, filename, content, world.files)
    picked.resolved.setdefault("attachments", {})[sent["id"]] = sent | {"ephemeral": True}
    return str(sent["id"])


def _plain(spec: Json, value: Any) -> Any:
    by_name = {each["name"]: each["value"] for each in spec.get("choices") or []}
    chosen = by_name.get(value, value)
    if not _fits(spec, chosen) or (by_name and chosen not in by_name.values()):
        raise NotOffered(f"option {spec['name']} can't be {value!r}")
    return chosen


def _fits(spec: Json, value: Any) -> bool:
    if type(value) not in PLAIN[spec["type"]]:
        return False
    if isinstance(value, bool):
        return True
    size, unit, most = (
        (len(value), "length", LONGEST_OPTION)
        if isinstance(value, str)
        else (value, "value", value)
    )
    return bool(spec.get(f"min_{unit}", size) <= size <= spec.get(f"max_{unit}", most))


def resolve(
    resolved: Json, world: World, channel: Channel, thing: User | DiscordRole | Channel
) -> None:
    """Describe a user, role or channel in `resolved`, as Discord does beside the bare ids."""
    if isinstance(thing, User):
        resolved.setdefault("users", {})[str(thing.id)] = payloads.user(thing)
        member = channel.guild.members.get(thing.id) if channel.guild else None
        if member:
            rights = in_channel(thing, channel, world.clock.now())
            data = payloads.member(member, permissions=rights, with_user=False)
            resolved.setdefault("members", {})[str(thing.id)] = data
    elif isinstance(thing, DiscordRole):
        resolved.setdefault("roles", {})[str(thing.id)] = payloads.role(thing)
    elif isinstance(thing, Channel):
        rights = in_channel(world.bot, thing, world.clock.now())
        resolved.setdefault("channels", {})[str(thing.id)] = payloads.channel(thing) | {
            "permissions": str(rights)
        }
    else:
        raise NotOffered(f"{thing!r} is no person, role or channel")
