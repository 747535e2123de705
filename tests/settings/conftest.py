"""Load settings from a temporary folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.errors import SettingsError
from bot.settings import (
    LocalEngineSettings,
    RemoteEngineSettings,
    Settings,
    load_settings,
)

if TYPE_CHECKING:
    from pathlib import Path

TOKEN = "MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs"


def load(folder: Path, text: str | None = None, **environ: str) -> Settings:
    if text is not None:
        (folder / "aside.yaml").write_text(text, encoding="utf-8")
    return load_settings(environ=environ, folder=folder)


def complaint(folder: Path, text: str | None = None, **environ: str) -> str:
    with pytest.raises(SettingsError) as caught:
        load(folder, text, **environ)
    assert "\n" not in str(caught.value)
    return str(caught.value).replace(f"{folder}/", "")


def remote(settings: Settings) -> RemoteEngineSettings:
    assert isinstance(settings.engine, RemoteEngineSettings)
    return settings.engine


def local(settings: Settings) -> LocalEngineSettings:
    assert isinstance(settings.engine, LocalEngineSettings)
    return settings.engine
