"""The README's examples: its Python runs, and its settings are the defaults."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from bot.settings import Settings

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
SETTINGS = README.split("## Settings")[1].split("```yaml\n")[1].split("```")[0]


def test_the_settings_shown_are_the_defaults() -> None:
    assert Settings.model_validate(yaml.safe_load(SETTINGS)) == Settings()


def test_an_example_fits_on_a_screen() -> None:
    assert EXAMPLES
    for example in EXAMPLES:
        ast.parse(example)
        assert example.count("\n") <= 30


@pytest.mark.model
@pytest.mark.timeout(300)
@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_prints_the_beats_of_a_reply(example: str, tmp_path: Path) -> None:
    (tmp_path / "example.py").write_text(example, encoding="utf-8")
    environment = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("ASIDE_", "DISCORD_"))
    }
    finished = subprocess.run(
        [sys.executable, "example.py"],
        cwd=tmp_path,
        env=environment | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (finished.returncode, finished.stderr) == (0, "")
    assert [line.split(": ")[0] for line in finished.stdout.splitlines()] == [
        "planning",
        "thought",
        "action",
        "speech",
    ]
