"""llama.cpp with a file of ours, as exactly as it computes: everything in 32 bits."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Self

import llama_cpp as lib
import numpy as np

from bot.weights.log_receiver import capture_log

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt


class Llama:
    """Loads a model: `with Llama(path) as llama:`, then `llama.logits(tokens)`. Raise ValueError if
    that fails.
    """

    def __init__(self, path: Path) -> None:
        params = lib.llama_model_default_params()
        params.n_gpu_layers = 0
        with capture_log() as said:
            self.model: Any = lib.llama_model_load_from_file(str(path).encode(), params)
        if not self.model:
            raise ValueError(b"".join(said).decode())
        self.vocabulary: Any = lib.llama_model_get_vocab(self.model)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        lib.llama_model_free(self.model)

    def tokens(self, text: str, *, special: bool = True) -> list[int]:
        """Return the tokens of a text, without BOS."""
        data = text.encode()
        buffer = (ctypes.c_int32 * (len(data) + 8))()
        count = lib.llama_tokenize(
            self.vocabulary, data, len(data), buffer, len(buffer), False, special
        )
        return list(buffer[:count])

    def logits(self, tokens: list[int]) -> npt.NDArray[np.float32]:
        """Return one row of logits after each of `tokens`."""
        params = lib.llama_context_default_params()
        params.n_ctx = params.n_batch = params.n_ubatch = 256
        params.n_threads = params.n_threads_batch = 1
        params.type_k = params.type_v = 0  # F32
        params.flash_attn_type = 0
        context: Any = lib.llama_init_from_model(self.model, params)
        batch = lib.llama_batch_init(len(tokens), 0, 1)
        try:
            for index, token in enumerate(tokens):
                batch.token[index], batch.pos[index] = token, index
                batch.n_seq_id[index], batch.seq_id[index][0], batch.logits[index] = 1, 0, 1
            batch.n_tokens = len(tokens)
            assert lib.llama_decode(context, batch) == 0
            size = lib.llama_vocab_n_tokens(self.vocabulary)
            rows = [
                np.ctypeslib.as_array(lib.llama_get_logits_ith(context, i), (size,)).copy()
                for i in range(len(tokens))
            ]
            return np.stack(rows)
        finally:
            lib.llama_batch_free(batch)
            lib.llama_free(context)
