"""Accepted and refused bodies, without a bot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from . import openapi, routes
from .refusals import BadField, Refusal
from .router import TABLE
from .rules import length
from .rules.command_rules import check_choices, check_commands
from .rules.component_rules import check_components, check_modal
from .rules.message_rules import check_message, check_webhook_name

if TYPE_CHECKING:
    from collections.abc import Iterable

assert routes
BUTTON = {"type": 2, "style": 1, "label": "Go", "custom_id": "go"}


def command(**changes: Any) -> dict[str, Any]:
    return {"name": "scene", "description": "Scenes"} | changes


def option(**changes: Any) -> dict[str, Any]:
    return {"type": 3, "name": "who", "description": "Who"} | changes


def row(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"components": [{"type": 1, "components": list(parts)}]}


def words(faults: Iterable[BadField]) -> list[str]:
    return [fault.code for fault in faults]


def test_length_counts_the_larger_unit() -> None:
    assert length("abc") == 3
    assert length("汉字") == 2
    assert length("💔") == 2


@pytest.mark.parametrize("name", ["scene", "mr-bennet", "o'brien", "場面", "début", "a" * 32])
def test_valid_command_names_are_accepted(name: str) -> None:
    assert words(check_commands([command(name=name)])) == []


@pytest.mark.parametrize("name", ["Scene", "mr bennet", "mr.bennet", "", "a" * 33, "a/b"])
def test_invalid_command_names_are_refused(name: str) -> None:
    assert words(check_commands([command(name=name)])) == ["APPLICATION_COMMAND_INVALID_NAME"]


@pytest.mark.parametrize(
    "bad",
    [
        command(description=""),
        command(description="x" * 101),
        command(options=[option(name=f"o{number}") for number in range(26)]),
        command(options=[option(), option(name="then", required=True)]),
        command(options=[option(), option()]),
        command(options=[option(choices=[{"name": "n" * 101, "value": "v"}])]),
        command(options=[option(choices=[{"name": "n", "value": "v"}], autocomplete=True)]),
        command(
            options=[
                option(
                    name=f"o{n}",
                    description="x" * 100,
                    choices=[{"name": "n" * 99, "value": "v" * 99}] * 2,
                )
                for n in range(20)
            ]
        ),
        command(type=3, description="not here"),
    ],
)
def test_invalid_commands_are_refused(bad: dict[str, Any]) -> None:
    assert len(words(check_commands([bad]))) == 1


def test_a_set_of_commands_has_limits_too() -> None:
    assert "APPLICATION_COMMANDS_DUPLICATE_NAME" in words(check_commands([command(), command()]))
    assert words(check_commands([command(name=f"c{number}") for number in range(101)])) == [
        "BASE_TYPE_MAX_LENGTH"
    ]


def test_invalid_choices_are_refused() -> None:
    choice = {"name": "Emma", "value": "emma"}
    assert words(check_choices([choice] * 25, 3)) == []
    assert words(check_choices([choice] * 26, 3)) == ["BASE_TYPE_MAX_LENGTH"]
    assert words(check_choices([choice], 4)) == ["BASE_TYPE_CHOICES"]
    assert words(check_choices([choice | {"value": "x" * 101}], 3)) == ["BASE_TYPE_MAX_LENGTH"]


@pytest.mark.parametrize(
    "bad",
    [
        row(*[BUTTON | {"custom_id": str(number)} for number in range(6)]),
        row(BUTTON, BUTTON),
        row(BUTTON | {"label": "x" * 81}),
        row(BUTTON | {"custom_id": "x" * 101}),
        row(BUTTON | {"label": None}),
        row(BUTTON | {"style": 5}),
        row({"type": 3, "custom_id": "s", "options": []}),
        row(
            {
                "type": 3,
                "custom_id": "s",
                "options": [{"label": str(n), "value": str(n)} for n in range(26)],
            }
        ),
        {"components": [BUTTON]},
        {
            "components": [
                {"type": 1, "components": [BUTTON | {"custom_id": str(n)}]} for n in range(6)
            ]
        },
        {"components": [{"type": 10, "content": "x"}], "flags": 1 << 15, "content": "and text"},
    ],
)
def test_invalid_components_are_refused(bad: dict[str, Any]) -> None:
    assert len(words(check_components(bad))) == 1


def test_forms_have_limits() -> None:
    line = {
        "type": 1,
        "components": [{"type": 4, "custom_id": "line", "label": "Line", "style": 1}],
    }
    form = {"title": "Your line", "custom_id": "form", "components": [line]}
    assert words(check_modal(form)) == []
    assert words(check_modal(form | {"title": "x" * 46})) == ["BASE_TYPE_MAX_LENGTH"]
    assert words(check_modal(form | {"components": []})) == ["BASE_TYPE_BAD_LENGTH"]


@pytest.mark.parametrize("name", ["", " ", "Clyde", "DISCORD", "x" * 81])
def test_invalid_webhook_names_are_refused(name: str) -> None:
    with pytest.raises(Refusal) as refused:
        check_webhook_name({"name": name})
    assert refused.value.code == 50035


def test_invalid_messages_are_refused() -> None:
    embed = {"title": "t", "fields": [{"name": "n", "value": ""}]}
    exclusive = {"parse": ["users"], "users": ["1"]}
    for body in (
        {"embeds": [embed]},
        {"embeds": [{"title": "t"}] * 11},
        {"content": "c", "allowed_mentions": exclusive},
    ):
        with pytest.raises(Refusal) as refused:
            check_message(body, [])
        assert refused.value.code == 50035
        assert "errors" in refused.value.payload()


needs_description = pytest.mark.skipif(
    openapi.find_description() is None,
    reason="Discord's OpenAPI description is not here: set LOOPBACK_DISCORD_OPENAPI to its file",
)


@needs_description
@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("create_message", {"content": "x", "colour": 1}),
        ("create_message", {"content": 1}),
        ("create_message", {"embeds": [{"titel": "x"}]}),
        ("execute_webhook", {"content": "x", "usernme": "y"}),
        ("answer_interaction", {"type": 4, "data": {"contents": "x"}}),
        ("create_webhook", {}),
    ],
)
def test_a_body_that_the_description_does_not_allow_is_refused(
    name: str, body: dict[str, Any]
) -> None:
    description = openapi.find_description()
    assert description
    with pytest.raises(Refusal):
        description.check(next(each for each in TABLE if each.name == name), body)


@needs_description
def test_every_route_with_a_body_is_described() -> None:
    description = openapi.find_description()
    assert description
    takes = [
        each for each in TABLE if each.method in {"POST", "PATCH"} and "typing" not in each.path
    ]
    assert [each.name for each in takes if not description.describes(each)] == []
