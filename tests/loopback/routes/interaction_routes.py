"""Answers to interactions: the first within three seconds, the others within 15 minutes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from .. import payloads, speech
from ..conversation import EPHEMERAL, LOADING, Interaction, InteractionKind, MessageKind
from ..refusals import BadField, Refusal, form_error
from ..router import Answer, Call, route
from ..rules import refuse
from ..rules.command_rules import MESSAGE, USER, check_choices
from ..rules.component_rules import check_modal
from ..rules.message_rules import check_message
from .drafts import edited_draft, new_draft
from .message_routes import refuse_if_archived

if TYPE_CHECKING:
    from ..conversation import DiscordMessage
    from ..entities import Json, User
    from ..speech import Draft

FIRST_ANSWER = 3.0  # seconds
TOKEN = 15 * 60.0
REPLY, DEFER, DEFER_UPDATE, UPDATE, CHOICES, MODAL = 4, 5, 6, 7, 8, 9


@route("POST", "/interactions/{interaction_id}/{interaction_token}/callback", needs_token=False)
def answer_interaction(call: Call) -> Answer:
    interaction = call.world.interactions.get(call.ids["interaction_token"])
    if interaction is None or interaction.id != call.number("interaction_id"):
        raise Refusal(10062)
    if interaction.answer is not None:
        raise Refusal(40060)
    if call.world.clock.now() - interaction.created_at > FIRST_ANSWER:
        raise Refusal(10062)
    kind = call.body.get("type", 0)
    data = call.body.get("data") or {}
    _check_kind(interaction, kind)
    _ANSWERS[kind](call, interaction, data)
    interaction.answer = kind
    return (
        _receipt(call, interaction)
        if call.query.get("with_response") in {"1", "true", "True"}
        else None
    )


def _check_kind(interaction: Interaction, kind: int) -> None:
    """Refuse an answer that does not fit the kind of interaction."""
    fitting = {REPLY, DEFER}
    if interaction.kind is InteractionKind.AUTOCOMPLETE:
        fitting = {CHOICES}
    if interaction.kind in {InteractionKind.COMMAND, InteractionKind.COMPONENT}:
        fitting |= {MODAL}
    if interaction.source:
        fitting |= {UPDATE, DEFER_UPDATE}
    if kind not in fitting:
        raise form_error(
            "type", "INTERACTION_APPLICATION_COMMAND_INVALID_TYPE", "This answer does not fit"
        )


def _say(call: Call, interaction: Interaction, data: Json) -> None:
    interaction.original = _post(
        call, interaction, new_draft(call, data, interaction.channel, may_be_private=True)
    )


def _defer(call: Call, interaction: Interaction, data: Json) -> None:
    draft = speech.Draft(flags=LOADING | (data.get("flags") or 0) & EPHEMERAL)
    interaction.original = _post(call, interaction, draft)


def _defer_update(_call: Call, interaction: Interaction, _data: Json) -> None:
    interaction.original = interaction.source


def _update(call: Call, interaction: Interaction, data: Json) -> None:
    message = interaction.source
    assert message
    speech.edit(call.world, message, edited_draft(call, data, message))
    interaction.original = message


def _offer(_call: Call, interaction: Interaction, data: Json) -> None:
    focused = next(
        each for each in _leaves(interaction.data.get("options") or []) if each.get("focused")
    )
    refuse(check_choices(data.get("choices") or [], focused["type"], "data."))
    interaction.choices = data.get("choices") or []


def _leaves(options: list[Json]) -> list[Json]:
    return [
        leaf
        for each in options
        for leaf in (_leaves(each["options"]) if "options" in each else [each])
    ]


def _show_modal(_call: Call, interaction: Interaction, data: Json) -> None:
    refuse([BadField(f"data.{fault.path}", fault.code, fault.text) for fault in check_modal(data)])
    interaction.modal = data


_ANSWERS = {
    REPLY: _say,
    DEFER: _defer,
    DEFER_UPDATE: _defer_update,
    UPDATE: _update,
    CHOICES: _offer,
    MODAL: _show_modal,
}


def _post(call: Call, interaction: Interaction, draft: Draft) -> DiscordMessage:
    reader: User | None = interaction.user if draft.flags & EPHEMERAL else None
    kind = MessageKind.CHAT_COMMAND
    if (
        interaction.data.get("type") in {USER, MESSAGE}
        and interaction.kind is InteractionKind.COMMAND
    ):
        kind = MessageKind.CONTEXT_COMMAND
    if interaction.kind is not InteractionKind.COMMAND:
        kind = MessageKind.DEFAULT
    if interaction.channel.thread and interaction.channel.thread.archived:
        raise Refusal(50083)
    sender = speech.Sender(call.world.bot, interaction=interaction)
    return speech.post(call.world, interaction.channel, sender, draft, kind=kind, only_for=reader)


def _receipt(call: Call, interaction: Interaction) -> Answer:
    data: Json = {"id": str(interaction.id), "type": int(interaction.kind)}
    receipt: Json = {"interaction": data}
    if message := interaction.original:
        data |= {
            "response_message_id": str(message.id),
            "response_message_loading": message.thinking,
            "response_message_ephemeral": message.ephemeral,
        }
        if interaction.answer in {REPLY, UPDATE}:
            receipt["resource"] = {
                "type": interaction.answer,
                "message": payloads.message(message, call.world),
            }
    return receipt


LATER = "/webhooks/{application_id}/{interaction_token}"
ORIGINAL = LATER + "/messages/@original"
FOLLOW_UP = LATER + "/messages/{message_id}"


def _interaction(call: Call) -> Interaction:
    """Return the interaction of a follow-up. Refuse if its token has expired."""
    interaction = call.world.interactions.get(call.ids["interaction_token"])
    if interaction is None or interaction.answer is None:
        raise Refusal(10015)
    if call.world.clock.now() - interaction.created_at > TOKEN:
        raise Refusal(50027)
    return interaction


def _original(call: Call) -> tuple[Interaction, DiscordMessage]:
    interaction = _interaction(call)
    if interaction.original is None or interaction.original.deleted:
        raise Refusal(10008)
    return interaction, interaction.original


def _one(call: Call) -> tuple[Interaction, DiscordMessage]:
    interaction = _interaction(call)
    for message in (*interaction.followups, interaction.original):
        if message and message.id == call.number("message_id") and not message.deleted:
            return interaction, message
    raise Refusal(10008)


@route("POST", LATER, needs_token=False)
def follow_up(call: Call) -> Answer:
    """Post a further answer.

    The first one after a deferral replaces "… is thinking", and is as private as that was.
    """
    interaction = _interaction(call)
    draft = new_draft(call, call.body, interaction.channel, may_be_private=True)
    if interaction.original and interaction.original.thinking:
        speech.finish_thinking(call.world, interaction.original, draft)
        return payloads.message(interaction.original, call.world)
    message = _post(call, interaction, draft)
    interaction.followups.append(message)
    return payloads.message(message, call.world)


@route("GET", ORIGINAL, needs_token=False)
def get_original(call: Call) -> Answer:
    return payloads.message(_original(call)[1], call.world)


@route("PATCH", ORIGINAL, needs_token=False)
def edit_original(call: Call) -> Answer:
    return _edit(call, _original(call)[1])


@route("DELETE", ORIGINAL, needs_token=False)
def delete_original(call: Call) -> Answer:
    speech.delete(call.world, _original(call)[1])
    return None


@route("GET", FOLLOW_UP, needs_token=False)
def get_follow_up(call: Call) -> Answer:
    return payloads.message(_one(call)[1], call.world)


@route("PATCH", FOLLOW_UP, needs_token=False)
def edit_follow_up(call: Call) -> Answer:
    return _edit(call, _one(call)[1])


@route("DELETE", FOLLOW_UP, needs_token=False)
def delete_follow_up(call: Call) -> Answer:
    speech.delete(call.world, _one(call)[1])
    return None


def _edit(call: Call, message: DiscordMessage) -> Answer:
    refuse_if_archived(message.channel)
    if message.thinking:
        check_message(call.body, call.uploads)
        draft = edited_draft(call, call.body, message)
        speech.finish_thinking(call.world, message, replace(draft, flags=draft.flags & ~LOADING))
    else:
        speech.edit(call.world, message, edited_draft(call, call.body, message))
    return payloads.message(message, call.world)
