"""Secrets are only read from their variables and are never shown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from pydantic import SecretStr, ValidationError

from bot.settings import (
    DiscordSettings,
    Settings,
)
from tests.settings.conftest import TOKEN, complaint, load, remote

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    "pasted",
    [
        TOKEN,
        f"  {TOKEN}\n",
        f'"{TOKEN}"',
        f"'{TOKEN}'",
        f"“{TOKEN}”",
        f"Bot {TOKEN}",
        f'"Bot {TOKEN}"',
        f'bot  "{TOKEN}" ',
        f"{TOKEN[:30]}\r\n  {TOKEN[30:]}",
        f"\ufeff{TOKEN}",
    ],
)
def test_quotes_spaces_and_prefixes_around_a_token_are_removed(tmp_path: Path, pasted: str) -> None:
    assert load(tmp_path, DISCORD_TOKEN=pasted).discord.token == SecretStr(TOKEN)
    assert DiscordSettings(token=SecretStr(pasted)).token == SecretStr(TOKEN)


@pytest.mark.parametrize("nothing", ["", "  ", '""', "\n"])
def test_an_empty_token_counts_as_missing(tmp_path: Path, nothing: str) -> None:
    assert load(tmp_path, DISCORD_TOKEN=nothing).discord.token is None


def test_an_invalid_token_is_rejected_without_quoting_it(tmp_path: Path) -> None:
    sentence = complaint(tmp_path, DISCORD_TOKEN="geheim•geheim")
    assert (
        sentence
        == "DISCORD_TOKEN: this has characters that can't be in a token or key. Copy it again."
    )


@pytest.mark.parametrize(
    ("text", "variable"),
    [
        (f"discord: {{token: {TOKEN}}}", "DISCORD_TOKEN"),
        (f"token: {TOKEN}", "DISCORD_TOKEN"),
        (
            f"engine: {{kind: remote, base_url: 'http://a/v1', model: x, api_key: {TOKEN}}}",
            "ASIDE_API_KEY",
        ),
        (f"api_key: {TOKEN}", "ASIDE_API_KEY"),
    ],
)
def test_a_secret_in_the_file_is_rejected_with_the_right_variable(
    tmp_path: Path, text: str, variable: str
) -> None:
    sentence = complaint(tmp_path, text)
    assert re.fullmatch(
        rf"aside\.yaml, line 1.*this file must not contain a secret\. Put it in .*{variable}\.",
        sentence,
    )
    assert TOKEN not in sentence


def test_a_secret_in_another_variable_is_rejected_with_the_right_one(tmp_path: Path) -> None:
    sentence = complaint(tmp_path, ASIDE_DISCORD__TOKEN=TOKEN)
    assert (
        sentence
        == "ASIDE_DISCORD__TOKEN: this value is only read from DISCORD_TOKEN. Rename the variable."
    )


def test_the_key_of_a_remote_engine_is_read_from_its_variable(tmp_path: Path) -> None:
    text = "engine: {base_url: 'http://a/v1', model: x}"
    assert remote(load(tmp_path, text, ASIDE_API_KEY="'Bearer k-1'")).api_key == SecretStr("k-1")
    assert load(tmp_path, "", ASIDE_API_KEY="k-1") == Settings()


def test_printed_or_rejected_settings_show_no_secret(tmp_path: Path) -> None:
    text = "engine: {base_url: 'http://a/v1', model: x}\ndiscord: {proxy: 'http://me:hush@a:1'}"
    settings = load(tmp_path, text, DISCORD_TOKEN=TOKEN, ASIDE_API_KEY="k-1-secret")
    for shown in (repr(settings), str(settings)):
        assert not [secret for secret in (TOKEN, "k-1-secret", "hush") if secret in shown]
    with pytest.raises(ValidationError) as caught:
        DiscordSettings.model_validate({"token": TOKEN, "guilds": ["x"], "tokn": TOKEN})
    assert TOKEN not in str(caught.value)
    assert TOKEN not in complaint(tmp_path, f"discord: {{tokn: {TOKEN}}}", DISCORD_TOKEN=TOKEN)
    assert "hush" not in complaint(tmp_path, "discord: {proxy: 'me:hush@a:1'}")
