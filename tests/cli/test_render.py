from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.conftest import data

if TYPE_CHECKING:
    from tests.cli.conftest import Aside

RAW = (
    "<system_thinking>He should tease her.</system_thinking>"
    "Mr Bennet: <role_thinking>She knows nothing.</role_thinking>"
    "<role_action>lowers his paper</role_action>Come in, Lizzy."
)
BENNET = ("--character", "Mr Bennet", "--cast", "Elizabeth Bennet, Mr Darcy")


def told(parts: list[str]) -> str:
    return "\n".join(parts)


def test_a_reply_is_shown_as_everyone_gets_it(aside: Aside) -> None:
    shown = data(aside("render", *BENNET, given=RAW))
    assert list(shown) == ["public", "gm", "own_history", "others_history", "closed"]
    assert "Come in, Lizzy." in told(shown["public"])
    assert "lowers his paper" in told(shown["public"])
    assert "She knows nothing." in told(shown["gm"])
    assert "He should tease her." in told(shown["gm"])
    assert shown["own_history"] == (
        "Mr Bennet: <role_thinking>She knows nothing.</role_thinking>"
        "<role_action>lowers his paper</role_action>Come in, Lizzy."
    )
    assert (
        shown["others_history"]
        == "Mr Bennet: <role_action>lowers his paper</role_action>Come in, Lizzy."
    )
    assert shown["closed"] is True


def test_both_kinds_of_thinking_are_the_game_masters_to_begin_with(aside: Aside) -> None:
    explicit = data(aside("render", *BENNET, "--thoughts", "gm", "--planning", "gm", given=RAW))
    shown = data(aside("render", *BENNET, given=RAW))
    assert shown == explicit
    assert "She knows" not in told(shown["public"])
    assert "tease" not in told(shown["public"])


def test_thoughts_can_be_spoilers_or_nowhere(aside: Aside) -> None:
    spoiler = data(aside("render", *BENNET, "--thoughts", "spoiler", given=RAW))
    assert "||She knows nothing.||" in told(spoiler["public"])
    assert "She knows" not in told(spoiler["gm"])
    assert "tease" in told(spoiler["gm"])
    off = data(aside("render", *BENNET, "--thoughts", "off", "--planning", "off", given=RAW))
    assert off["gm"] == []
    assert "She knows" not in told(off["public"])


def test_planning_can_be_a_spoiler_too(aside: Aside) -> None:
    shown = data(aside("render", *BENNET, "--planning", "spoiler", given=RAW))
    assert "||He should tease her.||" in told(shown["public"])
    assert "tease" not in told(shown["gm"])


def test_the_opening_tag_that_was_prefilled_may_be_missing(aside: Aside) -> None:
    bare = RAW.removeprefix("<system_thinking>")
    assert data(aside("render", *BENNET, given=bare)) == data(aside("render", *BENNET, given=RAW))


@pytest.mark.parametrize("size", ["1", "2", "7", "1000"])
def test_how_the_stream_is_cut_changes_nothing(aside: Aside, size: str) -> None:
    assert data(aside("render", *BENNET, "--chunk", size, given=RAW)) == data(
        aside("render", *BENNET, given=RAW)
    )


def test_what_was_never_closed_is_said_so_and_stays_private(aside: Aside) -> None:
    shown = data(
        aside(
            "render",
            *BENNET,
            given="<system_thinking>Plan.</system_thinking>Hm.<role_thinking>Never",
        )
    )
    assert shown["closed"] is False
    assert "Never" not in told(shown["public"])


def test_the_others_lines_are_not_the_characters(aside: Aside) -> None:
    shown = data(aside("render", *BENNET, given="Come in.\n\nElizabeth Bennet: I am here, Papa."))
    assert "I am here" not in told(shown["public"])


def test_a_reply_needs_no_name(aside: Aside) -> None:
    shown = data(aside("render", given="<role_thinking>Hm.</role_thinking>Good day."))
    assert shown["public"] == ["Good day."]


@pytest.mark.parametrize("nothing", [b"", b"\n", b"<system_thinking></system_thinking>"])
def test_an_empty_reply_is_no_message(aside: Aside, nothing: bytes) -> None:
    assert data(aside("render", given=nothing))["public"] == []


def test_broken_bytes_and_other_scripts_come_through(aside: Aside) -> None:
    shown: Any = data(aside("render", given="早上好 ".encode() + b"\xff " + "😀".encode()))
    assert shown["public"] == ["早上好 \ufffd 😀"]


@pytest.mark.parametrize(
    "wrong",
    [("--chunk", "0"), ("--chunk", "two"), ("--thoughts", "loud"), ("--planning", ""), ("a file",)],
)
def test_what_makes_no_sense_is_the_persons_mistake(aside: Aside, wrong: tuple[str, ...]) -> None:
    result = aside("render", *wrong, given=RAW)
    assert (result.exit_code, result.stdout) == (2, "")
