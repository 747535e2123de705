"""Convert a checkpoint's `tokenizer.json` to the vocabulary of a GGUF file.

Token types follow llama.cpp's converter: special tokens are control tokens, other added tokens are
user-defined, and unused ids get padding tokens.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from gguf import GGUFValueType, Keys, SpecialVocab, TokenType

from bot.errors import WeightsError
from bot.weights.checkpoint import read_json

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from gguf import GGUFWriter

# Files of a checkpoint that its vocabulary is read from, if they exist.
FILES: Final = (
    "tokenizer.json",
    "tokenizer_config.json",
    "vocab.json",
    "merges.txt",
    "chat_template.jinja",
    "chat_template.json",
    "generation_config.json",
)

# Qwen's pre-tokenizer pattern. Unlike other byte-level vocabularies it splits single digits and
# takes contractions in either case.
_QWEN_PATTERN: Final = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
Named: TypeAlias = dict[int, tuple[str, TokenType]]


@dataclass(frozen=True)
class Vocabulary:
    """Tokens in order, their types, and the special tokens and merges."""

    tokens: list[str]
    kinds: list[TokenType]
    special: SpecialVocab

    def write(self, writer: GGUFWriter) -> None:
        """Write it to the header of a GGUF file."""
        writer.add_tokenizer_model("gpt2")
        writer.add_tokenizer_pre("qwen2")
        # With the type given, the library need not inspect each of 150,000 tokens.
        array = GGUFValueType.ARRAY
        writer.add_key_value(Keys.Tokenizer.LIST, self.tokens, array, GGUFValueType.STRING)
        writer.add_key_value(Keys.Tokenizer.TOKEN_TYPE, self.kinds, array, GGUFValueType.INT32)
        self.special.add_to_gguf(writer, quiet=True)


def read_vocabulary(folder: Path, size: int) -> Vocabulary:
    """Read the vocabulary in `folder`, padded to `size` tokens.

    Raise WeightsError if it can't be used.
    """
    try:
        named = (
            _read_one_file(folder)
            if (folder / "tokenizer.json").is_file()
            else _read_two_files(folder)
        )
        special = SpecialVocab(folder, load_merges=True, n_vocab=size)
    except (KeyError, TypeError, AttributeError, ValueError, OSError) as error:
        raise WeightsError(
            f"The tokenizer in {folder} is broken ({type(error).__name__}). Download it again."
        ) from error
    if max(named, default=size) >= size:
        raise WeightsError(
            f"The tokenizer in {folder} is too large for a model of {size:,} tokens. Download "
            "the checkpoint again."
        )
    if not special.merges:
        raise WeightsError(f"The tokenizer in {folder} has no merges. Download it again.")
    special.add_special_token.setdefault("bos", False)  # like all Qwen models
    filled = [named.get(number, (f"[PAD{number}]", TokenType.UNUSED)) for number in range(size)]
    return Vocabulary([text for text, _ in filled], [kind for _, kind in filled], special)


def _read_one_file(folder: Path) -> Named:
    found = _json(folder / "tokenizer.json")
    if found["model"]["type"] != "BPE" or not _splits_like_qwen(found.get("pre_tokenizer")):
        raise WeightsError(
            f"The tokenizer in {folder} is not a Qwen tokenizer, so it can't be converted."
        )
    return _name_tokens(
        found["model"]["vocab"], {one["id"]: one for one in found.get("added_tokens") or []}
    )


def _read_two_files(folder: Path) -> Named:
    """Read the older format: a vocabulary file, and added tokens in the tokenizer's settings."""
    settings = _json(folder / "tokenizer_config.json")
    if not str(settings.get("tokenizer_class", "")).startswith("Qwen"):
        raise WeightsError(
            f"The tokenizer in {folder} is not a Qwen tokenizer, so it can't be converted."
        )
    return _name_tokens(_json(folder / "vocab.json"), settings.get("added_tokens_decoder") or {})


def _name_tokens(
    vocabulary: Mapping[str, int], added: Mapping[int | str, Mapping[str, Any]]
) -> Named:
    named = {number: (text, TokenType.NORMAL) for text, number in vocabulary.items()}
    for number, one in added.items():
        special = one["special"] or _looks_special(one["content"])
        named[int(number)] = (
            one["content"],
            TokenType.CONTROL if special else TokenType.USER_DEFINED,
        )
    return named


def _json(path: Path) -> dict[str, Any]:
    read = read_json(path)
    if not isinstance(read, dict):
        raise WeightsError(f"{path} is not a tokenizer file. Download it again.")
    return read


def _splits_like_qwen(step: object) -> bool:
    """Return whether the pre-tokenizer has Qwen's pattern."""
    if isinstance(step, dict):
        steps = step.get("pretokenizers", [step])
        patterns = [
            one.get("pattern", {}).get("Regex") for one in steps if one.get("type") == "Split"
        ]
        return _QWEN_PATTERN in patterns
    return False


def _looks_special(text: str) -> bool:
    """Return whether a token looks special.

    Some checkpoints forget to mark tokens such as `<|fim_pad|>`.
    """
    return text.startswith("<|") and text.endswith("|>")
