"""Settings are read from the file and the variables, and mistakes are reported."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr, ValidationError

from bot.errors import SettingsError
from bot.settings import (
    Settings,
    load_settings,
)
from tests.settings.conftest import TOKEN, complaint, load, local, remote


def test_every_setting_has_a_default(tmp_path: Path) -> None:
    assert load(tmp_path) == Settings()
    assert Settings().discord.token is None
    assert Settings().discord.guilds is None
    assert local(Settings()).model == "demo"


@pytest.mark.parametrize(
    "text", ["", "# all of it commented out\n", "engine:\n  # model: x\ndiscord:\n"]
)
def test_an_empty_file_leaves_the_defaults(tmp_path: Path, text: str) -> None:
    assert load(tmp_path, text) == Settings()


def test_an_id_with_a_leading_zero_is_not_octal(tmp_path: Path) -> None:
    assert load(tmp_path, "discord: {guilds: [0123]}").discord.guilds == (123,)


def test_a_file_sets_values(tmp_path: Path) -> None:
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


def test_a_variable_overrides_the_file(tmp_path: Path) -> None:
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


def test_a_chosen_model_is_distinguished_from_the_default(tmp_path: Path) -> None:
    assert not load(tmp_path).model_chosen
    assert not load(tmp_path, "engine: {threads: 2}").model_chosen
    assert load(tmp_path, "engine: {model: demo}").model_chosen
    assert load(tmp_path, "", ASIDE_ENGINE__MODEL="x.gguf").model_chosen


def test_another_file_can_be_chosen(tmp_path: Path) -> None:
    other = tmp_path / "other.yaml"
    other.write_text("engine: {model: x}")
    assert local(load_settings(other, {}, tmp_path)).model == "x"
    assert local(load(tmp_path, "engine: {model: y}", ASIDE_CONFIG=str(other))).model == "x"
    with pytest.raises(SettingsError, match=r"none\.yaml: the file does not exist"):
        load_settings(tmp_path / "none.yaml", {}, tmp_path)
    assert "none.yaml: the file does not exist" in complaint(
        tmp_path, ASIDE_CONFIG=str(tmp_path / "none.yaml")
    )


def test_the_environment_overrides_the_env_file(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(
        f"DISCORD_TOKEN='{TOKEN}'\nASIDE_ENGINE__MODEL=a.gguf\nASIDE_ENGINE__THREADS=2\n"
    )
    settings = load(tmp_path, ASIDE_ENGINE__MODEL="b.gguf")
    assert settings.discord.token == SecretStr(TOKEN)
    assert local(settings).model == "b.gguf"
    assert local(settings).threads == 2


def test_only_requirements_may_have_several_lines(tmp_path: Path) -> None:
    settings = load(tmp_path, "engine:\n  requirements: Be\n    brief.\n  flash_attention: on\n")
    assert local(settings).requirements == "Be brief."
    assert local(settings).flash_attention == "on"


def test_settings_are_immutable() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Settings().store.path = Path("x")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "engin: {model: x}",
            "line 1, column 1: `engin` is not a known key here. Did you mean `engine`?",
        ),
        (
            "engine:\n  gpu_layer: 3\n",
            "line 2, column 3: `gpu_layer` is not a known key here. Did you mean `gpu_layers`?",
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
        ("engine: {kind: remote}", "`base_url` is missing. Add `base_url: …`"),
        ("engine: local", "`engine` must be a group of keys, not `local`"),
        (
            "engine: {base_url: 'localhost:8080', model: x}",
            "an address must begin with http:// or https://",
        ),
        ("engine: {base_url: 'http://me:pw@a/v1', model: x}", "Put the key in ASIDE_API_KEY"),
        (
            "engine: {base_url: [], model: x}",
            "`base_url` has too few entries. Add entries until it has 1",
        ),
        ("engine: {context: 12}", "`context` must be at least 512, not `12`"),
        ("engine: {hung_after: .nan}", "`hung_after` must be"),
        ("discord: {guilds: []}", "`guilds` is an empty list"),
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
        ("store: {path: 3}", '`path` must be a path, not `3`. Put it in quotes: "3"'),
        ("- engine", "the file contains a list, not keys"),
        ("engine: {rpc: ['http://10.0.0.2:50052/']}", "Write `10.0.0.2:50052`"),
        ("engine: {rpc: 10.0.0.2}", "an RPC address needs a port. Write `10.0.0.2:50052`"),
        ("engine: {gpu_layers: yes}", "`gpu_layers` must be a number, not true or false"),
        ("engine: {minds: on}", "`minds` must be a number, not true or false"),
        ("engine: {sampling: {top_k: true}}", "`top_k` must be a number, not true or false"),
        ("discord: {guilds: [yes]}", "entry 1 of `guilds` must be a whole number, not `yes`"),
        ("library:\n  folders:\n    a\n    b\n", "`folders` is one text on several lines"),
        ("store:\n  path: my\n    file.db\n", "`path` is one text on several lines"),
        ("library:\n  folders:\n  -a\n  -b\n", "or `- text` for an entry of a list"),
        ("discord:\n  guilds:\n", "`guilds` has no value. Write one, or delete the line"),
        ("discord:\n  proxy:\n", "`proxy` has no value"),
        ("engine:\n  context:\n", "`context` has no value"),
        ("logging:\n  file: # later\n", "`file` has no value"),
        ("discord: {guilds: 12}", "must be a list, not `12`. Start each entry with `- `"),
        ('store: {path: "C:\\new\\table.db"}', "the path `C:\\new\\table.db` has a control"),
        ('engine: {model: "C:\\new.gguf"}', "the path `C:\\new.gguf` has a control"),
        ('library: {folders: "D:\\books"}', "the path `D:\\x08ooks` has a control"),
        ("engine: {model: demo #7}", "the text ends before the `#`"),
        ("engine: {base_url: 'http://a:1/v1/chat/completions'}", "Write `http://a:1/v1`"),
        ("engine: {base_url: 'https://huggingface.co/Qwen/Qwen3-8B'}", "a page on huggingface.co"),
        ("engine: {base_url: 'https://ollama.com'}", "`http://127.0.0.1:11434/v1`"),
        ("discord: {proxy: 'socks5://127.0.0.1:9'}", "this is a SOCKS proxy"),
        ("discord: {proxy: 'proxy.lan:3128'}", "Write `http://proxy.lan:3128` or"),
        ("discord: {guilds: ['https://discord.com/channels/12/34']}", "Write `12`"),
    ],
)
def test_a_mistake_in_the_file_is_reported_with_its_line(
    tmp_path: Path, text: str, message: str
) -> None:
    sentence = complaint(tmp_path, text)
    assert sentence.startswith("aside.yaml, line ")
    assert message in sentence


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        (
            "ASIDE_ENGINE__MODLE",
            "x",
            "no setting has this name. Did you mean ASIDE_ENGINE__MODEL?",
        ),
        ("ASIDE_DISCORD_GUILDS", "1", "Did you mean ASIDE_DISCORD__GUILDS?"),
        ("ASIDE_ENGINE__FOO", "x", "Did you mean ASIDE_ENGINE__"),
        ("ASIDE_TOKEN", "x", "Did you mean DISCORD_TOKEN?"),
        ("ASIDE_MODEL", "x", "ASIDE_ENGINE__MODEL"),
        ("ASIDE_ENGINE", "local", "no setting has this name"),
        ("ASIDE_CONFG", "x", "Did you mean ASIDE_CONFIG"),
        ("ASIDE_ENGINE__CONTEXT", "large", "`context` must be a whole number, not `large`"),
        ("ASIDE_ENGINE__MODEL", " ", "the variable is empty. Give it a value or unset it"),
        ("ASIDE_CONFIG", "", "the variable is empty"),
        ("ASIDE_DISCORD__GUILDS", "[]", "`guilds` is an empty list"),
        ("ASIDE_DISCORD__GUILDS", "1,two", "entry 2 of `guilds` must be a whole number, not `two`"),
    ],
)
def test_a_mistake_in_a_variable_is_reported_with_its_name(
    tmp_path: Path, name: str, value: str, message: str
) -> None:
    sentence = complaint(tmp_path, "engine: {model: x}", **{name: value})
    assert sentence.startswith(f"{name}: ")
    assert message in sentence


def test_a_variable_does_not_hide_a_mistake_in_the_file(tmp_path: Path) -> None:
    assert "`engine` must be a group of keys" in complaint(
        tmp_path, "engine: local", ASIDE_ENGINE__MODEL="x"
    )
    assert "the file contains a list" in complaint(tmp_path, "- x", ASIDE_ENGINE__MODEL="x")


@pytest.mark.parametrize(
    ("names", "warning"),
    [
        (("ASIDE_XYZZY",), "Ignored ASIDE_XYZZY, which is not a setting of Aside."),
        (("ASIDE_DEBUG", "ASIDE_HOME"), "Ignored ASIDE_DEBUG, ASIDE_HOME, which are not settings"),
        (
            ("ASIDE_SERVICE_HOST", "ASIDE_SERVICE_PORT", "ASIDE_PORT", "ASIDE_PORT_8080_TCP"),
            (
                "Ignored ASIDE_PORT, ASIDE_PORT_8080_TCP, ASIDE_SERVICE_HOST and 1 more variables. "
                "Kubernetes and Docker set such variables for a service called aside."
            ),
        ),
        (("ASIDE_PORT_53_UDP_ADDR",), "for a service called aside"),
        (("ASIDE_SERVICE_PORT_HTTP",), "for a service called aside"),
        (("ASIDE_ENGINE_SERVICE_HOST",), "for a service called aside"),
    ],
)
def test_foreign_variables_are_a_warning(
    tmp_path: Path, names: tuple[str, ...], warning: str
) -> None:
    warnings: list[str] = []
    environ = dict.fromkeys(names, "tcp://10.0.0.1:80")
    assert load_settings(environ=environ, folder=tmp_path, warn=warnings.append) == Settings()
    assert len(warnings) == 1
    assert warning in warnings[0]


def test_other_variables_are_ignored(tmp_path: Path) -> None:
    assert load(tmp_path, PATH="/bin", BESIDE_ENGINE="x", aside_engine="x") == Settings()


def test_a_folder_in_place_of_a_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / ".env").mkdir()
    assert ".env: this is a folder, not a file. Docker creates one" in complaint(tmp_path)


def test_an_env_file_in_another_encoding_is_rejected(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes("DISCORD_TOKEN=x".encode("utf-16"))
    assert ".env: the file is UTF-16. Save it as UTF-8" in complaint(tmp_path)
