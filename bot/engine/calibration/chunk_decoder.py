"""Decode a text in chunks of equal size, each one on its own, as llama.cpp's tools do.

Only the child process imports this.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import llama_cpp as lib
import numpy as np

from bot.engine.local.llama import ContextError, DecodeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy.typing as npt

    from bot.engine.local.llama import Model


def encode_text(model: Model, text: str, *, control: bool) -> list[int]:
    """Return the tokens of a text, after the token that begins a text if the model wants it.

    Control tokens that are spelt in the text are read as such only if `control` is set.
    """
    tokens = model.encode(text, control=control)
    if lib.llama_vocab_get_add_bos(model.vocabulary):
        tokens.insert(0, lib.llama_vocab_bos(model.vocabulary))
    return tokens


class ChunkDecoder:
    """A context for one chunk of `size` tokens.

    `hook` is llama.cpp's callback for the nodes of its graph.
    """

    def __init__(
        self,
        model: Model,
        size: int,
        threads: int,
        hook: Callable[[int, bool, Any], bool] | None = None,
    ) -> None:
        params = lib.llama_context_default_params()
        params.n_ctx = params.n_batch = params.n_ubatch = size
        params.n_seq_max = 1
        params.n_threads = params.n_threads_batch = threads
        params.no_perf = True
        if hook is not None:
            self._hook = lib.ggml_backend_sched_eval_callback(hook)  # llama.cpp keeps the address
            params.cb_eval = self._hook
        handle = lib.llama_init_from_model(model.handle, params)
        if not handle:
            raise ContextError(f"llama.cpp could not create a context of {size:,} tokens")
        self._handle: Any = handle
        self._memory: Any = lib.llama_get_memory(handle)
        self._model = model
        self._size = size
        self._batch = lib.llama_batch_init(size, 0, 1)

    def free(self) -> None:
        """Release the memory. The decoder must not be used afterwards."""
        lib.llama_batch_free(self._batch)
        lib.llama_free(self._handle)

    def chunks(self, tokens: list[int]) -> Iterator[list[int]]:
        """Yield whole chunks. Each begins with the token that begins a text, if there is one."""
        begins = bool(lib.llama_vocab_get_add_bos(self._model.vocabulary))
        bos = lib.llama_vocab_bos(self._model.vocabulary)
        for start in range(0, len(tokens) - self._size + 1, self._size):
            chunk = tokens[start : start + self._size]
            yield [bos, *chunk[1:]] if begins else chunk

    def decode(self, chunk: list[int], first: int = 0) -> npt.NDArray[np.float32]:
        """Decode one chunk from an empty cache.

        Return the logits after each token from index `first` on, valid until the next call. Raises
        DecodeError.
        """
        lib.llama_memory_clear(self._memory, True)
        batch = self._batch
        for index, token in enumerate(chunk):
            batch.token[index], batch.pos[index] = token, index
            batch.n_seq_id[index], batch.seq_id[index][0] = 1, 0
            batch.logits[index] = index >= first
        batch.n_tokens = len(chunk)
        if status := lib.llama_decode(self._handle, batch):
            raise DecodeError(f"llama_decode failed with status {status}")
        rows = lib.llama_get_logits(self._handle)
        return np.ctypeslib.as_array(
            ctypes.cast(rows, ctypes.POINTER(ctypes.c_float)),
            (len(chunk) - first, self._model.size),
        )
