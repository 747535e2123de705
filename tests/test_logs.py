"""Logging: its destinations, its levels, and the redaction of secrets."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from bot import logs
from bot.errors import SettingsError
from bot.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TOKEN = "MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs"


@contextmanager
def logging_to(
    path: Path, level: str = "DEBUG", **groups: dict[str, object]
) -> Iterator[logging.Logger]:
    undo = logs.set_up(
        Settings.model_validate({"logging": {"level": level, "file": path}, **groups})
    )
    try:
        yield logging.getLogger("bot.somewhere")
    finally:
        undo()


def test_records_go_to_the_terminal_and_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with logging_to(tmp_path / "aside.log") as log:
        log.info("Scene %d starts", 7)
    assert "INFO    bot.somewhere: Scene 7 starts" in (tmp_path / "aside.log").read_text()
    assert "Scene 7 starts" in capsys.readouterr().err


def test_records_below_the_level_are_dropped(tmp_path: Path) -> None:
    with logging_to(tmp_path / "aside.log", level="WARNING") as log:
        log.info("softly")
        log.warning("loudly")
    assert "loudly" in (tmp_path / "aside.log").read_text()
    assert "softly" not in (tmp_path / "aside.log").read_text()


def test_libraries_log_only_warnings(tmp_path: Path) -> None:
    with logging_to(tmp_path / "aside.log"):
        logging.getLogger("discord.gateway").info("heartbeat")
        logging.getLogger("discord.client").warning("rate limited")
    assert "rate limited" in (tmp_path / "aside.log").read_text()
    assert "heartbeat" not in (tmp_path / "aside.log").read_text()


@pytest.mark.parametrize(
    "secret",
    [
        TOKEN,
        "an-odd-token",
        "a-key-for-the-engine",
        "hush",
        "hf_abcdefghijklmnopqrstuvwxyz0123",
        "kX7" * 20,
    ],
)
def test_secrets_are_redacted_in_messages_arguments_and_tracebacks(
    tmp_path: Path, secret: str
) -> None:
    engine: dict[str, object] = {"base_url": "http://a/v1", "api_key": "a-key-for-the-engine"}
    discord: dict[str, object] = {"token": "an-odd-token", "proxy": "http://me:hush@proxy:3128"}
    with logging_to(tmp_path / "aside.log", engine=engine, discord=discord) as log:
        log.warning("with %s here https://discord.com/api/webhooks/123/%s", TOKEN, "kX7" * 20)
        try:
            raise RuntimeError(
                f"401 for {secret} at https://discord.com/api/webhooks/1/{'kX7' * 20}"
            )
        except RuntimeError:
            log.exception("It failed", stack_info=True)
    written = (tmp_path / "aside.log").read_text()
    assert "RuntimeError: 401 for" in written
    assert "[secret]" in written
    assert not [each for each in (TOKEN, secret, "kX7" * 20) if each in written]


def test_a_log_file_that_cannot_be_opened_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(
        SettingsError, match=r"cannot be opened \(.+\)\. Set another `logging.file`"
    ):
        logs.set_up(Settings.model_validate({"logging": {"file": tmp_path / "none" / "aside.log"}}))


def test_undoing_restores_handlers_and_levels(tmp_path: Path) -> None:
    before = (
        list(logging.getLogger().handlers),
        logging.getLogger().level,
        logging.getLogger("discord").level,
    )
    with logging_to(tmp_path / "aside.log"):
        assert logging.getLogger("discord").level == logging.WARNING
    assert (
        list(logging.getLogger().handlers),
        logging.getLogger().level,
        logging.getLogger("discord").level,
    ) == before
