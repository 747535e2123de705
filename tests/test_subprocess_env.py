"""The environment of subprocesses."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from bot import subprocess_env

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

SHOW = (
    "import os, bot; "
    "print(os.environ.get('FAVOURITE_NIECE'), [name for name in os.environ if 'TOKEN' in name])"
)


def test_subprocesses_find_asides_code_and_get_no_secrets(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for secret in (
        "DISCORD_TOKEN",
        "ASIDE_DISCORD__TOKEN",
        "HF_TOKEN",
        "ASIDE_API_KEY",
        "aws_secret_access_key",
    ):
        monkeypatch.setenv(secret, "MARMALADE")
    monkeypatch.setenv("FAVOURITE_NIECE", "Elizabeth")
    environ = subprocess_env.child_environment()
    assert "MARMALADE" not in environ.values()
    result = subprocess.run(
        [sys.executable, "-c", SHOW], cwd=tmp_path, env=environ, check=True, capture_output=True
    )
    assert result.stdout.decode().strip() == "Elizabeth []"
    assert os.environ["HF_TOKEN"] == "MARMALADE"
