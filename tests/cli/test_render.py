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


def join_posts(parts: list[str]) -> str:
    return "\n".join(parts)


def test_render_shows_the_reply_for_each_reader(aside: Aside) -> None:
    shown = data(aside("render", *BENNET, given=RAW))
    assert list(shown) == ["public", "gm", "own_history", "others_history", "closed"]
    assert "Come in, Lizzy." in join_posts(shown["public"])
    assert "lowers his paper" in join_posts(shown["public"])
    assert "She knows nothing." in join_posts(shown["gm"])
    assert "He should tease her." in join_posts(shown["gm"])
    assert shown["own_history"] == (
        "Mr Bennet: <role_thinking>She knows nothing.</role_thinking>"
        "<role_action>lowers his paper</role_action>Come in, Lizzy."
    )
    assert (
        shown["others_history"]
        == "Mr Bennet: <role_action>lowers his paper</role_action>Come in, Lizzy."
    )
    assert shown["closed"] is True


def test_thoughts_and_planning_go_to_the_game_master_by_default(aside: Aside) -> None:
    explicit = data(aside("render", *BENNET, "--thoughts", "gm", "--planning", "gm", given=RAW))
    shown = data(aside("render", *BENNET, given=RAW))
    assert shown == explicit
    assert "She knows" not in join_posts(shown["public"])
    assert "tease" not in join_posts(shown["public"])


def test_thoughts_can_be_spoilers_or_hidden(aside: Aside) -> None:
    spoiler = data(aside("render", *BENNET, "--thoughts", "spoiler", given=RAW))
    assert "||She knows nothing.||" in join_posts(spoiler["public"])
    assert "She knows" not in join_posts(spoiler["gm"])
    assert "tease" in join_posts(spoiler["gm"])
    off = data(aside("render", *BENNET, "--thoughts", "off", "--planning", "off", given=RAW))
    assert off["gm"] == []
    assert "She knows" not in join_posts(off["public"])


def test_planning_can_be_a_spoiler(aside: Aside) -> None:
    shown = data(aside("render", *BENNET, "--planning", "spoiler", given=RAW))
    assert "||He should tease her.||" in join_posts(shown["public"])
    assert "tease" not in join_posts(shown["gm"])


def test_the_prefilled_opening_tag_may_be_missing(aside: Aside) -> None:
    bare = RAW.removeprefix("<system_thinking>")
    assert data(aside("render", *BENNET, given=bare)) == data(aside("render", *BENNET, given=RAW))


@pytest.mark.parametrize("size", ["1", "2", "7", "1000"])
def test_the_size_of_the_chunks_does_not_matter(aside: Aside, size: str) -> None:
    assert data(aside("render", *BENNET, "--chunk", size, given=RAW)) == data(
        aside("render", *BENNET, given=RAW)
    )


def test_an_unclosed_thought_stays_private_and_is_reported(aside: Aside) -> None:
    shown = data(
        aside(
            "render",
            *BENNET,
            given="<system_thinking>Plan.</system_thinking>Hm.<role_thinking>Never",
        )
    )
    assert shown["closed"] is False
    assert "Never" not in join_posts(shown["public"])


def test_another_speakers_line_ends_the_reply(aside: Aside) -> None:
    shown = data(aside("render", *BENNET, given="Come in.\n\nElizabeth Bennet: I am here, Papa."))
    assert "I am here" not in join_posts(shown["public"])


def test_a_reply_needs_no_name(aside: Aside) -> None:
    shown = data(aside("render", given="<role_thinking>Hm.</role_thinking>Good day."))
    assert shown["public"] == ["Good day."]


@pytest.mark.parametrize("nothing", [b"", b"\n", b"<system_thinking></system_thinking>"])
def test_an_empty_reply_has_no_posts(aside: Aside, nothing: bytes) -> None:
    assert data(aside("render", given=nothing))["public"] == []


def test_invalid_bytes_and_other_scripts_are_rendered(aside: Aside) -> None:
    shown: Any = data(aside("render", given="早上好 ".encode() + b"\xff " + "😀".encode()))
    assert shown["public"] == ["早上好 \ufffd 😀"]


@pytest.mark.parametrize(
    "wrong",
    [("--chunk", "0"), ("--chunk", "two"), ("--thoughts", "loud"), ("--planning", ""), ("a file",)],
)
def test_invalid_options_are_a_user_error(aside: Aside, wrong: tuple[str, ...]) -> None:
    result = aside("render", *wrong, given=RAW)
    assert (result.exit_code, result.stdout) == (2, "")


@pytest.mark.parametrize(
    "raw",
    [
        "[THINK]She knows nothing.[/THINK]Come in, Lizzy.",
        (
            "<|channel|>analysis<|message|>She knows nothing.<|end|>"
            "<|channel|>final<|message|>Come in, Lizzy."
        ),
        "&lt;think&gt;She knows nothing.&lt;/think&gt;Come in, Lizzy.",
        "[She knows nothing.] Come in, Lizzy.",
    ],
)
def test_thinking_in_other_formats_reaches_the_gm_only(aside: Aside, raw: str) -> None:
    shown = data(aside("render", *BENNET, "--chunk", "5", given=raw))
    assert "She knows nothing." in join_posts(shown["gm"])
    assert "knows nothing" not in join_posts(shown["public"])
    assert shown["others_history"] == "Mr Bennet: Come in, Lizzy."


def test_thinking_without_tags_and_in_foreign_tags_is_not_shown(aside: Aside) -> None:
    for thinking in ("<?think SECRET ?>", "Okay, the user wants a reply. SECRET\n\n"):
        for chunk in ("1", "1000"):
            shown = data(aside("render", *BENNET, "--chunk", chunk, given=f"{thinking}Come in."))
            assert shown["public"] == ["Come in."]
            assert "SECRET" in join_posts(shown["gm"])
