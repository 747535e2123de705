"""A small random Qwen3 checkpoint, and its expected logits, computed with numpy."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

if TYPE_CHECKING:
    from pathlib import Path

Array: TypeAlias = npt.NDArray[np.float32]

CUTS: Final = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
SPECIAL: Final = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|vision_pad|>")
WHOLE: Final = ("<tool_call>", "</tool_call>", "<think>", "</think>")
TEMPLATE: Final = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
)
READING: Final = (
    (
        "It is a truth universally acknowledged, that a single man in possession of a fortune,"
        " must be in want of a wife."
    ),
    (
        "“My dear Mr. Bennet,” said his lady to him one day, “have you heard "
        "that Netherfield Park is let at last?”"
    ),
    "凡是有钱的单身汉,总想娶位太太,这已经成了一条举世公认的真理。红楼梦里的人物各有各的心思。",
    (
        "def speak(self, line: str) -> None:\n    if not line:\n        return\n"
        "    print(f'{self.name}: {line}')\n"
    ),
    "🙂 naïve café – don't, I'll, we've; 3.14159 and 2026-08-01\t\ttabs\r\nand   spaces",
)
CONFIG: Final[dict[str, Any]] = {
    "architectures": ["Qwen3ForCausalLM"],
    "attention_bias": False,
    "eos_token_id": 562,
    "bos_token_id": 560,
    "head_dim": 128,  # not hidden_size / num_attention_heads
    "hidden_act": "silu",
    "hidden_size": 256,
    "intermediate_size": 512,
    "max_position_embeddings": 4096,
    "model_type": "qwen3",
    "num_attention_heads": 4,
    "num_hidden_layers": 3,
    "num_key_value_heads": 2,
    "rms_norm_eps": 1e-6,
    "rope_scaling": None,
    "rope_theta": 1000000,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
    "vocab_size": 640,  # more than there are tokens, as with the real ones
}


def make_tokenizer() -> Tokenizer:
    """Return a tokenizer of Qwen's kind: 560 tokens, then the special and added ones."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(CUTS), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=560, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(READING * 3, trainer)
    assert tokenizer.get_vocab_size() == 560
    tokenizer.add_special_tokens([AddedToken(text, normalized=False) for text in SPECIAL])
    tokenizer.add_tokens([AddedToken(text, normalized=False) for text in WHOLE])
    return tokenizer


@dataclass
class Checkpoint:
    """A folder with `config.json`, a tokenizer and shards, and the model that is in them."""

    folder: Path
    config: dict[str, Any]
    tokenizer: Tokenizer
    tensors: dict[str, Array] = field(
        default_factory=dict
    )  # as they read back: rounded to what is stored

    def logits(self, tokens: list[int]) -> Array:
        """What the model answers after each of `tokens`: one row of logits for each."""
        hidden = self.tensors["model.embed_tokens.weight"][tokens]
        for layer in range(self.config["num_hidden_layers"]):
            block = f"model.layers.{layer}"
            hidden = hidden + self._attention(block, self._norm(hidden, f"{block}.input_layernorm"))
            hidden = hidden + self._feed_forward(
                block, self._norm(hidden, f"{block}.post_attention_layernorm")
            )
        tied = self.config["tie_word_embeddings"]
        output = self.tensors["model.embed_tokens.weight" if tied else "lm_head.weight"]
        return self._norm(hidden, "model.norm") @ output.T

    def _norm(self, x: Array, name: str) -> Array:
        scale = np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + self.config["rms_norm_eps"])
        return np.asarray(x / scale * self.tensors[f"{name}.weight"], np.float32)

    def _attention(self, block: str, x: Array) -> Array:
        size, group = (
            self.config["head_dim"],
            self.config["num_attention_heads"] // self.config["num_key_value_heads"],
        )
        heads = {
            part: (x @ self.tensors[f"{block}.self_attn.{part}_proj.weight"].T).reshape(
                len(x), -1, size
            )
            for part in "qkv"
        }
        queries = self._turned(self._norm(heads["q"], f"{block}.self_attn.q_norm"))
        keys = np.repeat(
            self._turned(self._norm(heads["k"], f"{block}.self_attn.k_norm")), group, axis=1
        )
        values = np.repeat(heads["v"], group, axis=1)
        scores = np.einsum("qhd,khd->hqk", queries, keys) / np.sqrt(size)
        scores = np.where(np.tri(len(x), dtype=bool), scores, -np.inf)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        seen = np.einsum("hqk,khd->qhd", weights, values).reshape(len(x), -1)
        return np.asarray(seen @ self.tensors[f"{block}.self_attn.o_proj.weight"].T, np.float32)

    def _turned(self, x: Array) -> Array:
        """Positions, by rotating the first half of each head against the second."""
        half = self.config["head_dim"] // 2
        angles = np.outer(
            np.arange(len(x)), self.config["rope_theta"] ** (-np.arange(half) / half)
        )[:, None, :]
        first, second = x[..., :half], x[..., half:]
        turned = (
            first * np.cos(angles) - second * np.sin(angles),
            second * np.cos(angles) + first * np.sin(angles),
        )
        return np.concatenate(turned, -1).astype(np.float32)

    def _feed_forward(self, block: str, x: Array) -> Array:
        gate = x @ self.tensors[f"{block}.mlp.gate_proj.weight"].T
        up = x @ self.tensors[f"{block}.mlp.up_proj.weight"].T
        down = self.tensors[f"{block}.mlp.down_proj.weight"]
        return np.asarray((gate / (1 + np.exp(-gate)) * up) @ down.T, np.float32)


def make_checkpoint(
    folder: Path, *, dtype: str = "BF16", shards: int = 2, seed: int = 7, **changes: Any
) -> Checkpoint:
    """Write a checkpoint of random numbers into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    made = Checkpoint(folder, CONFIG | changes, make_tokenizer())
    (folder / "config.json").write_text(json.dumps(made.config), encoding="utf-8")
    made.tokenizer.save(str(folder / "tokenizer.json"))
    settings = {
        "add_bos_token": False,
        "eos_token": "<|im_end|>",
        "pad_token": "<|endoftext|>",
        "bos_token": None,
    }
    (folder / "tokenizer_config.json").write_text(
        json.dumps(settings | {"chat_template": TEMPLATE}), encoding="utf-8"
    )
    random = np.random.default_rng(seed)
    stored = {}
    for name, shape in _shapes(made.config):
        norm = len(shape) == 1
        numbers = random.normal(1 if norm else 0, 0.1 if norm else shape[-1] ** -0.5, shape).astype(
            np.float32
        )
        stored[name] = rounded(numbers, dtype)
        made.tensors[name] = widened(stored[name], dtype).reshape(shape)
    _write_shards(folder, stored, dtype, shards)
    return made


def rounded(numbers: Array, dtype: str) -> npt.NDArray[Any]:
    """Numbers as they are stored."""
    if dtype == "BF16":
        return (numbers.view(np.uint32) >> 16).astype(
            "<u2"
        )  # cut off rather than rounded: any bits will do
    return numbers.astype("<f2" if dtype == "F16" else "<f4")


def widened(stored: npt.NDArray[Any], dtype: str) -> Array:
    """Stored numbers as numbers."""
    return (
        (stored.astype(np.uint32) << 16).view(np.float32)
        if dtype == "BF16"
        else stored.astype(np.float32)
    )


def write_safetensors(path: Path, tensors: dict[str, npt.NDArray[Any]], dtype: str) -> None:
    """Write one safetensors file: the length of the header, the header, the numbers."""
    header, at = {}, 0
    for name, numbers in tensors.items():
        header[name] = {
            "dtype": dtype,
            "shape": numbers.shape,
            "data_offsets": [at, at + numbers.nbytes],
        }
        at += numbers.nbytes
    front = json.dumps({"__metadata__": {"format": "pt"}, **header}).encode()
    with path.open("wb") as file:
        file.write(len(front).to_bytes(8, "little") + front)
        for numbers in tensors.values():
            file.write(numbers.tobytes())


def _write_shards(
    folder: Path, stored: dict[str, npt.NDArray[Any]], dtype: str, shards: int
) -> None:
    if shards == 1:
        write_safetensors(folder / "model.safetensors", stored, dtype)
        return
    names = list(stored)
    weight_map: dict[str, str] = {}
    for number in range(shards):
        shard = f"model-{number + 1:05}-of-{shards:05}.safetensors"
        mine = names[number::shards]
        write_safetensors(folder / shard, {name: stored[name] for name in mine}, dtype)
        weight_map |= dict.fromkeys(mine, shard)
    index = {"metadata": {}, "weight_map": weight_map}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")


def _shapes(config: dict[str, Any]) -> list[tuple[str, tuple[int, ...]]]:
    hidden, inner, size = config["hidden_size"], config["intermediate_size"], config["head_dim"]
    queries, keys = config["num_attention_heads"] * size, config["num_key_value_heads"] * size
    shapes: list[tuple[str, tuple[int, ...]]] = [
        ("model.embed_tokens.weight", (config["vocab_size"], hidden))
    ]
    for layer in range(config["num_hidden_layers"]):
        parts = {
            "input_layernorm": (hidden,),
            "mlp.down_proj": (hidden, inner),
            "mlp.gate_proj": (inner, hidden),
            "mlp.up_proj": (inner, hidden),
            "post_attention_layernorm": (hidden,),
            "self_attn.k_norm": (size,),
            "self_attn.k_proj": (keys, hidden),
            "self_attn.o_proj": (hidden, queries),
            "self_attn.q_norm": (size,),
            "self_attn.q_proj": (queries, hidden),
            "self_attn.v_proj": (keys, hidden),
        }
        shapes += [(f"model.layers.{layer}.{part}.weight", shape) for part, shape in parts.items()]
    shapes.append(("model.norm.weight", (hidden,)))
    if not config["tie_word_embeddings"]:
        shapes.append(("lm_head.weight", (config["vocab_size"], hidden)))
    return shapes
