"""From a model's name in the settings to its file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.errors import DocumentError, ModelFileError, NameNotFound, UserInputError
from bot.package_data import shipped_folder
from bot.weights.catalogue import load_catalogue
from bot.weights.find_model import find_model, weights_folder
from bot.weights.paths import HubFile
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
    assert shipped_folder("models").name == "models"
    assert weights_folder() == shipped_folder("models")


def test_a_broken_catalogue_entry_is_reported_by_its_file(tmp_path: Path) -> None:
    (tmp_path / "broken.yaml").write_text(
        "name: x\ntitle: X\nsource: nowhere\nlicence: MIT\n", encoding="utf-8"
    )
    with pytest.raises(DocumentError, match=r"broken\.yaml"):
        load_catalogue(tmp_path)
