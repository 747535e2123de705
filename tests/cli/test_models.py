from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from bot.engine.local.local_engine import LocalEngine
from bot.engine.local.local_options import LocalOptions
from bot.engine.protocol import Request
from bot.errors import ModelFileError
from bot.her.chatml import render_chatml
from bot.her.layout import Message, Role
from bot.weights.find_model import find_model
from tests.cli.conftest import complaint, data, put
from tests.weights.loopback_hub import LoopbackHub
from tests.weights.random_qwen3 import make_checkpoint
from tests.weights.sample_gguf import make_gguf

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from typer.testing import Result

    from tests.cli.conftest import Aside

FILE = "Qwen3-0.6B-Q8_0.gguf"
GGUF, SAFETENSORS = "Qwen/Qwen3-0.6B-GGUF", "Qwen/Qwen3-0.6B"


@pytest.fixture(autouse=True)
def weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Use an empty folder for weights and an unreachable hub."""
    for name in [name for name in os.environ if name.startswith("HF_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    put("aside.yaml", "engine:\n  weights: weights\nlibrary:\n  folders: [books]\n")
    return tmp_path / "weights"


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackHub]:
    with LoopbackHub() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        hub.put(GGUF, FILE, make_gguf(tmp_path / "x.gguf").read_bytes())
        yield hub


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_checkpoint(
        tmp_path_factory.mktemp("checkpoint") / "Qwen3-0.6B", tie_word_embeddings=True
    ).folder


def publish(hub: LoopbackHub, folder: Path) -> None:
    for file in folder.iterdir():
        hub.put(SAFETENSORS, file.name, file.read_bytes())


def output_of(result: Result) -> str:
    assert result.exit_code == 0, result.output
    return result.stdout


def named(listed: list[dict[str, Any]], name: str) -> dict[str, Any]:
    return next(one for one in listed if one["name"] == name)


def test_the_list_shows_installed_models_and_fits(aside: Aside) -> None:
    shown = output_of(aside("models", "list", "--vram", "24GiB"))
    for words in ("HER-32B", "Qwen3-8B", "a stand-in", "(a judge)", "Apache-2.0"):
        assert words in shown
    listed = data(aside("models", "list", "--vram", "24GiB", "--json"))
    assert named(listed, "demo")["here"][0]["quantisation"] == "Q4_1"
    her = named(listed, "HER-32B")
    assert (her["here"], her["dialect"], her["checkpoint"]) == ([], "her", "ChengyuDu0123/HER-32B")
    best = next(fit for fit in her["fits"] if fit["best"])
    assert (best["quantisation"], best["on_gpu"], best["plan"]["minds"]) == ("Q4_K_M", True, 4)


def test_show_prints_source_licence_sampling_and_sizes(aside: Aside) -> None:
    shown = output_of(aside("models", "show", "her-32b"))
    for words in (
        "hf:ChengyuDu0123/HER-32B",
        "Apache-2.0",
        "temperature 0.7",
        "Q4_K_M",
        "aside models build HER-32B",
    ):
        assert words in shown
    assert "HER-32B" in complaint(aside("models", "show", "her-23b"))


def test_fit_shows_used_and_free_memory_and_the_best_quantisation(aside: Aside) -> None:
    shown = output_of(aside("models", "fit", "HER-32B", "--vram", "24GiB"))
    assert "the hub can't be reached" in shown
    (best,) = [line for line in shown.splitlines() if "→" in line]
    assert best.split()[1:] == [
        "Q4_K_M",
        "18.4",
        "4.2",
        "0.5",
        "0.7",
        "4",
        "8,192",
        "all",
        "on",
        "the",
        "GPU,",
        "q8_0",
    ]
    fitted = data(
        aside(
            "models",
            "fit",
            "her-32b",
            "--vram",
            "24GiB",
            "--context",
            "4096",
            "--minds",
            "1",
            "--json",
        )
    )
    plans = [one["plan"] for one in fitted["quantisations"] if one["plan"]]
    assert {(plan["context"], plan["minds"]) for plan in plans} == {(4096, 1)}


def test_fit_measures_a_file_and_defaults_to_the_configured_model(
    aside: Aside, tmp_path: Path
) -> None:
    path = make_gguf(tmp_path / "mine-Q4_0.gguf")
    assert "Q4_0" in output_of(aside("models", "fit", str(path)))
    put("aside.yaml", "engine:\n  model: demo\n")
    assert output_of(aside("models", "fit")).startswith("demo, measured by the file's header")


@pytest.mark.parametrize("size", ["much", "24 furlongs", "-3GiB"])
def test_an_invalid_size_is_rejected(aside: Aside, size: str) -> None:
    assert "Write it like 24GiB" in complaint(aside("models", "fit", "HER-32B", f"--vram={size}"))


def test_a_model_is_downloaded_and_found_by_its_name(
    aside: Aside, hub: LoopbackHub, weights: Path
) -> None:
    pulled = aside("models", "pull", "qwen3-0.6b")
    path = weights / "Qwen--Qwen3-0.6B-GGUF" / FILE
    assert output_of(pulled) == f"{path.relative_to(weights.parent)}\n"
    assert "model: Qwen3-0.6B}" in pulled.stderr
    found = find_model("qwen3-0.6b", folder=weights, fetching=False)
    assert (found.path, found.stand_in, found.dialect) == (path, True, "stand-in")
    assert "Q8_0" in output_of(aside("models", "list"))
    hub.close()
    assert find_model("Qwen3-0.6B:q8_0", folder=weights).path == path


def test_an_unavailable_quantisation_lists_the_available_ones(
    aside: Aside, hub: LoopbackHub
) -> None:
    del hub
    assert (
        "has no Q6_K. Choose one of Q8_0."
        in complaint(aside("models", "pull", "Qwen3-0.6B", "--quant", "Q6_K"), 2)[-60:]
    )
    assert "Q4_K_M" in complaint(aside("models", "pull", "Qwen3-0.6B", "--quant", "Q4KM"))


def test_a_file_is_downloaded_by_its_address(aside: Aside, hub: LoopbackHub, weights: Path) -> None:
    output_of(aside("models", "pull", f"hf:{GGUF}/{FILE}"))
    output_of(aside("models", "pull", f"hf:{GGUF}", "--quant", "Q8_0"))
    assert len(hub.ranges) == 1
    assert find_model(f"hf:{GGUF}/{FILE}", folder=weights, fetching=False).path.is_file()


def complaint_after_bars(result: Result, status: int) -> str:
    assert result.exit_code == status, result.output
    return result.stderr.splitlines()[-1]


def test_a_model_without_a_download_is_explained(aside: Aside, hub: LoopbackHub) -> None:
    del hub
    assert "aside models build HER-32B" in complaint(aside("models", "pull", "HER-32B"))
    assert "extra `try`" in complaint(aside("models", "pull", "demo"))
    assert "no repository" in complaint(aside("models", "pull", "hf:a/b/c.gguf"), 2)
    assert "Write hf:OWNER/REPO/FILE.gguf" in complaint(aside("models", "pull", "hf:a/b/c/d"))


async def test_a_model_is_built_from_safetensors_and_generates(
    aside: Aside, hub: LoopbackHub, weights: Path, checkpoint: Path
) -> None:
    publish(hub, checkpoint)
    made = aside("models", "build", "Qwen3-0.6B", "--quant", "Q8_0")
    assert output_of(made).endswith(f"Qwen--Qwen3-0.6B/{FILE}\n")
    assert "of disk space" in made.stderr
    assert "model: Qwen3-0.6B}" in made.stderr
    assert {
        path.name
        for path in (weights / "Qwen--Qwen3-0.6B").iterdir()
        if not path.name.startswith(".")
    } == {
        FILE,
        f"{FILE}.sha256",
    }
    assert output_of(aside("models", "verify")).count(": intact") == 2  # this one and the demo
    engine = LocalEngine(
        LocalOptions(model="Qwen3-0.6B", weights=weights, context=512, minds=1, threads=1)
    )
    await engine.start()
    try:
        prompt = render_chatml([Message(Role.USER, "Good evening!")])
        chunks = [
            chunk async for chunk in engine.generate(Request(prompt, mind="one", max_tokens=8))
        ]
    finally:
        await engine.close()
    assert chunks[-1].finish
    assert engine.info.model == "Qwen3-0.6B (a stand-in)"


def test_a_local_folder_of_safetensors_is_built(aside: Aside, checkpoint: Path) -> None:
    path = output_of(aside("models", "build", str(checkpoint), "--quant", "BF16")).strip()
    assert output_of(aside("models", "fit", path)).startswith(path)
    assert "no config.json" in complaint_after_bars(aside("models", "build", "books"), 2)
    assert "has no safetensors" in complaint(aside("models", "build", "demo"))


def test_an_own_file_can_be_added_and_removed(aside: Aside, tmp_path: Path, weights: Path) -> None:
    mine = make_gguf(tmp_path / "My model.gguf", name="My Own")
    assert (
        aside("models", "add", str(mine), "--name", "mine", "--dialect", "stand-in").exit_code == 0
    )
    found = find_model("Mine", folder=weights)
    assert (found.path, found.title, found.dialect) == (mine, "My Own", "stand-in")
    assert "mine" in output_of(aside("models", "list"))
    assert "already" in complaint(aside("models", "add", str(mine), "--name", "MINE"))
    assert "already" in complaint(aside("models", "add", str(mine), "--name", "her-32b"))
    mine.rename(tmp_path / "moved.gguf")
    with pytest.raises(ModelFileError, match="is missing"):
        find_model("mine", folder=weights)
    assert aside("models", "remove", "mine").exit_code == 0
    assert (tmp_path / "moved.gguf").is_file()
    assert "There is no model" in complaint(aside("models", "show", "mine"))


def test_an_added_model_can_bring_its_own_requirements(
    aside: Aside, tmp_path: Path, weights: Path
) -> None:
    mine = make_gguf(tmp_path / "mine.gguf")
    wording = put("requirements.txt", "Play {character}.\n(Think in secret.)\n")
    added = aside("models", "add", str(mine), "--name", "mine", "--requirements", str(wording))
    assert added.exit_code == 0, added.output
    assert (
        find_model("mine", folder=weights).requirements == "Play {character}.\n(Think in secret.)\n"
    )
    put(
        "aside.yaml",
        "library: {folders: [books]}\nengine: {model: mine, weights: weights}\n",
    )
    shown = aside("prompt", "morning-call", "papa")
    assert "===Requirements===\nPlay Mr Bennet.\n(Think in secret.)<|im_end|>" in shown.stdout
    missing = aside("models", "add", str(mine), "--name", "other", "--requirements", "absent.txt")
    assert "absent.txt" in complaint(missing)


def test_an_invalid_file_is_not_added(aside: Aside, tmp_path: Path) -> None:
    page = tmp_path / "page.gguf"
    page.write_text("<html>")
    assert "web page" in complaint(aside("models", "add", str(page)))
    mine = make_gguf(tmp_path / "mine.gguf")
    for options in (["--name", "../../evil"], ["--dialect", "klingon"]):
        assert "is not a valid entry" in complaint(aside("models", "add", str(mine), *options))
    assert {path.name for path in tmp_path.rglob("*.yaml")} == {"scenario.yaml", "aside.yaml"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"<html>404</html>", "web page"),
        (b"version https://git-lfs.github.com/spec/v1\n", ""),
        (b"", ""),
        (b"GGUF", ""),
        (b"PK\x03\x04" + bytes(100), ""),
        (bytes(5000), ""),
    ],
)
@pytest.mark.parametrize("command", [("models", "fit"), ("models", "add")])
def test_a_file_that_is_not_a_model_is_a_user_error(
    aside: Aside, tmp_path: Path, command: tuple[str, ...], content: bytes, message: str
) -> None:
    path = tmp_path / "mine.gguf"
    path.write_bytes(content)
    assert message in complaint(aside(*command, str(path)), 2)


def test_a_missing_model_file_is_a_user_error(aside: Aside) -> None:
    for command in (("models", "fit"), ("models", "add")):
        assert "missing.gguf" in complaint(aside(*command, "missing.gguf"), 2)


def test_a_model_is_removed_after_confirmation(
    aside: Aside, hub: LoopbackHub, weights: Path
) -> None:
    del hub
    output_of(aside("models", "pull", "Qwen3-0.6B"))
    path = weights / "Qwen--Qwen3-0.6B-GGUF" / FILE
    assert aside("models", "remove", "Qwen3-0.6B", given="n\n").exit_code == 1
    assert path.is_file()
    assert aside("models", "remove", "Qwen3-0.6B:Q8_0", given="y\n").exit_code == 0
    assert list(path.parent.iterdir()) == []
    assert "no files to delete" in complaint(aside("models", "remove", "Qwen3-0.6B", "--yes"))
    assert "no files to delete" in complaint(aside("models", "remove", "demo", "--yes"))


def test_verify_finds_a_changed_file(aside: Aside, hub: LoopbackHub, weights: Path) -> None:
    del hub
    output_of(aside("models", "pull", "Qwen3-0.6B"))
    assert output_of(aside("models", "verify", "Qwen3-0.6B")) == "Qwen3-0.6B Q8_0: intact\n"
    path = weights / "Qwen--Qwen3-0.6B-GGUF" / FILE
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    checked = aside("models", "verify")
    assert checked.exit_code == 1
    assert "the hash differs" in checked.stdout
    assert "1 of 2 models are damaged" in checked.stderr


def test_the_hub_token_is_never_printed(
    aside: Aside, hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_" + "t" * 30)
    hub.gated = {GGUF}
    for arguments in (["pull", "Qwen3-0.6B"], ["list"], ["pull", "hf:a/b/c.gguf"]):
        assert "hf_t" not in aside("models", *arguments).output


def test_an_interrupted_pull_is_resumed_by_the_next_one(aside: Aside, hub: LoopbackHub) -> None:
    hub.files[GGUF][FILE] += bytes(24_000_000)
    hub.before_sending = lambda: time.sleep(0.5)
    hub.breaks = [11_000_000, 11_000_000]
    command = [sys.executable, "-m", "bot", "models", "pull", "Qwen3-0.6B"]
    environ = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    program = subprocess.Popen(
        command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 30
    while len(hub.ranges) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    program.send_signal(signal.SIGINT)
    out, err = program.communicate(timeout=20)
    assert (program.returncode, out) == (130, "")
    assert "Traceback" not in err
    hub.breaks, hub.before_sending = [], lambda: None
    output_of(aside("models", "pull", "Qwen3-0.6B"))
    assert hub.ranges[-1] not in ("", "bytes=0-")


def test_added_models_are_stored_as_yaml(aside: Aside, tmp_path: Path, weights: Path) -> None:
    aside("models", "add", str(make_gguf(tmp_path / "mine.gguf")))
    (file,) = weights.rglob("mine.yaml")
    assert (
        yaml.safe_load(file.read_text(encoding="utf-8"))["source"]
        == f"file:{tmp_path / 'mine.gguf'}"
    )
