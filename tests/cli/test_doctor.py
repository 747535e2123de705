"""`aside doctor`, as seen by a person who is setting up the bot."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sqlite3
import ssl
import sys
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import aiohttp
import discord
import pytest

from bot.cli.doctor.machine_checks import describe_database
from bot.cli.run.login import explain_login_error
from bot.errors import StoreError, UserInputError
from bot.store.store import Store
from tests.engine import tiny_models
from tests.loopback import LoopbackDiscord
from tests.weights.loopback_hub import LoopbackHub
from tests.weights.sample_gguf import make_gguf

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


class ClosedSocket(aiohttp.ClientWebSocketResponse):
    """A closed connection to the gateway."""

    def __init__(self, code: int) -> None:
        self._close_code = code


def socket_error(error: OSError) -> aiohttp.ClientConnectorError:
    key = aiohttp.client_reqrep.ConnectionKey("discord.com", 443, True, True, None, None, None)
    return aiohttp.ClientConnectorError(key, error)


@pytest.fixture(name="discord")
async def discord_on_loopback() -> AsyncIterator[LoopbackDiscord]:
    async with LoopbackDiscord() as loopback:
        yield loopback


async def doctor(
    folder: Path, *options: str, environ: dict[str, str] | None = None
) -> tuple[int, str, str]:
    """Run it in `folder`. Return the exit status, standard output and standard error."""
    clean = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("ASIDE_", "DISCORD_"))
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "bot",
        "doctor",
        *options,
        cwd=folder,
        env=clean | {"PYTHONPATH": os.pathsep.join(sys.path)} | (environ or {}),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    output, complaints = await process.communicate()
    return process.returncode or 0, output.decode(), complaints.decode()


def found(output: str, about: str) -> list[dict[str, Any]]:
    return [check for check in json.loads(output) if check["about"] == about]


def login(discord: LoopbackDiscord, folder: Path) -> dict[str, str]:
    (folder / "aside.yaml").write_text(f"discord: {{proxy: '{discord.proxy_url}'}}\n")
    return discord.environment() | {"DISCORD_TOKEN": discord.token}


async def test_a_new_installation_passes_the_offline_checks(
    tmp_path: Path,
) -> None:
    status, output, complaints = await doctor(tmp_path, "--offline", "--json")
    assert (status, complaints) == (0, "")
    assert found(output, "Library")[0]["found"].endswith("playable scenarios")
    assert any("CPU" in check["found"] for check in found(output, "Device"))
    assert any("stand-in" in check["found"] for check in found(output, "Model"))


@pytest.mark.parametrize(
    ("family", "finding"),
    [
        (tiny_models.LLAMA_3, "its own chat template"),
        (replace(tiny_models.LLAMA_3, template=""), "has no chat template"),
        (replace(tiny_models.LLAMA_3, template="{{ x"), "cannot be used"),
        (tiny_models.QWEN_3, ""),
    ],
)
async def test_the_prompt_format_of_another_model_is_reported(
    tmp_path: Path, family: tiny_models.ModelFamily, finding: str
) -> None:
    tiny_models.make_tiny_model(tmp_path / "other.gguf", family)
    (tmp_path / "aside.yaml").write_text("engine: {model: other.gguf}\n")
    status, output, _ = await doctor(tmp_path, "--offline", "--quick", "--json")
    checks = found(output, "Prompt format")
    assert status == 0
    assert len(checks) == bool(finding)
    assert all(check["state"] == "note" and finding in check["found"] for check in checks)


async def test_a_context_beyond_the_models_training_is_reported(tmp_path: Path) -> None:
    tiny_models.make_tiny_model(tmp_path / "tiny.gguf", tiny_models.QWEN_3, context=2048)
    (tmp_path / "aside.yaml").write_text("engine: {model: tiny.gguf, context: 4096}\n")
    _, output, _ = await doctor(tmp_path, "--offline", "--quick", "--json")
    (check,) = found(output, "Context")
    assert "4,096 tokens, but the model was trained with 2,048" in check["found"]


async def test_a_recurrent_model_is_reported_as_reading_its_whole_prompt(tmp_path: Path) -> None:
    tiny_models.make_tiny_model(tmp_path / "mamba.gguf", tiny_models.MAMBA)
    (tmp_path / "aside.yaml").write_text("engine: {model: mamba.gguf}\n")
    _, output, _ = await doctor(tmp_path, "--offline", "--quick", "--json")
    (check,) = found(output, "Context")
    assert check["found"] == "a mamba model reads its whole prompt again for each reply"


async def test_a_model_that_the_start_downloads_is_a_note(tmp_path: Path) -> None:
    model = make_gguf(tmp_path / "her.gguf").read_bytes()
    settings = "engine: {model: hf:someone/HER-GGUF/her.gguf, weights: weights}\n"
    (tmp_path / "aside.yaml").write_text(settings)
    with LoopbackHub() as hub:
        hub.put("someone/HER-GGUF", "her.gguf", model)
        environ = {"HF_ENDPOINT": hub.url}
        _, output, _ = await doctor(tmp_path, "--quick", "--json", environ=environ)
        (check,) = found(output, "Model")
        assert check["state"] == "note"
        assert "The bot downloads it when it starts (0.0 GiB)" in check["found"]
        assert not (tmp_path / "weights").exists()
        hub.files.clear()
        _, output, _ = await doctor(tmp_path, "--quick", "--json", environ=environ)
        (check,) = found(output, "Model")
        assert check["state"] == "bad"
        before = len(hub.asked)
        _, output, _ = await doctor(tmp_path, "--offline", "--quick", "--json", environ=environ)
        assert found(output, "Model")[0]["state"] == "note"
        assert len(hub.asked) == before


async def test_an_invalid_model_file_fails_the_check(tmp_path: Path) -> None:
    (tmp_path / "her.gguf").write_text("<html>404</html>")
    (tmp_path / "aside.yaml").write_text("engine: {model: her.gguf}\n")
    status, output, complaints = await doctor(tmp_path, "--offline", "--json")
    assert status == 1
    assert found(output, "Model")[0]["state"] == "bad"
    assert "Traceback" not in complaints


async def test_a_model_that_can_not_be_loaded_fails_the_check(tmp_path: Path) -> None:
    make_gguf(tmp_path / "her.gguf")  # a valid header without any weights
    (tmp_path / "aside.yaml").write_text("engine: {model: her.gguf}\n")
    status, output, complaints = await doctor(tmp_path, "--offline", "--json")
    assert status == 1
    assert "bad" in {check["state"] for check in json.loads(output)}
    assert "Traceback" not in complaints
    status, output, _ = await doctor(tmp_path, "--offline", "--quick", "--json")
    assert found(output, "Engine")[0]["found"] == "the model was not loaded (--quick)"


async def test_the_engine_is_started_as_by_the_bot(tmp_path: Path) -> None:
    _, output, _ = await doctor(tmp_path, "--offline", "--json")
    (engine, *_) = found(output, "Engine")
    assert engine["state"] == "good"
    assert "tokens of context" in engine["found"]


async def test_the_model_is_not_loaded_again_while_the_bot_is_running(tmp_path: Path) -> None:
    async with await Store.open(tmp_path / "aside.db"):
        status, output, _ = await doctor(tmp_path, "--offline", "--json")
    assert status == 0
    assert found(output, "Database")[0]["state"] == "note"
    assert found(output, "Engine")[0]["found"].endswith("(another Aside is running)")


async def test_foreign_variables_are_a_note(tmp_path: Path) -> None:
    environ = {"ASIDE_SERVICE_HOST": "10.0.0.1"}
    status, output, complaints = await doctor(
        tmp_path, "--offline", "--quick", "--json", environ=environ
    )
    assert (status, complaints) == (0, "")
    assert "Kubernetes" in found(output, "Settings")[1]["found"]


async def test_a_log_file_that_can_not_be_written_fails_the_check(tmp_path: Path) -> None:
    environ = {"ASIDE_LOGGING__FILE": "missing/folder/aside.log"}
    status, output, _ = await doctor(tmp_path, "--offline", "--quick", "--json", environ=environ)
    assert status == 1
    assert found(output, "Log file")[0]["state"] == "bad"


async def test_a_missing_token_fails_with_the_way_to_get_one(tmp_path: Path) -> None:
    status, output, _ = await doctor(tmp_path, "--quick", "--json")
    assert status == 1
    assert "https://discord.com/developers/applications" in found(output, "Discord")[0]["remedy"]


async def test_a_complete_setup_passes_and_shows_the_invite_link(
    discord: LoopbackDiscord, tmp_path: Path
) -> None:
    guild = discord.guild("Longbourn", bot_permissions="manage_webhooks manage_roles")
    discord.text_channel(guild, "study")
    status, output, _ = await doctor(
        tmp_path, "--quick", "--json", environ=login(discord, tmp_path)
    )
    assert status == 0
    assert "oauth2/authorize?client_id=" in found(output, "Discord")[0]["found"]
    assert found(output, "Server Longbourn")[0]["state"] == "good"


async def test_a_missing_permission_is_reported_with_its_channel(
    discord: LoopbackDiscord, tmp_path: Path
) -> None:
    guild = discord.guild("Longbourn")
    channel = discord.text_channel(guild, "study")
    discord.world.overwrite(channel, guild.everyone, deny="manage_webhooks")
    _, output, _ = await doctor(tmp_path, "--quick", "--json", environ=login(discord, tmp_path))
    findings = " ".join(check["found"] for check in found(output, "Server Longbourn"))
    assert "#study lacks Manage Webhooks" in findings
    assert "without Manage Roles" in findings


async def test_a_missing_intent_fails_with_the_way_to_switch_it_on(
    discord: LoopbackDiscord, tmp_path: Path
) -> None:
    discord.world.portal.clear()
    status, output, complaints = await doctor(
        tmp_path, "--quick", "--json", environ=login(discord, tmp_path)
    )
    assert status == 1, complaints
    assert "Message Content Intent" in found(output, "Intents")[0]["remedy"]
    assert "Traceback" not in complaints


async def test_a_wrong_token_is_reported_but_never_printed(
    discord: LoopbackDiscord, tmp_path: Path
) -> None:
    environ = login(discord, tmp_path) | {"DISCORD_TOKEN": "MTIz.wrong.token-never-issued"}
    status, output, complaints = await doctor(tmp_path, "--quick", "--json", environ=environ)
    assert status == 1
    assert "does not accept the token" in found(output, "Discord")[0]["found"]
    assert "never-issued" not in output + complaints


@pytest.mark.parametrize("given", ["123456789012345678", "DISCORD_TOKEN=MTIz.abc.def", "f" * 64])
async def test_a_text_that_is_not_a_token_fails_before_any_connection(
    tmp_path: Path, given: str
) -> None:
    environ = {"DISCORD_TOKEN": given, "ASIDE_DISCORD__PROXY": "http://127.0.0.1:9"}
    status, output, complaints = await doctor(tmp_path, "--quick", "--json", environ=environ)
    assert status == 1
    assert found(output, "Discord")[0]["found"].startswith("DISCORD_TOKEN: ")
    assert given not in output + complaints


async def test_an_unreachable_proxy_is_named_as_the_cause(
    discord: LoopbackDiscord, tmp_path: Path
) -> None:
    environ = login(discord, tmp_path) | {"ASIDE_DISCORD__PROXY": "http://127.0.0.1:9"}
    _, output, _ = await doctor(tmp_path, "--quick", "--json", environ=environ)
    assert "the proxy in `discord.proxy`" in found(output, "Discord")[0]["found"]


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (socket_error(socket.gaierror(-2, "Name or service not known")), "DNS server"),
        (ssl.SSLError("certificate verify failed"), "certificate is not trusted"),
        (TimeoutError(), "did not answer in time"),
        (ConnectionResetError(), "Check the network"),
        (discord.ConnectionClosed(ClosedSocket(4011), shard_id=None), "several shards"),
        (discord.ConnectionClosed(ClosedSocket(4000), shard_id=None), "closed the connection"),
        (discord.GatewayNotFound(), "gateway is not available"),  # type: ignore[no-untyped-call] # of discord.py
    ],
)
def test_a_failed_login_names_its_cause(error: Exception, message: str) -> None:
    explained = explain_login_error(error)
    assert message in str(explained)
    assert not isinstance(explained, UserInputError)


def test_a_rejected_token_is_a_user_error() -> None:
    assert isinstance(explain_login_error(discord.LoginFailure("no")), UserInputError)
    with pytest.raises(ZeroDivisionError):
        explain_login_error(ZeroDivisionError())


def make_database(path: Path, *statements: str) -> None:
    """Create a database of Aside and run statements on it."""

    async def create() -> None:
        async with await Store.open(path):
            pass

    asyncio.run(create())
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("aside.db*")}


def test_a_usable_database_passes_and_is_not_changed(tmp_path: Path) -> None:
    path = tmp_path / "aside.db"
    assert "will be created" in describe_database(path)
    assert contents(tmp_path) == {}
    make_database(path)
    before = contents(tmp_path)
    assert describe_database(path).startswith(str(path))
    assert contents(tmp_path) == before


@pytest.mark.parametrize(
    ("statements", "message"),
    [
        (("PRAGMA user_version = 9999",), "newer"),
        (("PRAGMA application_id = 7",), "is not a database of Aside"),
    ],
)
def test_a_database_that_the_start_refuses_fails_and_is_not_changed(
    tmp_path: Path, statements: tuple[str, ...], message: str
) -> None:
    path = tmp_path / "aside.db"
    make_database(path, *statements)
    before = contents(tmp_path)
    with pytest.raises(StoreError, match=message) as caught:
        describe_database(path)
    assert str(path) in str(caught.value)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("content", [b"Shall I compare thee " * 300, b"SQLite format 3\x00" * 300])
def test_a_file_that_is_not_a_database_fails(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "aside.db"
    path.write_bytes(content)
    with pytest.raises(StoreError, match="aside\\.db"):
        describe_database(path)
    assert contents(tmp_path) == {"aside.db": content}


def test_a_damaged_database_fails(tmp_path: Path) -> None:
    path = tmp_path / "aside.db"
    make_database(path)
    data = bytearray(path.read_bytes())
    data[4096:16384] = bytes(12288)
    path.write_bytes(data)
    with pytest.raises(StoreError, match="damaged"):
        describe_database(path)


def test_a_folder_in_place_of_the_database_fails(tmp_path: Path) -> None:
    (tmp_path / "aside.db").mkdir()
    with pytest.raises(StoreError, match="is a folder"):
        describe_database(tmp_path / "aside.db")
    (tmp_path / "file").write_text("text")
    with pytest.raises(StoreError):
        describe_database(tmp_path / "file" / "aside.db")


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere"
)
def test_a_read_only_database_fails(tmp_path: Path) -> None:
    path = tmp_path / "aside.db"
    make_database(path)
    path.chmod(0o400)
    with pytest.raises(StoreError, match="can't be written"):
        describe_database(path)
