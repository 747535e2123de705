"""The settings match the options of the parts that use them."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

import pytest

from bot.engine.local.local_options import LocalOptions
from bot.engine.remote_engine import RemoteOptions
from bot.scenes.reply_generation import ReplyLimits
from bot.settings import (
    LocalEngineSettings,
    PlaySettings,
    RemoteEngineSettings,
)
from tests.settings.conftest import load, remote

if TYPE_CHECKING:
    from pathlib import Path

    from pydantic import BaseModel


@pytest.mark.parametrize(
    ("settings", "options"),
    [(LocalEngineSettings, LocalOptions), (RemoteEngineSettings, RemoteOptions)],
)
def test_the_settings_cover_every_option_of_an_engine(
    settings: type[BaseModel], options: type
) -> None:
    assert settings.model_fields.keys() - {"kind"} == {field.name for field in fields(options)}


def test_the_defaults_are_those_of_the_engine(tmp_path: Path) -> None:
    assert LocalOptions(**LocalEngineSettings().options()) == LocalOptions()
    chosen = remote(load(tmp_path, "engine: {base_url: 'http://a/v1'}")).options()
    assert RemoteOptions(**chosen) == RemoteOptions(base_url=("http://a/v1",))


def test_play_settings_have_the_fields_of_reply_limits() -> None:
    assert ReplyLimits(**PlaySettings().limits()) == ReplyLimits()
