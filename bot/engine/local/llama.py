"""A thin, typed face on the low-level functions of llama-cpp-python. Only the worker process imports this."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import llama_cpp as lib
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy.typing as npt

    from bot.her.prompt import PromptPart

GGML_TYPES = {"f16": 1, "q4_0": 2, "q8_0": 8}
FLASH_ATTENTION = {"auto": -1, "off": 0, "on": 1}
_PIECE_BYTES = 256

# llama_get_logits_ith, for the bare address: to unwrap a pointer for each token takes longer than to find it.
_logits_at = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32)(
    ctypes.cast(lib.llama_get_logits_ith, ctypes.c_void_p).value or 0
)


class LoadError(Exception):
    """llama.cpp could not load the model, or make a context for it."""


class DecodeError(Exception):
    """A step failed in a way that leaves the context in doubt."""


@dataclass(frozen=True, slots=True)
class ContextPlan:
    """Measures of a context. `tokens` is what one sequence may hold."""

    tokens: int
    sequences: int
    threads: int
    batch: int
    cache_type: str
    flash_attention: str


class Model:
    """A loaded model and its vocabulary."""

    def __init__(self, path: Path, gpu_layers: int) -> None:
        lib.llama_backend_init()
        params = lib.llama_model_default_params()
        params.n_gpu_layers = gpu_layers
        handle = lib.llama_model_load_from_file(str(path).encode(), params)
        if not handle:
            raise LoadError(f"llama.cpp could not load {path.name}")
        self.handle: Any = handle
        self.vocabulary: Any = lib.llama_model_get_vocab(handle)
        self.size = lib.llama_vocab_n_tokens(self.vocabulary)
        self._pieces: dict[int, bytes] = {}
        self._ends: dict[int, bool] = {}

    @property
    def layers(self) -> int:
        """Repeating layers and the output layer: what can be offloaded."""
        return int(lib.llama_model_n_layer(self.handle)) + 1

    @property
    def trained_context(self) -> int:
        """Tokens of context it was trained with."""
        return int(lib.llama_model_n_ctx_train(self.handle))

    @property
    def writes_text(self) -> bool:
        """False for encoders."""
        return lib.llama_model_has_decoder(self.handle) and not lib.llama_model_has_encoder(
            self.handle
        )

    def free(self) -> None:
        """Give the memory back; the model must not be used after that."""
        lib.llama_model_free(self.handle)

    def tokenize(self, parts: Sequence[PromptPart]) -> list[int]:
        """Tokens of a prompt. Only control parts may become control tokens."""
        from bot.her.prompt import Control

        tokens: list[int] = []
        for part in parts:
            control = isinstance(part, Control)
            tokens += self.encode(
                part.token if isinstance(part, Control) else part.text, control=control
            )
        if lib.llama_vocab_get_add_bos(self.vocabulary):
            start = lib.llama_vocab_bos(self.vocabulary)
            if tokens[:1] != [start]:
                tokens.insert(0, start)
        return tokens

    def encode(self, text: str, *, control: bool = False) -> list[int]:
        """Tokens of `text`; control tokens spelt in it stay text unless `control`."""
        data = text.encode("utf-8", "replace")
        room = len(data) + 8
        buffer = (ctypes.c_int32 * room)()
        count = lib.llama_tokenize(self.vocabulary, data, len(data), buffer, room, False, control)
        if count < 0:
            room = -count
            buffer = (ctypes.c_int32 * room)()
            count = lib.llama_tokenize(
                self.vocabulary, data, len(data), buffer, room, False, control
            )
        return list(buffer[:count])

    def piece(self, token: int) -> bytes:
        """The bytes that `token` stands for; nothing for a control token."""
        if token not in self._pieces:
            buffer = ctypes.create_string_buffer(_PIECE_BYTES)
            count = lib.llama_token_to_piece(self.vocabulary, token, buffer, _PIECE_BYTES, 0, False)
            if count < 0:
                buffer = ctypes.create_string_buffer(-count)
                count = lib.llama_token_to_piece(self.vocabulary, token, buffer, -count, 0, False)
            self._pieces[token] = buffer.raw[:count]
        return self._pieces[token]

    def ends(self, token: int) -> bool:
        """Whether a reply is over when this was drawn: an end-of-turn token, or any other control token."""
        if token not in self._ends:
            v = self.vocabulary
            self._ends[token] = bool(
                lib.llama_vocab_is_eog(v, token) or lib.llama_vocab_is_control(v, token)
            )
        return self._ends[token]

    def knows_control(self, spelling: str) -> bool:
        """Whether `spelling` is one control token of this model."""
        tokens = self.encode(spelling, control=True)
        return len(tokens) == 1 and bool(lib.llama_vocab_is_control(self.vocabulary, tokens[0]))


class Context:
    """The cache of all sequences, and the batch they are decoded in."""

    def __init__(self, model: Model, plan: ContextPlan) -> None:
        params = lib.llama_context_default_params()
        params.n_ctx = plan.tokens * plan.sequences
        params.n_batch = params.n_ubatch = plan.batch
        params.n_seq_max = plan.sequences
        params.n_threads = params.n_threads_batch = plan.threads
        params.type_k = params.type_v = GGML_TYPES[plan.cache_type]
        params.flash_attn_type = FLASH_ATTENTION[plan.flash_attention]
        # Each mind its own part of the cache. One part for all was measured 15 to 40 % slower a step: 97 against 121 ms
        # of CPU with the demo model, eight minds of 350 tokens each, since each then looks past all the others' tokens.
        params.kv_unified = False
        params.no_perf = True
        handle = lib.llama_init_from_model(model.handle, params)
        if not handle:
            raise LoadError(f"llama.cpp could not make a context of {params.n_ctx:,} tokens")
        self.handle: Any = handle
        self._memory: Any = lib.llama_get_memory(handle)
        self._model = model
        self.capacity = plan.batch
        self._batch = batch = lib.llama_batch_init(plan.batch, 0, 1)
        self._filled = 0
        self._tokens, self._positions, self._sequences = batch.token, batch.pos, batch.seq_id
        self._wanted = batch.logits
        for index in range(plan.batch):
            batch.n_seq_id[index] = 1
        self.tokens_each = lib.llama_n_ctx_seq(handle)
        self._logits: dict[int, npt.NDArray[np.float32]] = {}  # by where they lie

    def free(self) -> None:
        """Give the memory back; the context must not be used after that."""
        lib.llama_batch_free(self._batch)
        lib.llama_free(self.handle)

    def clear_batch(self) -> None:
        """Begin a new step."""
        self._filled = 0

    @property
    def room(self) -> int:
        """Tokens that still fit into this step."""
        return self.capacity - self._filled

    def add(self, sequence: int, position: int, tokens: Sequence[int], *, draw: bool) -> int:
        """Put tokens, one or more, of one sequence into the step; return the index of the last one.

        `draw`: its logits are wanted. Raises DecodeError where there is no room for them.
        """
        if not 0 < len(tokens) <= self.room:
            raise DecodeError(
                f"{len(tokens)} tokens don't fit into a step that has room for {self.room}"
            )
        index = self._filled
        for index, token in enumerate(tokens, self._filled):
            self._tokens[index] = token
            self._positions[index] = position + index - self._filled
            self._sequences[index][0] = sequence
            self._wanted[index] = 0
        self._filled = index + 1
        if draw:
            self._wanted[index] = 1
        return index

    def decode(self) -> bool:
        """Run the step. False: no room in the cache, nothing was changed. Raises DecodeError."""
        self._batch.n_tokens = self._filled
        status = lib.llama_decode(self.handle, self._batch)
        if status not in (0, 1):
            raise DecodeError(f"llama_decode failed with status {status}")
        return bool(status == 0)

    def logits(self, index: int) -> npt.NDArray[np.float32]:
        """The logits at an index that `add` returned. Valid until the next step."""
        address = _logits_at(self.handle, index)
        if (
            address not in self._logits
        ):  # making an array takes longer than all else that is done to draw a token
            row = (ctypes.c_float * self._model.size).from_address(address)
            self._logits[address] = np.frombuffer(row, np.float32)
        return self._logits[address]

    def state_size(self, sequence: int) -> int:
        """Bytes that `state` would take."""
        return int(lib.llama_state_seq_get_size(self.handle, sequence))

    def state(self, sequence: int) -> bytes:
        """All that the cache holds of a sequence."""
        size = self.state_size(sequence)
        buffer = (ctypes.c_uint8 * size)()
        return bytes(
            memoryview(buffer)[: lib.llama_state_seq_get_data(self.handle, buffer, size, sequence)]
        )

    def restore(self, sequence: int, state: bytes) -> bool:
        """Put back what `state` returned, into any empty sequence, which stays empty where it can't be done: False."""
        buffer = (ctypes.c_uint8 * len(state)).from_buffer_copy(state)
        if lib.llama_state_seq_set_data(self.handle, buffer, len(state), sequence):
            return True
        lib.llama_memory_seq_rm(self._memory, sequence, -1, -1)
        return False

    def keep(self, sequence: int, tokens: int) -> bool:
        """Forget all but the first `tokens` of a sequence.

        False where this kind of cache can't do that, so that all of the sequence is forgotten.
        """
        if lib.llama_memory_seq_rm(self._memory, sequence, tokens, -1):
            return True
        lib.llama_memory_seq_rm(self._memory, sequence, -1, -1)
        return False
