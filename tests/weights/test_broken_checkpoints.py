"""Checkpoints that can't be converted get one sentence each and leave no partial model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from bot.errors import WeightsError
from bot.weights.build import Build, LocalSource
from tests.weights.random_qwen3 import make_checkpoint, write_safetensors
from tests.weights.test_build import Steps

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def spoilt_index(folder: Path) -> None:
    (folder / "model.safetensors.index.json").write_text(
        '{"weight_map": {"a": "../../etc/passwd"}}'
    )


def truncated_shard(folder: Path) -> None:
    shard = folder / "model-00002-of-00002.safetensors"
    shard.write_bytes(shard.read_bytes()[:-1000])


def truncated_header(folder: Path) -> None:
    shard = folder / "model-00001-of-00002.safetensors"
    shard.write_bytes(shard.read_bytes()[:50])


def web_page(folder: Path) -> None:
    (folder / "model-00001-of-00002.safetensors").write_text("<!DOCTYPE html><html>Sign in</html>")


def another_architecture(folder: Path) -> None:
    config = (folder / "config.json").read_text()
    (folder / "config.json").write_text(config.replace("Qwen3ForCausalLM", "LlamaForCausalLM"))


def stranger_in_the_shard(folder: Path) -> None:
    write_safetensors(
        folder / "model-00002-of-00002.safetensors", {"visual.patch": np.zeros(4, "<u2")}, "BF16"
    )


def eight_bits(folder: Path) -> None:
    name = {"model.norm.weight": np.zeros((256,), np.uint8)}
    write_safetensors(folder / "model-00002-of-00002.safetensors", name, "F8_E4M3")


def other_shape(folder: Path) -> None:
    name = {"model.norm.weight": np.zeros((128,), "<u2")}
    write_safetensors(folder / "model-00002-of-00002.safetensors", name, "BF16")


def without_half(folder: Path) -> None:
    write_safetensors(folder / "model-00002-of-00002.safetensors", {}, "BF16")


def missing_shard(folder: Path) -> None:
    (folder / "model-00002-of-00002.safetensors").unlink()


def no_config(folder: Path) -> None:
    (folder / "config.json").unlink()


def poor_config(folder: Path) -> None:
    (folder / "config.json").write_text(
        '{"architectures": ["Qwen3ForCausalLM"], "hidden_size": "many"}'
    )


def other_tokenizer(folder: Path) -> None:
    text = (folder / "tokenizer.json").read_text()
    (folder / "tokenizer.json").write_text(text.replace("|\\\\p{N}|", "|\\\\p{N}{1,3}|"))


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (spoilt_index, "lists no shards"),
        (truncated_shard, r"truncated: it has [\d,]+ of [\d,]+ bytes"),
        (truncated_header, "not a safetensors file, or it is truncated"),
        (web_page, "not a safetensors file"),
        (another_architecture, r"LlamaForCausalLM.*Qwen3ForCausalLM is supported"),
        (stranger_in_the_shard, "visual.patch"),
        (eight_bits, "F8_E4M3"),
        (other_shape, r"\(128,\).*\(256,\)"),
        (without_half, "lacks .* tensors"),
        (missing_shard, "model-00002-of-00002.safetensors, which its index lists, is missing"),
        (no_config, "no config.json"),
        (poor_config, "hidden_size"),
        (other_tokenizer, "not a Qwen tokenizer"),
    ],
)
def test_each_unsupported_checkpoint_gets_one_sentence(
    tmp_path: Path, spoil: Callable[[Path], None], says: str
) -> None:
    made = make_checkpoint(tmp_path / "c")
    spoil(made.folder)
    with pytest.raises(WeightsError, match=says) as caught:
        Build(
            LocalSource(made.folder), tmp_path / "o" / "Tiny-BF16.gguf", "BF16", title="Tiny"
        ).run(Steps())
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "o" / "Tiny-BF16.gguf").exists()
