"""`aside setup` in an empty folder."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
from typing import TYPE_CHECKING

import pytest

from bot.posting.permissions import INVITE_PERMISSIONS
from bot.settings import TOKEN, load_settings
from tests.loopback import LoopbackDiscord, Privileged
from tests.weights.loopback_hub import LoopbackHub
from tests.weights.sample_gguf import make_gguf

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


SOME_TOKEN = "MTIz.GxYzAb." + "s" * 38


@pytest.fixture
async def discord() -> AsyncIterator[LoopbackDiscord]:
    async with LoopbackDiscord() as loopback:
        yield loopback


@pytest.fixture
def nothing_yet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Run in an empty folder."""
    folder = tmp_path / "new"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def written(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


async def setup(
    folder: Path,
    *options: str,
    given: str = "",
    discord: LoopbackDiscord | None = None,
    environ: dict[str, str] | None = None,
) -> tuple[int, str, str]:
    """Run it in `folder`. Return the exit status, standard output and standard error."""
    clean = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("ASIDE_", "DISCORD_", "HF_"))
    }
    if discord is not None:
        options = (*options, "--proxy", discord.proxy_url)
        clean |= discord.environment()
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "bot",
        "setup",
        *options,
        cwd=folder,
        env=clean
        | {"PYTHONPATH": os.pathsep.join(sys.path), "HF_ENDPOINT": "http://127.0.0.1:9"}
        | (environ or {}),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,  # no terminal to read a token from
    )
    output, complaints = await process.communicate(given.encode())
    return process.returncode or 0, output.decode(), complaints.decode()


async def test_an_unattended_setup_writes_both_files_and_prints_the_invite_link(
    discord: LoopbackDiscord, nothing_yet: Path
) -> None:
    given = f'  "Bot {discord.token}"\n'
    status, output, complaints = await setup(
        nothing_yet,
        "--yes",
        "--token",
        "-",
        "--vram",
        "24GiB",
        "--guild",
        "12",
        given=given,
        discord=discord,
    )
    assert (status, complaints) == (0, "")
    env = nothing_yet / ".env"
    assert env.read_text() == f"{TOKEN}={discord.token}\n"
    assert stat.S_IMODE(env.stat().st_mode) == 0o600
    link = next(word for word in output.split() if "oauth2/authorize" in word)
    assert f"permissions={INVITE_PERMISSIONS.value}" in link
    assert "Message Content intent is on" in output
    assert "HER-32B, 18.4 GiB" in output
    assert "Run `aside models build HER-32B` to get the model." in output
    settings = load_settings(environ={})
    assert settings.engine.model == "HER-32B"
    assert settings.discord.guilds == (12,)
    assert settings.discord.proxy == discord.proxy_url
    assert settings.discord.token
    assert settings.discord.token.get_secret_value() == discord.token
    assert discord.token not in output + complaints


async def test_setup_reports_a_missing_intent(nothing_yet: Path) -> None:
    async with LoopbackDiscord(portal=frozenset({Privileged.MEMBERS})) as discord:
        status, output, _ = await setup(
            nothing_yet, "--yes", "--token", discord.token, "--model", "none", discord=discord
        )
    assert status == 0
    assert "Switch on “Message Content Intent”" in output
    assert load_settings(environ={}).engine.model == "demo"


async def test_a_wrong_token_is_neither_stored_nor_shown(
    discord: LoopbackDiscord, nothing_yet: Path
) -> None:
    status, output, complaints = await setup(
        nothing_yet, "--yes", discord=discord, environ={TOKEN: "MTA.wrong.token"}
    )
    assert status == 2
    assert "does not accept the token" in complaints
    assert "wrong" not in output + complaints
    assert written(nothing_yet) == set()


async def test_a_missing_token_or_network_is_explained(nothing_yet: Path) -> None:
    status, _, complaints = await setup(nothing_yet, "--yes")
    assert (status, complaints.count("\n")) == (2, 1)
    assert "--token -" in complaints
    status, _, complaints = await setup(
        nothing_yet, "--yes", "--token", SOME_TOKEN, "--proxy", "http://127.0.0.1:9"
    )
    assert status == 1
    assert "--offline" in complaints
    assert written(nothing_yet) == set()


async def test_setup_keeps_the_contents_of_existing_files(nothing_yet: Path) -> None:
    env, yaml = nothing_yet / ".env", nothing_yet / "aside.yaml"
    env.write_text("ASIDE_API_KEY=k\nexport DISCORD_TOKEN=old\n")
    yaml.write_text("logging: {level: DEBUG}\n")
    options = ("--yes", "--offline", "--token", SOME_TOKEN, "--model", "Qwen3-8B", "--no-get")
    status, output, _ = await setup(nothing_yet, *options)
    assert status == 0
    assert env.read_text() == "ASIDE_API_KEY=k\nDISCORD_TOKEN=" + SOME_TOKEN + "\n"
    assert stat.S_IMODE(env.stat().st_mode) == 0o600
    assert yaml.read_text() == "logging: {level: DEBUG}\n"
    assert "engine: {model: Qwen3-8B}" in output
    await setup(nothing_yet, *options, "--force")
    assert load_settings(environ={}).engine.model == "Qwen3-8B"


async def test_setup_asks_and_offers_defaults(nothing_yet: Path) -> None:
    answers = "Qwen3-0.6B\nn\n"
    status, output, asked = await setup(
        nothing_yet, "--offline", "--token", SOME_TOKEN, "--vram", "8GiB", given=answers
    )
    assert status == 0, asked
    assert "The model [Qwen3-8B" in asked
    assert "Download it now?" in asked
    assert "`aside models pull Qwen3-0.6B`" in output
    assert load_settings(environ={}).engine.model == "Qwen3-0.6B"


async def test_setup_downloads_the_model_with_get(nothing_yet: Path, tmp_path: Path) -> None:
    with LoopbackHub() as hub:
        hub.put(
            "Qwen/Qwen3-0.6B-GGUF",
            "Qwen3-0.6B-Q8_0.gguf",
            make_gguf(tmp_path / "x.gguf").read_bytes(),
        )
        options = ("--yes", "--offline", "--token", SOME_TOKEN, "--model", "Qwen3-0.6B", "--get")
        weights = {"ASIDE_ENGINE__WEIGHTS": "weights", "HF_ENDPOINT": hub.url}
        status, _, complaints = await setup(nothing_yet, *options, environ=weights)
        assert status == 0, complaints
    assert (nothing_yet / "weights" / "Qwen--Qwen3-0.6B-GGUF" / "Qwen3-0.6B-Q8_0.gguf").is_file()


async def test_an_unknown_model_is_reported_before_any_file_is_written(
    nothing_yet: Path,
) -> None:
    status, _, complaints = await setup(
        nothing_yet, "--yes", "--offline", "--token", SOME_TOKEN, "--model", "HER-23B"
    )
    assert status == 2
    assert "HER-32B" in complaints
    assert not (nothing_yet / "aside.yaml").exists()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("123456789012345678", "an id"),
        ("f" * 64, "the public key"),
        ("aB3-" * 8, "the client secret"),
        ("https://discord.com/api/webhooks/1/secret", "the address of a webhook"),
        (f"DISCORD_TOKEN={SOME_TOKEN}", "the whole line"),
        (f"{SOME_TOKEN} # mine", "a comment behind"),
    ],
)
async def test_a_text_that_is_not_a_token_is_rejected_before_any_connection(
    nothing_yet: Path, given: str, message: str
) -> None:
    status, output, complaints = await setup(
        nothing_yet, "--yes", "--token", "-", "--proxy", "http://127.0.0.1:9", given=given + "\n"
    )
    assert status == 2
    assert message in complaints
    assert given not in output + complaints
    assert written(nothing_yet) == set()
