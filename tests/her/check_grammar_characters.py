"""Check that HER's grammar allows every character and emoji.

Run `python -m tests.her.check_grammar_characters VOCAB.gguf`.

The file may hold a vocabulary only, such as `models/ggml-vocab-qwen2.gguf` in llama.cpp's source.
The check writes speech with each of 20,000 code points and 2,000 emoji sequences, token by token,
and prints those that the grammar refuses. The exit status is 1 if there are any.
"""

from __future__ import annotations

import ctypes
import itertools
import sys
import unicodedata
from typing import TYPE_CHECKING, Any, Final

import llama_cpp

from bot.her.grammar import build_her_grammar

if TYPE_CHECKING:
    from collections.abc import Iterator

CODE_POINTS: Final = 20_000
EMOJI_SEQUENCES: Final = 2_000
_OPENING: Final = "plan</system_thinking>Eliza: Well, "
_TONES: Final = "🏻🏼🏽🏾🏿"
_PEOPLE: Final = "👶👦👧👨👩👴👵🧒🧑👮💂👷👸🤴"
_JOINED: Final = "⚕⚖✈❤🌾🍳🎓🎤🎨🏫🏭💻💼🔧🔬🚀🚒"
_JOINER, _VARIATION = "\u200d", "\ufe0f"


def list_code_points() -> list[str]:
    """Return assigned characters, spread evenly over all planes, without controls."""
    assigned = [
        char
        for char in map(chr, range(0x20, 0x110000))
        if unicodedata.category(char) not in ("Cc", "Cs", "Cn", "Co")
    ]
    step = len(assigned) / CODE_POINTS
    return [assigned[int(index * step)] for index in range(CODE_POINTS)]


def generate_emoji() -> Iterator[str]:
    """Yield flags, keycaps, skin tones, variants and joined sequences."""
    for pair in itertools.product(range(26), repeat=2):
        yield "".join(chr(0x1F1E6 + letter) for letter in pair)
    yield from (f"{key}{_VARIATION}\u20e3" for key in "0123456789#*")
    for person, tone, thing in itertools.product(_PEOPLE, ("", *_TONES), _JOINED):
        yield f"{person}{tone}{_JOINER}{thing}{_VARIATION}"
    for first, second in itertools.product(_PEOPLE, repeat=2):
        yield _JOINER.join((first, f"❤{_VARIATION}", second, "👧"))


class GrammarCheck:
    """HER's grammar after the planning, over one vocabulary."""

    def __init__(self, path: str) -> None:
        self._model = llama_cpp.Llama(path, vocab_only=True, verbose=False)
        vocabulary = llama_cpp.llama_model_get_vocab(self._model.model)
        grammar = build_her_grammar("Eliza").encode()
        self._sampler: Any = llama_cpp.llama_sampler_init_grammar(vocabulary, grammar, b"root")
        if not self._feed(self._sampler, _OPENING):
            raise SystemExit("The grammar refuses the opening of a reply.")

    def allows(self, text: str) -> bool:
        """Return True if the grammar allows `text`, token by token."""
        trial = llama_cpp.llama_sampler_clone(self._sampler)
        try:
            return self._feed(trial, text)
        finally:
            llama_cpp.llama_sampler_free(trial)

    def _feed(self, sampler: Any, text: str) -> bool:
        for token in self._model.tokenize(text.encode(), add_bos=False, special=False):
            one = (llama_cpp.llama_token_data * 1)(llama_cpp.llama_token_data(token, 0.0, 0.0))
            array = llama_cpp.llama_token_data_array(data=one, size=1, selected=-1, sorted=False)
            llama_cpp.llama_sampler_apply(sampler, ctypes.byref(array))
            if one[0].logit == float("-inf"):
                return False
            llama_cpp.llama_sampler_accept(sampler, token)
        return True


def main() -> int:
    """Check the vocabulary given on the command line."""
    if len(sys.argv) != 2:
        sys.stderr.write(f"{__doc__}\n")
        return 2
    check = GrammarCheck(sys.argv[1])
    refused = 0
    samples = {
        "code points": list_code_points(),
        "emoji sequences": list(itertools.islice(generate_emoji(), EMOJI_SEQUENCES)),
    }
    for name, texts in samples.items():
        bad = [
            text for text in texts if not (check.allows(f"a{text}b.") and check.allows(f"{text} "))
        ]
        refused += len(bad)
        examples = " ".join(map(ascii, bad[:20]))
        sys.stdout.write(f"{name}: {len(texts):,} checked, {len(bad)} refused {examples}\n")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
