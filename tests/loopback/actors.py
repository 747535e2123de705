"""What a person does on Discord, and what they see."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from . import payloads
from .conversation import DiscordMessage, InteractionKind, strings, walk_components
from .outcome import Choice, Outcome
from .picker import NotOffered, Picked, attach_file, find, pick, resolve
from .rules.command_rules import MESSAGE, USER
from .rules.component_rules import BUTTON, FILE_UPLOAD, LABEL, LINK, ROW, SELECT
from .writing_account import WritingAccount

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .entities import Channel, DiscordRole, Json


class Person(WritingAccount):
    """A person with a client.

    Methods that wait for the bot are coroutines. The others act at once.
    """

    # Commands, buttons, forms

    async def slash(self, channel: Channel, line: str, /, **options: Any) -> Outcome:
        """Use a command, for example `slash(stage, "scene start", scenario="emma")`.

        Options are text, numbers, people, roles, channels, or files as `("letter.txt",
        b"Dear sir")`.
        """
        picked = pick(self._world, self.user, channel, line, options)
        return await self._interact(InteractionKind.COMMAND, channel, picked.data)

    async def autocomplete(self, channel: Channel, line: str, /, **options: Any) -> list[Choice]:
        """Return the choices offered while the person types the last of `options`."""
        picked = pick(self._world, self.user, channel, line, options, focused=list(options)[-1])
        outcome = await self._interact(InteractionKind.AUTOCOMPLETE, channel, picked.data)
        if outcome.failed:
            raise AssertionError("Loading options failed")
        return [Choice(each["name"], each["value"]) for each in outcome.interaction.choices or []]

    async def context_menu(
        self, target: DiscordMessage | Person, name: str, *, channel: Channel | None = None
    ) -> Outcome:
        """Use a command from the menu of a message, or of a person in `channel`."""
        resolved: Json = {}
        if isinstance(target, DiscordMessage):
            place, kind = target.channel, MESSAGE
            resolved["messages"] = {str(target.id): payloads.message(target, self._world)}
        else:
            assert channel, "say in which channel"
            place, kind = channel, USER
            resolve(resolved, self._world, place, target.user)
        command = find(self._world, self.user, place, name, kind)
        data: Json = {
            "id": str(command.id),
            "name": name,
            "type": kind,
            "target_id": str(target.id),
        }
        return await self._interact(InteractionKind.COMMAND, place, data | {"resolved": resolved})

    async def press(self, message: DiscordMessage, button: str) -> Outcome:
        """Press a button, named by its label or custom id."""
        part = self._component(message, button)
        if part["type"] != BUTTON or part.get("style") == LINK:
            raise NotOffered(f"{button!r} is no button that tells the bot anything")
        data = {"custom_id": part["custom_id"], "component_type": BUTTON, "id": part["id"]}
        return await self._interact(InteractionKind.COMPONENT, message.channel, data, message)

    async def forge(
        self, channel: Channel, custom_id: str, message: DiscordMessage | None = None
    ) -> Outcome:
        """Press a button that is not under `message`, as a forged client does.

        Without a message, submit a form that the bot did not open.
        """
        if message is None:
            return await self._interact(
                InteractionKind.MODAL, channel, {"custom_id": custom_id, "components": []}
            )
        true, button = (
            message.now,
            {"type": BUTTON, "style": 2, "label": "?", "custom_id": custom_id, "id": 99},
        )
        false = replace(
            true, components=(*true.components, {"type": ROW, "id": 98, "components": [button]})
        )
        message.states[-1] = false
        data = {"custom_id": custom_id, "component_type": BUTTON, "id": 99}
        outcome = await self._interact(InteractionKind.COMPONENT, channel, data, message)
        message.states[message.states.index(false)] = true
        return outcome

    async def choose(
        self, message: DiscordMessage, select: str, *values: str | Person | DiscordRole | Channel
    ) -> Outcome:
        """Choose options, people, roles or channels in a menu.

        The menu is named by its placeholder or custom id, an option by its label or value.
        """
        part = self._component(message, select)
        resolved: Json = {}
        chosen = []
        for value in values:
            if isinstance(value, str):
                by_name = {each["label"]: each["value"] for each in part.get("options") or []}
                if part["type"] != SELECT or value not in {*by_name, *by_name.values()}:
                    raise NotOffered(f"the menu has no {value!r}, only {', '.join(by_name)}")
                chosen.append(by_name.get(value, value))
            else:
                thing = value.user if isinstance(value, Person) else value
                resolve(resolved, self._world, message.channel, thing)
                chosen.append(str(thing.id))
        data = {
            "custom_id": part["custom_id"],
            "component_type": part["type"],
            "id": part["id"],
            "values": chosen,
        }
        if resolved:
            data["resolved"] = resolved
        return await self._interact(InteractionKind.COMPONENT, message.channel, data, message)

    async def submit_modal(
        self, outcome: Outcome, fields: Mapping[str, str | tuple[str, bytes]]
    ) -> Outcome:
        """Fill in the form that `outcome` opened and send it.

        Fields are named by label or custom id. A file is given as ("face.png", b"...").
        """
        modal = outcome.modal
        assert modal, "no form is open"
        before = outcome.interaction
        picked = Picked({"custom_id": modal["custom_id"]})

        def attach(file: tuple[str, bytes]) -> str:
            return attach_file(picked, self._world, before.channel, *file)

        data = picked.data
        data["components"] = _fill_in(modal["components"], dict(fields), attach)
        if picked.resolved:
            data["resolved"] = picked.resolved
        return await self._interact(InteractionKind.MODAL, before.channel, data, before.source)

    def _component(self, message: DiscordMessage, name: str) -> Json:
        if not self.can_see(message):
            raise NotOffered(f"{self.name} can't see {message!r}")
        parts = [
            part
            for part in walk_components(message.now.components)
            if part["type"] not in {ROW, LABEL}
        ]
        for part in parts:
            if name in {part.get("label"), part.get("custom_id"), part.get("placeholder")}:
                if part.get("disabled"):
                    raise NotOffered(f"{name!r} is disabled")
                return part
        there = (
            ", ".join(str(part.get("label") or part.get("custom_id")) for part in parts)
            or "nothing"
        )
        raise NotOffered(f"{message!r} has no {name!r}, but {there}")

    async def _interact(
        self,
        kind: InteractionKind,
        channel: Channel,
        data: Json,
        source: DiscordMessage | None = None,
    ) -> Outcome:
        interaction = self._world.interaction(kind, self.user, channel, data, source)
        outcome = Outcome(interaction)
        await self._discord.wait_for_answer(outcome)
        return outcome

    # Seeing

    @property
    def dm(self) -> Channel:
        """Return the DM with the bot."""
        return self._world.dm(self.user)

    @property
    def dms(self) -> list[DiscordMessage]:
        """Return the messages in the DM with the bot."""
        return self.dm.messages

    def can_see(self, message: DiscordMessage) -> bool:
        """Return whether this person can read the message now."""
        here = self._world.may(self.user, "view_channel read_message_history", message.channel)
        return here and not message.deleted and message.only_for in {None, self.user}

    def sees(self, channel: Channel) -> list[DiscordMessage]:
        """Return the messages that this person sees in a channel, oldest first.

        Ephemeral answers are included.
        """
        return [message for message in channel.history if self.can_see(message)]

    def ever_saw(self) -> str:
        """Return every text that this person could ever have read, in any state of any message.

        Attached files, forms, choices, names, topics and presences are included.
        """
        texts: list[str] = []
        for message in self._readable():
            texts += message.ever()
            texts += [
                self._world.files[number].decode("utf-8", "replace") for number in message.files()
            ]
        for interaction in self._world.interactions.values():
            if interaction.user is self.user:
                texts += strings([interaction.choices, interaction.modal])
        for place in self._world.places:
            texts += place.titles if self._world.may(self.user, "view_channel", place) else []
        for guild in self._world.guilds.values():
            texts += [role.name for role in guild.roles.values()]
            texts += [member.nick for member in guild.members.values() if member.nick]
        texts += strings(self._world.presences)
        return "\n".join(texts)

    def _readable(self) -> list[DiscordMessage]:
        messages = [
            each for each in self._world.messages.values() if each.only_for in {None, self.user}
        ]
        return [
            each for each in messages if self._world.may(self.user, "view_channel", each.channel)
        ]


def _fill_in(
    components: list[Json],
    fields: dict[str, str | tuple[str, bytes]],
    attach: Callable[[tuple[str, bytes]], str],
) -> list[Json]:
    """Return a form's components as the client sends them. `attach` uploads a file."""
    filled = []
    for part in components:
        if part["type"] == ROW:
            filled.append(
                {
                    "type": ROW,
                    "id": 1,
                    "components": [
                        _input(each, each, fields, attach) for each in part["components"]
                    ],
                }
            )
        elif part["type"] == LABEL:
            filled.append(
                {
                    "type": LABEL,
                    "id": 1,
                    "component": _input(part["component"], part, fields, attach),
                }
            )
    if fields:
        raise NotOffered(f"the form has no {', '.join(fields)}")
    return filled


def _input(
    part: Json,
    labelled: Json,
    fields: dict[str, str | tuple[str, bytes]],
    attach: Callable[[tuple[str, bytes]], str],
) -> Json:
    value: Any = part.get("value") or ""
    for name in (labelled.get("label"), part["custom_id"]):
        if name in fields:
            value = fields.pop(name)
    filled = {"type": part["type"], "custom_id": part["custom_id"], "id": 1}
    if part["type"] == FILE_UPLOAD:
        files = [value] if value else []
        if len(files) < part.get("min_values", 1):
            raise NotOffered(f"{labelled.get('label')!r} needs a file")
        return filled | {"values": [attach(file) for file in files]}
    if (part.get("required", True) and not value) or len(value) > (part.get("max_length") or 4000):
        raise NotOffered(f"{labelled.get('label')!r} can't be {value!r}")
    return filled | {"value": value}
