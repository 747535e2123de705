"""Settings: nothing is needed, everything can be set, and what is wrong is told with its place and never a secret."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest
from pydantic import BaseModel, SecretStr, ValidationError

from bot.engine.local.local_options import LocalOptions
from bot.engine.remote_engine import RemoteOptions
from bot.errors import SettingsError
from bot.scenes.reply_generation import ReplyLimits
from bot.settings import (
    DiscordSettings,
    LocalEngineSettings,
    PlaySettings,
    RemoteEngineSettings,
    Settings,
    load_settings,
)

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


# What holds


def test_nothing_needs_to_be_set(tmp_path: Path) -> None:
    assert load(tmp_path) == Settings()
    assert Settings().discord.token is None
    assert Settings().discord.guilds is None
    assert local(Settings()).model == "demo"


@pytest.mark.parametrize(
    "text", ["", "# all of it commented out\n", "engine:\n  # model: x\ndiscord:\n"]
)
def test_an_empty_file_sets_nothing(tmp_path: Path, text: str) -> None:
    assert load(tmp_path, text) == Settings()


def test_a_file_sets_what_it_names(tmp_path: Path) -> None:
    settings = load(
        tmp_path,
        """
        discord: {guilds: [42], mention_roles: false, proxy: "http://127.0.0.1:3128"}
        engine: {model: her.gguf, gpu_layers: 20, flash_attention: on, sampling: {temperature: 0.4}}
        play: {max_tokens: 900, planning_tokens: 200}
        library: {folders: [mine, /srv/scenes]}
        store: {path: scenes.db}
        logging: {level: debug, file: aside.log}
        """,
    )
    assert settings.discord.guilds == (42,)
    assert settings.discord.proxy == "http://127.0.0.1:3128"
    assert local(settings).gpu_layers == 20
    assert local(settings).flash_attention == "on"
    assert local(settings).sampling is not None
    assert settings.play.planning_tokens == 200
    assert settings.library.folders == (Path("mine"), Path("/srv/scenes"))
    assert settings.store.path == Path("scenes.db")
    assert settings.logging.level == "DEBUG"


def test_a_variable_counts_before_the_file(tmp_path: Path) -> None:
    settings = load(
        tmp_path,
        "engine: {model: a.gguf, context: 4096}\ndiscord: {guilds: [1]}\n",
        ASIDE_ENGINE__MODEL="b.gguf",
        ASIDE_DISCORD__GUILDS="2, 3",
        ASIDE_ENGINE__SAMPLING__TOP_P="0.5",
        ASIDE_LIBRARY__FOLDERS="mine",
    )
    assert local(settings).model == "b.gguf"
    assert local(settings).context == 4096
    assert local(settings).sampling is not None
    assert settings.discord.guilds == (2, 3)
    assert settings.library.folders == (Path("mine"),)


def test_an_address_makes_the_engine_remote(tmp_path: Path) -> None:
    engine = remote(load(tmp_path, "engine: {base_url: 'http://127.0.0.1:8080/v1/', model: her}"))
    assert engine.base_url == ("http://127.0.0.1:8080/v1",)
    assert engine.dialect == "her"
    two = load(tmp_path, ASIDE_ENGINE__BASE_URL="http://a/v1,http://b/v1")
    assert remote(two).base_url == ("http://a/v1", "http://b/v1")


def test_whether_somebody_chose_the_model_is_known(tmp_path: Path) -> None:
    assert not load(tmp_path).model_chosen
    assert not load(tmp_path, "engine: {threads: 2}").model_chosen
    assert load(tmp_path, "engine: {model: demo}").model_chosen
    assert load(tmp_path, "", ASIDE_ENGINE__MODEL="x.gguf").model_chosen


def test_another_file_may_be_named(tmp_path: Path) -> None:
    other = tmp_path / "other.yaml"
    other.write_text("engine: {model: x}")
    assert local(load_settings(other, {}, tmp_path)).model == "x"
    assert local(load(tmp_path, "engine: {model: y}", ASIDE_CONFIG=str(other))).model == "x"
    with pytest.raises(SettingsError, match=r"none\.yaml: does not exist"):
        load_settings(tmp_path / "none.yaml", {}, tmp_path)
    assert "none.yaml: does not exist" in complaint(
        tmp_path, ASIDE_CONFIG=str(tmp_path / "none.yaml")
    )


def test_env_file_sets_variables_and_the_environment_counts_before_it(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(
        f"DISCORD_TOKEN='{TOKEN}'\nASIDE_ENGINE__MODEL=a.gguf\nASIDE_ENGINE__THREADS=2\n"
    )
    settings = load(tmp_path, ASIDE_ENGINE__MODEL="b.gguf")
    assert settings.discord.token == SecretStr(TOKEN)
    assert local(settings).model == "b.gguf"
    assert local(settings).threads == 2


def test_settings_never_change() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Settings().store.path = Path("x")


# Secrets


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
def test_a_token_is_cleaned_of_what_was_pasted_along(tmp_path: Path, pasted: str) -> None:
    assert load(tmp_path, DISCORD_TOKEN=pasted).discord.token == SecretStr(TOKEN)
    assert DiscordSettings(token=SecretStr(pasted)).token == SecretStr(TOKEN)


@pytest.mark.parametrize("nothing", ["", "  ", '""', "\n"])
def test_an_empty_token_is_none(tmp_path: Path, nothing: str) -> None:
    assert load(tmp_path, DISCORD_TOKEN=nothing).discord.token is None


def test_a_token_that_can_be_none_is_told_without_quoting_it(tmp_path: Path) -> None:
    sentence = complaint(tmp_path, DISCORD_TOKEN="geheim•geheim")
    assert sentence == "DISCORD_TOKEN: it holds characters that no token has: copy it again."


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
def test_a_secret_in_the_file_is_sent_where_it_belongs(
    tmp_path: Path, text: str, variable: str
) -> None:
    sentence = complaint(tmp_path, text)
    assert re.fullmatch(
        rf"aside\.yaml, line 1.*a secret must not stand in this file: put it into .*{variable}\.",
        sentence,
    )
    assert TOKEN not in sentence


def test_a_secret_under_another_variables_name_is_sent_where_it_belongs(tmp_path: Path) -> None:
    sentence = complaint(tmp_path, ASIDE_DISCORD__TOKEN=TOKEN)
    assert (
        sentence
        == "ASIDE_DISCORD__TOKEN: this is read from DISCORD_TOKEN only: call the variable that."
    )


def test_the_key_of_a_remote_engine_comes_from_its_variable(tmp_path: Path) -> None:
    text = "engine: {base_url: 'http://a/v1', model: x}"
    assert remote(load(tmp_path, text, ASIDE_API_KEY="'Bearer k-1'")).api_key == SecretStr("k-1")
    assert load(tmp_path, "", ASIDE_API_KEY="k-1") == Settings()


def test_no_secret_shows_when_settings_are_printed_or_refused(tmp_path: Path) -> None:
    text = "engine: {base_url: 'http://a/v1', model: x}\ndiscord: {proxy: 'http://me:hush@a:1'}"
    settings = load(tmp_path, text, DISCORD_TOKEN=TOKEN, ASIDE_API_KEY="k-1-secret")
    for shown in (repr(settings), str(settings)):
        assert not [secret for secret in (TOKEN, "k-1-secret", "hush") if secret in shown]
    with pytest.raises(ValidationError) as caught:
        DiscordSettings.model_validate({"token": TOKEN, "guilds": ["x"], "tokn": TOKEN})
    assert TOKEN not in str(caught.value)
    assert TOKEN not in complaint(tmp_path, f"discord: {{tokn: {TOKEN}}}", DISCORD_TOKEN=TOKEN)
    assert "hush" not in complaint(tmp_path, "discord: {proxy: 'me:hush@a:1'}")


# What is wrong


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("engin: {model: x}", "line 1, column 1: `engin` is no key here: write `engine`"),
        (
            "engine:\n  gpu_layer: 3\n",
            "line 2, column 3: `gpu_layer` is no key here: write `gpu_layers`",
        ),
        (
            "engine: {gpu_layers: lots}",
            "`gpu_layers` must be a whole number or `auto` or `all`, not `lots`",
        ),
        (
            "engine: {gpu_layers: -1}",
            "`gpu_layers` must be at least 0 or `auto` or `all`, not `-1`",
        ),
        ("engine: {kind: cloud}", "`kind` of `engine` must be one of `local`, `remote`"),
        ("engine: {kind: remote}", "`base_url` is missing: add `base_url: …`"),
        ("engine: local", "`engine` must be a group of keys, not `local`"),
        (
            "engine: {base_url: 'localhost:8080', model: x}",
            "an address must begin with http:// or https://",
        ),
        ("engine: {base_url: 'http://me:pw@a/v1', model: x}", "put the key into ASIDE_API_KEY"),
        ("engine: {base_url: [], model: x}", "`base_url` has too few entries: give at least 1"),
        ("engine: {context: 12}", "`context` must be at least 512, not `12`"),
        ("engine: {hung_after: .nan}", "`hung_after` must be"),
        ("discord: {guilds: []}", "`guilds` names no server, so nobody could play"),
        ("discord: {guilds: [abc]}", "entry 1 of `guilds` must be a whole number, not `abc`"),
        ("discord: {guilds: [-4]}", "entry 1 of `guilds` must be more than 0, not `-4`"),
        ("discord: {proxy: 3}", "`proxy` must be text"),
        (
            "logging: {level: loud}",
            "`level` must be `DEBUG`, `INFO`, `WARNING` or `ERROR`, not `loud`",
        ),
        (
            "play: {max_tokens: 100, planning_tokens: 100}",
            "`planning_tokens` must be smaller than `max_tokens`",
        ),
        ("store: {path: 3}", "`path` must be a path, not `3`"),
        ("- engine", "the file is a list and no group of keys"),
    ],
)
def test_what_is_wrong_in_the_file_is_told_with_its_place(
    tmp_path: Path, text: str, told: str
) -> None:
    sentence = complaint(tmp_path, text)
    assert sentence.startswith("aside.yaml, line ")
    assert told in sentence


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("ASIDE_ENGINE__MODLE", "x", "no setting is called that: write ASIDE_ENGINE__MODEL or"),
        ("ASIDE_MODEL", "x", "ASIDE_ENGINE__MODEL"),
        ("ASIDE_ENGINE", "local", "no setting is called that"),
        ("ASIDE_CONFG", "x", "write ASIDE_CONFIG"),
        ("ASIDE_XYZZY", "x", "no setting is called that"),
        ("ASIDE_ENGINE__CONTEXT", "large", "`context` must be a whole number, not `large`"),
        ("ASIDE_ENGINE__MODEL", " ", "the variable is empty: give it a value, or unset it"),
        ("ASIDE_CONFIG", "", "the variable is empty"),
        ("ASIDE_DISCORD__GUILDS", "[]", "`guilds` names no server"),
        ("ASIDE_DISCORD__GUILDS", "1,two", "entry 2 of `guilds` must be a whole number, not `two`"),
    ],
)
def test_what_is_wrong_in_a_variable_is_told_by_its_name(
    tmp_path: Path, name: str, value: str, told: str
) -> None:
    sentence = complaint(tmp_path, "engine: {model: x}", **{name: value})
    assert sentence.startswith(f"{name}: ")
    assert told in sentence


def test_a_variable_does_not_hide_what_is_wrong_in_the_file(tmp_path: Path) -> None:
    assert "`engine` must be a group of keys" in complaint(
        tmp_path, "engine: local", ASIDE_ENGINE__MODEL="x"
    )
    assert "the file is a list" in complaint(tmp_path, "- x", ASIDE_ENGINE__MODEL="x")


def test_other_peoples_variables_are_left_alone(tmp_path: Path) -> None:
    assert load(tmp_path, PATH="/bin", BESIDE_ENGINE="x", aside_engine="x") == Settings()


def test_an_env_file_in_another_encoding_is_told(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes("DISCORD_TOKEN=x".encode("utf-16"))
    assert ".env: is UTF-16: save it as UTF-8" in complaint(tmp_path)


# What the others make of it


@pytest.mark.parametrize(
    ("settings", "options"),
    [(LocalEngineSettings, LocalOptions), (RemoteEngineSettings, RemoteOptions)],
)
def test_an_engine_can_be_set_in_all_that_it_leaves_open(
    settings: type[BaseModel], options: type
) -> None:
    assert settings.model_fields.keys() - {"kind"} == {field.name for field in fields(options)}


def test_an_engines_defaults_are_its_own(tmp_path: Path) -> None:
    assert LocalOptions(**LocalEngineSettings().options()) == LocalOptions()
    chosen = remote(load(tmp_path, "engine: {base_url: 'http://a/v1'}")).options()
    assert RemoteOptions(**chosen) == RemoteOptions(base_url=("http://a/v1",))


def test_play_settings_have_the_fields_of_a_performances_limits() -> None:
    assert ReplyLimits(**PlaySettings().limits()) == ReplyLimits()
