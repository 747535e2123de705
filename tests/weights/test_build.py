"""Converted models have the checkpoint's numbers and tokens, also after interruptions."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gguf import GGMLQuantizationType, GGUFReader, TokenType
from gguf.quants import quantize

from bot.errors import WeightsError
from bot.weights import gguf_reader, hashes
from bot.weights.build import Build, LocalSource
from tests.weights.exact_llama import Llama
from tests.weights.random_qwen3 import CONFIG, SPECIAL, TEMPLATE, WHOLE, Checkpoint, make_checkpoint

HARD = (
    "凡是有钱的单身汉,总想娶位太太。",
    "红楼梦 🙂👩‍👩‍👧 naïve — “don't”, I'LL, we've",
    "def f(x: int) -> str:\n\treturn f'{x:>4}'  # 12345\r\n\r\n",
    "<|im_start|>user\nHm?<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n",
    "<tool_call>\n{\"a\": [1, 2.5]}</tool_call> <|im_end|<|vision_pad|>",
    "   leading,  double   and trailing   ",
    "\u0000\u200b\ufeff٣٤٥ Ⅻ ½ ﷽ ไทย हिन्दी",
)  # fmt: skip


class Steps:
    """Receives a build's progress and interrupts the build at a given step."""

    def __init__(self, ends_at: str = "") -> None:
        self.heard: list[str] = []
        self.most: dict[str, tuple[int, int]] = {}
        self._ends_at = ends_at

    def step(self, what: str, unit: str = "bytes") -> None:
        del unit
        self.heard.append(what)

    def progress(self, there: int, total: int) -> None:
        self.most[self.heard[-1]] = (there, total)
        if self._ends_at and self._ends_at in self.heard[-1]:
            raise KeyboardInterrupt


def built(made: Checkpoint, target: Path, quantisation: str = "BF16") -> Path:
    return Build(LocalSource(made.folder), target, quantisation, title="Tiny").run(Steps())


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Checkpoint:
    return make_checkpoint(tmp_path_factory.mktemp("tiny") / "Tiny")


@pytest.mark.parametrize(
    "changes", [{}, {"tie_word_embeddings": True}, {"rope_theta": 5e6, "head_dim": 64}]
)
def test_the_converted_model_gives_the_checkpoints_logits(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    made = make_checkpoint(tmp_path / "Tiny", dtype="F32", **changes)
    tokens = made.tokenizer.encode("".join(HARD[:4]), add_special_tokens=False).ids
    with Llama(built(made, tmp_path / "Tiny-F32.gguf", "F32")) as llama:
        assert llama.logits(tokens) == pytest.approx(made.logits(tokens), abs=3e-5)


@pytest.mark.parametrize("text", HARD)
def test_the_converted_tokenizer_gives_the_same_tokens(
    tiny: Checkpoint, whole: Path, text: str
) -> None:
    with Llama(whole) as llama:
        expected = tiny.tokenizer.encode(text, add_special_tokens=False).ids
        assert llama.tokens(text) == expected
        plain = llama.tokens(text, special=False)
        control = {tiny.tokenizer.token_to_id(one) for one in SPECIAL}
        assert not control & set(plain)  # people's text never becomes a control token


@pytest.fixture(scope="module")
def whole(tiny: Checkpoint, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tiny, tmp_path_factory.mktemp("whole") / "Tiny-BF16.gguf")


def test_every_weight_equals_the_checkpoints(tiny: Checkpoint, whole: Path) -> None:
    stored = {tensor.name: tensor for tensor in GGUFReader(whole).tensors}
    assert len(stored) == len(tiny.tensors)
    query = stored["blk.1.attn_q.weight"]
    bits = query.data.view(np.uint16).astype(np.uint32) << 16
    assert np.array_equal(
        bits.view(np.float32), tiny.tensors["model.layers.1.self_attn.q_proj.weight"]
    )
    norm = stored["blk.2.ffn_norm.weight"].data
    assert norm.dtype == np.float32
    assert np.array_equal(norm, tiny.tensors["model.layers.2.post_attention_layernorm.weight"])


@pytest.mark.parametrize("wanted", ["BF16", "F16", "F32"])
@pytest.mark.parametrize("given", ["F32", "BF16", "F16"])
def test_conversion_between_float_types_rounds_to_nearest(
    tmp_path: Path, given: str, wanted: str
) -> None:
    made = make_checkpoint(tmp_path / "c", dtype=given, shards=1, num_hidden_layers=1)
    stored = {
        one.name: one.data
        for one in GGUFReader(built(made, tmp_path / f"o-{wanted}.gguf", wanted)).tensors
    }
    numbers = made.tensors["model.layers.0.mlp.down_proj.weight"]
    expected = quantize(numbers, GGMLQuantizationType[wanted])
    assert stored["blk.0.ffn_down.weight"].tobytes() == expected.tobytes()


def test_the_header_has_every_key_that_llama_cpp_needs(whole: Path) -> None:
    reader = GGUFReader(whole)
    said = {name: field.contents() for name, field in reader.fields.items()}
    for key, value in {
        "general.architecture": "qwen3",
        "general.name": "Tiny",
        "qwen3.block_count": 3,
        "qwen3.context_length": 4096,
        "qwen3.embedding_length": 256,
        "qwen3.feed_forward_length": 512,
        "qwen3.attention.head_count": 4,
        "qwen3.attention.head_count_kv": 2,
        "qwen3.attention.key_length": 128,
        "qwen3.attention.value_length": 128,
        "qwen3.rope.freq_base": 1e6,
        "qwen3.attention.layer_norm_rms_epsilon": pytest.approx(1e-6),
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "qwen2",
        "tokenizer.ggml.eos_token_id": 562,
        "tokenizer.ggml.padding_token_id": 560,
        "tokenizer.ggml.add_bos_token": False,
        "tokenizer.chat_template": TEMPLATE,
    }.items():
        assert said[key] == value, key
    tokens, kinds = said["tokenizer.ggml.tokens"], said["tokenizer.ggml.token_type"]
    assert [kinds[tokens.index(one)] for one in SPECIAL] == [TokenType.CONTROL] * len(SPECIAL)
    assert [kinds[tokens.index(one)] for one in WHOLE] == [TokenType.USER_DEFINED] * len(WHOLE)
    assert (tokens[-1], kinds[-1], len(tokens)) == ("[PAD639]", TokenType.UNUSED, 640)


def test_yarn_scaling_is_written_to_the_header(tmp_path: Path) -> None:
    yarn = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 1024}
    reader = GGUFReader(
        built(make_checkpoint(tmp_path / "c", rope_scaling=yarn), tmp_path / "Tiny-BF16.gguf")
    )
    said = {name: field.contents() for name, field in reader.fields.items()}
    assert said["qwen3.rope.scaling.type"] == "yarn"
    assert said["qwen3.rope.scaling.factor"] == 4.0
    assert said["qwen3.rope.scaling.original_context_length"] == 1024


def test_a_vocabulary_in_two_files_gives_the_same_tokens(tiny: Checkpoint, tmp_path: Path) -> None:
    made = make_checkpoint(tmp_path / "c")
    made.tokenizer.model.save(str(made.folder))
    (made.folder / "tokenizer.json").unlink()
    added = {
        str(560 + n): {"content": one, "special": n < len(SPECIAL)}
        for n, one in enumerate(SPECIAL + WHOLE)
    }
    settings = {
        "tokenizer_class": "Qwen2Tokenizer",
        "add_bos_token": False,
        "added_tokens_decoder": added,
    }
    (made.folder / "tokenizer_config.json").write_text(
        str(settings).replace("'", '"').replace("True", "true").replace("False", "false")
    )
    with Llama(built(made, tmp_path / "o-BF16.gguf")) as llama:
        for text in HARD:
            assert llama.tokens(text) == tiny.tokenizer.encode(text, add_special_tokens=False).ids


@pytest.fixture(scope="module")
def straight(tiny: Checkpoint, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build without interruption."""
    target = tmp_path_factory.mktemp("straight") / "Tiny-Q4_K_M.gguf"
    build = Build(LocalSource(tiny.folder), target, "Q4_K_M", title="Tiny")
    needs = build.needs
    assert build.run(steps := Steps()) == target
    assert hashes.load_sha256(target) == hashes.sha256(target)
    front = gguf_reader.read_header(target).data_start
    assert (
        needs.result <= target.stat().st_size - front <= needs.result + 32 * 40
    )  # each tensor is padded
    assert needs.disk >= needs.fetched + needs.result
    assert all(there == total for there, total in steps.most.values())
    return target


@pytest.mark.parametrize("end", ["Converting shard 2", "Quantising", "checksum"])
def test_an_interrupted_build_resumes_with_the_same_result(
    tiny: Checkpoint, straight: Path, tmp_path: Path, end: str
) -> None:
    target = tmp_path / "Tiny-Q4_K_M.gguf"
    source = LocalSource(tiny.folder)
    with pytest.raises(KeyboardInterrupt):
        Build(source, target, "Q4_K_M", title="Tiny").run(Steps(end))
    assert target.exists() == (end == "checksum")
    again = Steps()
    Build(source, target, "Q4_K_M", title="Tiny").run(again)
    assert "Converting shard 1 of 2" not in again.heard
    assert target.read_bytes() == straight.read_bytes()
    assert hashes.load_sha256(target) == hashes.sha256(target)
    left = {path.name for path in tmp_path.iterdir()} - {".Tiny.unquantised.gguf.lock"}
    assert left == {target.name, f"{target.name}.sha256"}


def test_a_quantised_model_stays_close_to_the_original(tiny: Checkpoint, straight: Path) -> None:
    tokens = tiny.tokenizer.encode("".join(HARD[:4]), add_special_tokens=False).ids
    with Llama(straight) as llama:
        error = llama.logits(tokens) - tiny.logits(tokens)
    assert 0.001 < np.sqrt(np.mean(error**2)) < 0.6


def test_a_full_disk_is_reported_and_leaves_no_partial_model(
    tiny: Checkpoint, tmp_path: Path
) -> None:
    said = in_a_process(
        tiny.folder, tmp_path, "resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, 2**20))"
    )
    assert said.returncode == 1
    assert "WeightsError" in said.stderr
    assert "Check whether the disk is full" in said.stderr.splitlines()[-1]
    assert not (tmp_path / "0-BF16.gguf").exists()


def test_a_second_build_of_the_same_model_is_refused(tiny: Checkpoint, tmp_path: Path) -> None:
    class Second(Steps):
        def step(self, what: str, unit: str = "bytes") -> None:
            if not self.heard:
                with pytest.raises(WeightsError, match="Another process"):
                    build.run(Steps())
            super().step(what, unit)

    build = Build(LocalSource(tiny.folder), tmp_path / "Tiny-BF16.gguf", "BF16", title="Tiny")
    build.run(second := Second())
    assert second.heard


def test_ctrl_c_ends_the_quantiser_too(tiny: Checkpoint, tmp_path: Path) -> None:
    program = subprocess.Popen(
        script(tiny.folder, tmp_path, "", "Q8_0", loops=50),
        cwd=ROOT,
        start_new_session=True,
        stderr=-3,
    )
    deadline = time.monotonic() + 30
    while not list(tmp_path.glob("*.unquantised.gguf")) and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(program.pid, signal.SIGINT)
    assert program.wait(20) in (1, 130, -signal.SIGINT)
    deadline = time.monotonic() + 10
    while group_exists(program.pid):
        assert time.monotonic() < deadline, "somebody of that group is left"
        time.sleep(0.05)


def group_exists(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


ROOT = Path(__file__).parents[2]


def script(folder: Path, out: Path, before: str, kind: str = "BF16", loops: int = 1) -> list[str]:
    lines = (
        "import resource, pathlib",
        "from bot.weights.build import Build, LocalSource",
        "from tests.weights.test_build import Steps",
        before,
        f"folder, out = pathlib.Path({str(folder)!r}), pathlib.Path({str(out)!r})",
        f"for n in range({loops}):",
        f"    Build(LocalSource(folder), out / f'{{n}}-{kind}.gguf', '{kind}').run(Steps())",
    )
    return [sys.executable, "-c", "\n".join(lines)]


def in_a_process(folder: Path, out: Path, before: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        script(folder, out, before), cwd=ROOT, capture_output=True, text=True, check=False
    )


def test_dimensions_are_read_from_newer_configs_too(tmp_path: Path) -> None:
    rope = {"rope_parameters": {"rope_type": "default", "rope_theta": 3e6}, "dtype": "bfloat16"}
    config = {
        key: value
        for key, value in CONFIG.items()
        if key not in ("rope_theta", "rope_scaling", "torch_dtype")
    }
    made = make_checkpoint(tmp_path / "c")
    (made.folder / "config.json").write_text(json.dumps(config | rope))
    build = Build(LocalSource(made.folder), tmp_path / "o.gguf", "Q8_0")
    assert build.dimensions.rope_theta == 3e6
