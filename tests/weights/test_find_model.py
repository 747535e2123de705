"""From a model's name in the settings to its file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.errors import DocumentError, ModelFileError, NameNotFound, UserInputError
from bot.package_data import find_shipped_folder
from bot.weights.catalogue import load_catalogue
from bot.weights.find_model import find_entry, find_model, weights_folder
from bot.weights.model_headers import measure
from bot.weights.paths import HubFile, read_model_name
from tests.weights.sample_gguf import make_gguf

if TYPE_CHECKING:
    from pathlib import Path


def test_the_demo_model_is_found_in_its_package_without_importing_it() -> None:
    demo = find_model("demo")
    assert demo.path.is_file()
    assert demo.stand_in
    assert demo.dialect == "stand-in"
    assert (demo.sampling.temperature, demo.sampling.min_p, demo.sampling.repeat_penalty) == (
        0.5,
        0.1,
        1.15,
    )


def test_a_model_is_found_by_its_path(tmp_path: Path) -> None:
    file = make_gguf(tmp_path / "mine.gguf")
    found = find_model(f" {file} ")
    assert found.path == file
    assert found.dialect == "her"
    assert not found.stand_in


def test_a_downloaded_hub_file_is_found_without_the_network(tmp_path: Path) -> None:
    home = tmp_path / "someone--HER-GGUF"
    home.mkdir()
    file = make_gguf(home / "her.gguf")
    assert find_model("hf:someone/HER-GGUF/her.gguf", folder=tmp_path, fetching=False).path == file
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(ModelFileError, match="is not downloaded"):
        find_model("hf:someone/HER-GGUF/her.gguf", folder=tmp_path, fetching=False)


def test_a_model_without_published_gguf_files_refers_to_build() -> None:
    with pytest.raises(ModelFileError, match="aside models build HER-32B --quant Q4_K_M"):
        find_model("her-32b")


def test_an_unknown_name_error_lists_the_nearest_names() -> None:
    with pytest.raises(NameNotFound, match=r"There is no model 'dmo'.*demo"):
        find_model("dmo")
    with pytest.raises(ModelFileError, match="does not exist"):
        find_model("some/where.gguf")


def test_a_folder_in_place_of_a_file_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "HER-32B.gguf"
    folder.mkdir()
    for path in (folder, tmp_path):
        with pytest.raises(ModelFileError, match="is a folder"):
            find_model(str(path))


@pytest.mark.parametrize(
    "text",
    ["owner", "owner/repo", "owner/repo/", "owner/../x.gguf", "owner/repo/model.safetensors"],
)
def test_an_invalid_hub_address_is_reported(text: str) -> None:
    with pytest.raises(UserInputError, match="hf:"):
        HubFile.parse(text)


def test_a_hub_file_may_be_in_a_folder() -> None:
    assert HubFile.parse("owner/repo/Q4/model.gguf") == HubFile("owner/repo", "Q4/model.gguf")


def test_the_shipped_catalogue_is_valid() -> None:
    entries = load_catalogue()
    assert {"demo", "HER-32B", "HER-RM-32B", "Qwen3-0.6B", "Qwen3-32B"} <= set(entries)
    assert all(entry.checkpoint is None or entry.dimensions for entry in entries.values())
    assert find_shipped_folder("models").name == "models"
    assert weights_folder() == find_shipped_folder("models")


def test_a_broken_catalogue_entry_is_reported_by_its_file(tmp_path: Path) -> None:
    (tmp_path / "broken.yaml").write_text(
        "name: x\ntitle: X\nsource: nowhere\nlicence: MIT\n", encoding="utf-8"
    )
    with pytest.raises(DocumentError, match=r"broken\.yaml"):
        load_catalogue(tmp_path)


PAGE = "https://huggingface.co/someone/HER-GGUF"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (f"{PAGE}/blob/main/her.gguf", "hf:someone/HER-GGUF/her.gguf"),
        (
            f"{PAGE}/resolve/main/sub/her%20x.gguf?download=true",
            "hf:someone/HER-GGUF/sub/her x.gguf",
        ),
        (f"{PAGE}/raw/main/her.gguf", "hf:someone/HER-GGUF/her.gguf"),
        (f"{PAGE}/tree/main", "hf:someone/HER-GGUF"),
        (f"{PAGE}/tree/main/Q4", "hf:someone/HER-GGUF"),
        (f"{PAGE}/discussions/3#65f", "hf:someone/HER-GGUF"),
        (PAGE, "hf:someone/HER-GGUF"),
        (f" {PAGE}/ ", "hf:someone/HER-GGUF"),
        ("huggingface.co/someone/HER-GGUF", "hf:someone/HER-GGUF"),
        ("http://www.huggingface.co/someone/HER-GGUF", "hf:someone/HER-GGUF"),
        ("https://hf.co/someone/HER-GGUF", "hf:someone/HER-GGUF"),
        ("hf:someone/HER-GGUF/her.gguf", "hf:someone/HER-GGUF/her.gguf"),
        ("HER-32B:Q4_K_M", "HER-32B:Q4_K_M"),
        ("./models/her.gguf", "./models/her.gguf"),
    ],
)
def test_a_pasted_page_of_the_hub_is_understood(text: str, name: str) -> None:
    assert read_model_name(text) == name


def test_a_page_of_a_mirror_is_understood(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://mirror.lan:8080/")
    assert read_model_name("http://mirror.lan:8080/a/b/blob/main/c.gguf") == "hf:a/b/c.gguf"


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        ("https://huggingface.co/datasets/a/b", "is not the page of a model"),
        ("https://huggingface.co/someone", "is not the page of a model"),
        ("https://huggingface.co/", "is not the page of a model"),
        ("https://huggingface.co/spaces/a/b", "is not the page of a model"),
        (f"{PAGE}/blob/v2/her.gguf", "Only main can be used"),
    ],
)
def test_other_pages_of_the_hub_are_rejected(page: str, reason: str) -> None:
    with pytest.raises(UserInputError, match=reason):
        read_model_name(page)


def test_a_pasted_page_leads_to_the_downloaded_file(tmp_path: Path) -> None:
    folder = tmp_path / "someone--HER-GGUF"
    folder.mkdir()
    file = make_gguf(folder / "her.gguf")
    found = find_model(f"{PAGE}/blob/main/her.gguf", folder=tmp_path, fetching=False)
    assert found.path == file
    with pytest.raises(UserInputError, match="is not a file on the hub"):
        find_model(PAGE, folder=tmp_path, fetching=False)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("ADOHAHA123/test-rl", "HER-32B"),
        ("adohaha123/Test-RL", "HER-32B"),
        ("hf:ChengyuDu0123/HER-32B", "HER-32B"),
        ("https://huggingface.co/ADOHAHA123/test-sft", "HER-SFT-32B"),
        ("ADOHAHA123/test-sft:Q5_K_M", "HER-SFT-32B"),
        ("her-sft-32b", "HER-SFT-32B"),
    ],
)
def test_a_model_is_found_by_its_repository(tmp_path: Path, text: str, name: str) -> None:
    assert find_entry(text, tmp_path)[0].name == name
    with pytest.raises(ModelFileError, match=f"aside models build {name} "):
        find_model(text, folder=tmp_path, fetching=False)
    assert measure(text, tmp_path, patience=0).name == name
