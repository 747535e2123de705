"""The vocabulary of a checkpoint, from its `tokenizer.json`, as llama.cpp wants it in a GGUF file.

What each token is follows llama.cpp's own converter: special tokens are control tokens, other added ones are taken
whole wherever they stand, and numbers without a token are filled up.
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

# Files of a checkpoint that its vocabulary is read from, as far as they are there.
FILES: Final = (
    *("tokenizer.json", "tokenizer_config.json", "vocab.json", "merges.txt"),
    *("chat_template.jinja", "chat_template.json", "generation_config.json"),
)

# How Qwen cuts text before it merges pairs, by what is unlike in other byte-level vocabularies: single digits, and the
# contractions in either case.
_CUTS_LIKE_QWEN: Final = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
Named: TypeAlias = dict[int, tuple[str, TokenType]]


@dataclass(frozen=True)
class Vocabulary:
    """Tokens by number, what kind each is, and what else `tokenizer.json` and the files beside it tell."""

    tokens: list[str]
    kinds: list[TokenType]
    special: SpecialVocab

    def write(self, writer: GGUFWriter) -> None:
        """Put it into the header of a GGUF file."""
        writer.add_tokenizer_model("gpt2")
        writer.add_tokenizer_pre("qwen2")
        # With their type told, the library need not look at each of the hundred thousands.
        array = GGUFValueType.ARRAY
        writer.add_key_value(Keys.Tokenizer.LIST, self.tokens, array, GGUFValueType.STRING)
        writer.add_key_value(Keys.Tokenizer.TOKEN_TYPE, self.kinds, array, GGUFValueType.INT32)
        self.special.add_to_gguf(writer, quiet=True)


def read_vocabulary(folder: Path, size: int) -> Vocabulary:
    """Read the vocabulary in `folder`, filled up to `size` tokens. Raises WeightsError where it can't be used."""
    try:
        named = (
            _in_one_file(folder) if (folder / "tokenizer.json").is_file() else _in_two_files(folder)
        )
        special = SpecialVocab(folder, load_merges=True, n_vocab=size)
    except (KeyError, TypeError, AttributeError, ValueError, OSError) as error:
        raise WeightsError(
            f"The tokenizer in {folder} is broken ({type(error).__name__}): fetch it again."
        ) from error
    if max(named, default=size) >= size:
        raise WeightsError(
            f"The tokenizer in {folder} doesn't belong to a model of {size:,} tokens."
        )
    if not special.merges:
        raise WeightsError(f"The tokenizer in {folder} has no merges: fetch it again.")
    special.add_special_token.setdefault("bos", False)  # as all of Qwen's do
    filled = [named.get(number, (f"[PAD{number}]", TokenType.UNUSED)) for number in range(size)]
    return Vocabulary([text for text, _ in filled], [kind for _, kind in filled], special)


def _in_one_file(folder: Path) -> Named:
    found = _json(folder / "tokenizer.json")
    if found["model"]["type"] != "BPE" or not _cuts_as_qwen(found.get("pre_tokenizer")):
        raise WeightsError(
            f"The tokenizer in {folder} is not of Qwen's kind, so it can't be converted."
        )
    return _named(
        found["model"]["vocab"], {one["id"]: one for one in found.get("added_tokens") or []}
    )


def _in_two_files(folder: Path) -> Named:
    """As older tools save it: the vocabulary, and what was added in the tokenizer's settings."""
    settings = _json(folder / "tokenizer_config.json")
    if not str(settings.get("tokenizer_class", "")).startswith("Qwen"):
        raise WeightsError(
            f"The tokenizer in {folder} is not of Qwen's kind, so it can't be converted."
        )
    return _named(_json(folder / "vocab.json"), settings.get("added_tokens_decoder") or {})


def _named(vocabulary: Mapping[str, int], added: Mapping[int | str, Mapping[str, Any]]) -> Named:
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
        raise WeightsError(f"{path} is no tokenizer: fetch it again.")
    return read


def _cuts_as_qwen(step: object) -> bool:
    """Whether text is cut as Qwen's tokenizers do, by the pattern in the pre-tokenizer."""
    if isinstance(step, dict):
        steps = step.get("pretokenizers", [step])
        patterns = [
            one.get("pattern", {}).get("Regex") for one in steps if one.get("type") == "Split"
        ]
        return _CUTS_LIKE_QWEN in patterns
    return False


def _looks_special(text: str) -> bool:
    """Some makers forget to mark tokens such as `<|fim_pad|>`, which nobody means to write."""
    return text.startswith("<|") and text.endswith("|>")
