"""`aside run` rejects unusable input before it connects."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.conftest import complaint

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Aside

TOKEN = "MTIz.GxYzAb." + "s" * 38


@pytest.fixture(autouse=True)
def unreachable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use a proxy that refuses connections, so that a test never reaches Discord."""
    monkeypatch.setenv("ASIDE_DISCORD__PROXY", "http://127.0.0.1:9")


@pytest.mark.parametrize(
    ("token", "message"),
    [
        ("", "The Discord token is missing."),
        ("123456789012345678", "DISCORD_TOKEN: this is an id"),
        ("f" * 64, "DISCORD_TOKEN: this is the public key"),
        ("aB3-" * 8, "DISCORD_TOKEN: this is the client secret"),
        (f"DISCORD_TOKEN={TOKEN}", "DISCORD_TOKEN: this is the whole line"),
        ("your-token-here", "DISCORD_TOKEN: this is a placeholder"),
    ],
)
def test_a_text_that_is_not_a_token_is_a_user_error(
    aside: Aside, monkeypatch: pytest.MonkeyPatch, token: str, message: str
) -> None:
    monkeypatch.setenv("DISCORD_TOKEN", token)
    sentence = complaint(aside("run"), 2)
    assert sentence.startswith(message)
    assert not token or token not in sentence


@pytest.mark.parametrize(
    ("file", "message"),
    [(".", "is a folder"), ("missing/folder/healthy", "does not exist")],
)
def test_a_health_file_that_can_not_be_created_is_a_user_error(
    aside: Aside, monkeypatch: pytest.MonkeyPatch, file: str, message: str
) -> None:
    monkeypatch.setenv("DISCORD_TOKEN", TOKEN)
    assert message in complaint(aside("run", "--healthy", file), 2)


def test_a_database_that_is_a_folder_is_a_user_error(aside: Aside, elsewhere: Path) -> None:
    (elsewhere / "aside.db").mkdir()
    assert "is a folder" in complaint(
        aside("chat", "--continue", "1", "--store", "aside.db", "--character", "Jane"), 2
    )
