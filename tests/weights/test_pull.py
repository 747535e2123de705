"""Downloads from the hub, with every kind of interruption."""

from __future__ import annotations

import hashlib
import logging
import os
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from bot.errors import ModelFileError, WeightsError
from bot.weights import hashes
from bot.weights.build import Build, HubSource
from bot.weights.hub import Hub
from bot.weights.paths import HubFile
from bot.weights.pull import choose_file, fetch
from tests.weights.loopback_hub import COMMIT, LoopbackHub
from tests.weights.random_qwen3 import make_checkpoint
from tests.weights.sample_gguf import make_gguf
from tests.weights.test_build import Steps

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MB = 10**6  # the client reads ten of them at once
REPO = "Qwen/Tiny-GGUF"
FILE = HubFile(REPO, "Tiny-Q8_0.gguf")


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = make_gguf(tmp_path_factory.mktemp("content") / "x.gguf", tensors=200)
    return path.read_bytes() + bytes(12 * MB)


@pytest.fixture
def hub(content: bytes, monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackHub]:
    for name in [name for name in os.environ if name.startswith("HF_")]:
        monkeypatch.delenv(name)
    with LoopbackHub() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        hub.put(REPO, FILE.name, content)
        yield hub


def refused(folder: Path, file: HubFile = FILE) -> str:
    with pytest.raises(WeightsError) as caught:
        fetch(file, folder)
    text = str(caught.value)
    assert "\n" not in text
    assert text.endswith(".")
    return text


def left(folder: Path) -> set[str]:
    return {
        path.name
        for path in folder.rglob("*")
        if path.is_file() and not path.name.endswith(".lock")
    }


def test_a_download_reports_progress_and_checks_the_hash(
    hub: LoopbackHub, content: bytes, tmp_path: Path
) -> None:
    heard: list[tuple[int, int]] = []
    path = fetch(FILE, tmp_path, lambda there, total: heard.append((there, total)))
    assert path == tmp_path / "Qwen--Tiny-GGUF" / FILE.name
    assert path.read_bytes() == content
    assert heard[-1] == (len(content), len(content))
    assert hashes.load_sha256(path) == hashlib.sha256(content).hexdigest()
    assert left(tmp_path) == {FILE.name, f"{FILE.name}.sha256"}
    asked = len(hub.ranges)
    fetch(FILE, tmp_path)
    assert len(hub.ranges) == asked  # already complete


def test_an_interrupted_download_resumes(hub: LoopbackHub, content: bytes, tmp_path: Path) -> None:
    hub.breaks = [11 * MB]
    assert fetch(FILE, tmp_path).read_bytes() == content
    assert hub.ranges[0] == ""
    assert hub.ranges[1].startswith("bytes=")
    assert int(hub.ranges[1][6:-1]) >= 10 * MB


def test_a_partial_download_of_an_earlier_run_is_resumed(
    hub: LoopbackHub, content: bytes, tmp_path: Path
) -> None:
    part = tmp_path / "Qwen--Tiny-GGUF" / f"{FILE.name}.{COMMIT[:12]}.part"
    part.parent.mkdir()
    part.write_bytes(content[:400_000])
    (part.parent / f"{FILE.name}.0123456789ab.part").write_bytes(b"of an older commit")
    assert fetch(FILE, tmp_path).read_bytes() == content
    assert hub.ranges == ["bytes=400000-"]
    assert left(tmp_path) == {FILE.name, f"{FILE.name}.sha256"}


def test_ctrl_c_keeps_the_partial_download(
    hub: LoopbackHub, content: bytes, tmp_path: Path
) -> None:
    def stop(there: int, _total: int) -> None:
        if there > 11 * MB:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(FILE, tmp_path, stop)
    assert fetch(FILE, tmp_path).read_bytes() == content
    assert int(hub.ranges[-1][6:-1]) >= 10 * MB


def test_a_lost_connection_is_reported_and_the_partial_download_stays(
    hub: LoopbackHub, content: bytes, tmp_path: Path
) -> None:
    hub.breaks = [11 * MB]
    hub.before_sending = lambda: threading.Timer(0.5, hub.close).start()
    said = refused(tmp_path)
    assert "again to resume" in said
    assert 10 * MB <= next(tmp_path.rglob("*.part")).stat().st_size < len(content)
    assert "can't be reached" in refused(tmp_path)


def test_a_download_with_a_wrong_hash_is_deleted(
    hub: LoopbackHub, content: bytes, tmp_path: Path
) -> None:
    hub.spoilt[FILE.name] = content[:-1] + b"!"
    assert "with a wrong hash" in refused(tmp_path)
    assert left(tmp_path) == set()
    hub.spoilt.clear()
    assert fetch(FILE, tmp_path).read_bytes() == content


def test_a_web_page_in_place_of_the_file_is_deleted(hub: LoopbackHub, tmp_path: Path) -> None:
    hub.spoilt[FILE.name] = b"<!DOCTYPE html><html>Please sign in</html>"
    assert "arrived shorter" in refused(tmp_path)
    assert sum(path.stat().st_size for path in tmp_path.rglob("*.part")) == 0
    hub.spoilt.clear()
    fetch(FILE, tmp_path)
    hub.answers_html = True
    assert "The answer is not from the hub" in refused(tmp_path)


def test_a_file_that_is_not_gguf_is_rejected_under_any_name(
    hub: LoopbackHub, tmp_path: Path
) -> None:
    hub.put(REPO, "fake.gguf", b"<html>" + bytes(5000))
    with pytest.raises(ModelFileError, match="web page"):
        fetch(HubFile(REPO, "fake.gguf"), tmp_path)
    assert left(tmp_path) == set()


def test_a_split_model_is_downloaded_with_all_its_parts(
    hub: LoopbackHub, content: bytes, tmp_path: Path
) -> None:
    for part in ("big-00001-of-00002.gguf", "big-00002-of-00002.gguf"):
        hub.put(REPO, f"Q8_0/{part}", content)
    heard: list[tuple[int, int]] = []
    path = fetch(
        HubFile(REPO, "Q8_0/big-00001-of-00002.gguf"), tmp_path, lambda *told: heard.append(told)
    )
    assert path.with_name("big-00002-of-00002.gguf").read_bytes() == content
    assert heard[-1] == (2 * len(content), 2 * len(content))
    del hub.files[REPO]["Q8_0/big-00002-of-00002.gguf"]
    assert "big-00002-of-00002.gguf" in refused(
        tmp_path / "b", HubFile(REPO, "Q8_0/big-00001-of-00002.gguf")
    )


def test_a_missing_quantisation_error_lists_the_published_ones(
    hub: LoopbackHub, content: bytes
) -> None:
    for name in (
        "other-Q8_0.gguf",
        "Q4/Tiny-Q4_K_M-00002-of-00002.gguf",
        "Q4/Tiny-Q4_K_M-00001-of-00002.gguf",
    ):
        hub.put(REPO, name, content[: 2**17])
    listed = Hub().repository(REPO)
    assert choose_file(listed, "Q8_0", "Tiny") == FILE
    assert choose_file(listed, "Q4_K_M").name == "Q4/Tiny-Q4_K_M-00001-of-00002.gguf"
    with pytest.raises(WeightsError, match=r"has no Q6_K\. Choose one of Q4_K_M, Q8_0\.$"):
        choose_file(listed, "Q6_K")


@pytest.mark.parametrize("prefer", ["", "Tiny", "mmproj"])
def test_only_a_model_is_chosen_among_files_of_other_kinds(
    hub: LoopbackHub, tmp_path: Path, prefer: str
) -> None:
    others = {
        "mmproj-Q8_0.gguf": make_gguf(tmp_path / "a", architecture="clip", kind="mmproj"),
        "old-mmproj-Q8_0.gguf": make_gguf(tmp_path / "b", architecture="clip"),
        "lora-Q8_0.gguf": make_gguf(tmp_path / "c", kind="adapter"),
        "imatrix-Q8_0.gguf": make_gguf(tmp_path / "d", kind="imatrix"),
        "T-Q8_0.gguf": make_gguf(tmp_path / "e", pooling=True),
        "v-Q8_0.gguf": make_gguf(tmp_path / "f", kind="vocab", tensors=0),
    }
    for name, path in others.items():
        hub.put(REPO, name, path.read_bytes())
    assert choose_file(Hub().repository(REPO), "Q8_0", prefer) == FILE
    for name in ("lora-Q8_0.gguf", "T-Q8_0.gguf"):
        hub.put("A/none", name, others[name].read_bytes())
    with pytest.raises(
        WeightsError,
        match=r"no model with Q8_0\. T-Q8_0\.gguf is an emb.* lora-Q8_0\.gguf is a LoRA",
    ):
        choose_file(Hub().repository("A/none"), "Q8_0")


def test_a_single_file_of_another_kind_is_refused_and_deleted(
    hub: LoopbackHub, tmp_path: Path
) -> None:
    hub.put("A/one", "m-Q8_0.gguf", make_gguf(tmp_path / "x", kind="adapter").read_bytes())
    file = choose_file(Hub().repository("A/one"), "Q8_0")
    with pytest.raises(ModelFileError, match="is a LoRA adapter, not a model"):
        fetch(file, tmp_path / "weights")
    assert not list((tmp_path / "weights").rglob("*.gguf"))


def test_a_repository_of_safetensors_refers_to_build(hub: LoopbackHub) -> None:
    hub.put("A/checkpoint", "model.safetensors", b"")
    with pytest.raises(WeightsError, match=r"Run `aside models build hf:A/checkpoint`\.$"):
        choose_file(Hub().repository("A/checkpoint"), "Q8_0")


def test_a_mirror_is_used_if_the_first_repository_is_missing(hub: LoopbackHub) -> None:
    hub.put("Card/name", "config.json", b"{}")
    assert Hub().first_repository(["Moved/away", "Card/name"]).name == "Card/name"
    with pytest.raises(WeightsError, match="no repository Moved/away"):
        Hub().first_repository(["Moved/away", "Gone/too"])


@pytest.mark.usefixtures("hub")
def test_missing_files_and_repositories_are_reported(tmp_path: Path) -> None:
    assert f"Its GGUF files: {FILE.name}" in refused(tmp_path, HubFile(REPO, "Tiny-Q9.gguf"))
    assert "no repository nobody/none" in refused(tmp_path, HubFile("nobody/none", "x.gguf"))
    assert "Write OWNER/REPO" in refused(tmp_path, HubFile("no body/n", "x.gguf"))


def test_a_gated_repository_needs_the_token_and_the_token_never_leaks(
    hub: LoopbackHub,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    hub.gated, hub.private, hub.token = {REPO}, {"Qwen/Secret"}, "hf_" + "s" * 30
    hub.put("Qwen/Secret", FILE.name, hub.files[REPO][FILE.name])
    caplog.set_level(logging.DEBUG)
    assert "HF_TOKEN" in refused(tmp_path)
    assert "is gated" in refused(tmp_path)
    assert "or it is private" in refused(tmp_path, HubFile("Qwen/Secret", FILE.name))
    monkeypatch.setenv("HF_TOKEN", "hf_" + "w" * 30)
    assert "hf_w" not in refused(tmp_path)
    monkeypatch.setenv("HF_TOKEN", hub.token)
    assert fetch(FILE, tmp_path).is_file()
    assert fetch(HubFile("Qwen/Secret", FILE.name), tmp_path).is_file()
    assert set(hub.tokens_at_storage) == {""}
    assert "hf_s" not in caplog.text


def test_missing_disk_space_is_reported_before_the_download(
    hub: LoopbackHub, tmp_path: Path
) -> None:
    hub.promised[FILE.name] = 2**60
    assert "are free in" in refused(tmp_path)
    assert hub.ranges == []


@pytest.mark.usefixtures("hub")
def test_a_read_only_weights_folder_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    assert "can't be created" in refused(tmp_path / "file")
    (tmp_path / "Qwen--Tiny-GGUF").write_text("in the way")
    assert "can't be stored" in refused(tmp_path)


def test_a_disk_that_fills_up_during_the_download_is_reported(
    hub: LoopbackHub, tmp_path: Path
) -> None:
    said = in_a_process(
        hub,
        tmp_path,
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (200000, 200000))",
    )
    assert "the disk is full" in said.communicate()[1].splitlines()[-1]
    assert said.returncode == 1


def test_two_processes_download_a_file_once(
    hub: LoopbackHub, content: bytes, tmp_path: Path
) -> None:
    both = threading.Barrier(2)
    waiting = threading.Event()
    notices: list[str] = []

    def hold() -> None:
        both.wait(20)
        waiting.wait(20)

    def notice(said: str) -> None:
        notices.append(said)
        waiting.set()

    hub.before_sending = hold
    first = threading.Thread(target=fetch, args=(FILE, tmp_path))
    first.start()
    both.wait(20)
    path = fetch(FILE, tmp_path, hub=Hub(notice=notice))
    first.join(20)
    assert path.read_bytes() == content
    assert len(hub.ranges) == 1
    assert notices == [f"Another process is downloading {FILE.name}. Waiting for it."]


def publish(hub: LoopbackHub, folder: Path) -> None:
    for file in folder.iterdir():
        hub.put("Qwen/Tiny", file.name, file.read_bytes())


def built_in(out: Path, steps: Steps) -> Path:
    hub = Hub()
    source = HubSource(hub.repository("Qwen/Tiny"), out / "checkpoint", hub)
    return Build(source, out / "Tiny-BF16.gguf", "BF16", title="Tiny").run(steps)


def test_a_build_from_the_hub_leaves_only_the_result(hub: LoopbackHub, tmp_path: Path) -> None:
    publish(hub, make_checkpoint(tmp_path / "made").folder)
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        built_in(out, Steps("Downloading shard 2"))
    assert not list(out.rglob("model-00001-of-00002.safetensors"))
    hub.asked.clear()
    path = built_in(out, Steps())
    assert hub.asked == ["model-00002-of-00002.safetensors"]
    assert left(out) == {path.name, f"{path.name}.sha256"}


def test_shards_of_two_checkpoint_versions_are_never_mixed(
    hub: LoopbackHub, tmp_path: Path
) -> None:
    publish(hub, make_checkpoint(tmp_path / "old", seed=1).folder)
    with pytest.raises(KeyboardInterrupt):
        built_in(tmp_path / "out", Steps("Converting shard 2"))
    publish(hub, make_checkpoint(tmp_path / "new", seed=2).folder)
    hub.commit = "beef" * 10
    assert (
        built_in(tmp_path / "out", Steps()).read_bytes()
        == built_in(tmp_path / "other", Steps()).read_bytes()
    )


def in_a_process(hub: LoopbackHub, folder: Path, before: str) -> subprocess.Popen[str]:
    lines = (
        before,
        "import pathlib",
        "from bot.weights.paths import HubFile",
        "from bot.weights.pull import fetch",
        f"fetch(HubFile({FILE.repo!r}, {FILE.name!r}), pathlib.Path({str(folder)!r}))",
    )
    environ = os.environ | {"HF_ENDPOINT": hub.url, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", "\n".join(lines)]
    return subprocess.Popen(
        command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
