"""A thin, typed wrapper of llama-cpp-python's low-level functions.

Only the worker process imports this.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from functools import cached_property
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

# llama_get_logits_ith, returning a bare address. Unwrapping a pointer object for each token takes
# longer than the lookup itself.
_get_logits_address = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32)(
    ctypes.cast(lib.llama_get_logits_ith, ctypes.c_void_p).value or 0
)


class LoadError(Exception):
    """llama.cpp could not load the model or create a context for it."""


class ContextError(LoadError):
    """The model was loaded, but a context for it cannot be created or used."""


class DecodeError(Exception):
    """A decode failed and left the context in an unknown state."""


@dataclass(frozen=True, slots=True)
class ContextPlan:
    """Parameters of a context. `tokens` is the size of each sequence."""

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
        """Number of layers that can be offloaded: the repeating layers and the output layer."""
        return int(lib.llama_model_n_layer(self.handle)) + 1

    @property
    def trained_context(self) -> int:
        """Context length in training, in tokens."""
        return int(lib.llama_model_n_ctx_train(self.handle))

    @property
    def is_generative(self) -> bool:
        """Whether the model can generate text. False for encoders."""
        return lib.llama_model_has_decoder(self.handle) and not lib.llama_model_has_encoder(
            self.handle
        )

    @property
    def parameters(self) -> int:
        """Number of weights."""
        return int(lib.llama_model_n_params(self.handle))

    @property
    def chat_template(self) -> str:
        """The model's own chat template, or an empty string."""
        template = lib.llama_model_chat_template(self.handle, None)
        return template.decode("utf-8", "replace") if template else ""

    @property
    def bos(self) -> str:
        """Spelling of the token that begins a text, or an empty string."""
        return self._spell(lib.llama_vocab_bos(self.vocabulary))

    @property
    def eos(self) -> str:
        """Spelling of the token that ends a text, or an empty string."""
        return self._spell(lib.llama_vocab_eos(self.vocabulary))

    def free(self) -> None:
        """Release the memory. The model must not be used afterwards."""
        lib.llama_model_free(self.handle)

    def tokenize(self, parts: Sequence[PromptPart]) -> list[int]:
        """Return the tokens of a prompt. Only its control parts can become control tokens.

        The token that begins a text comes first, and once, if the model wants it.
        """
        from bot.her.prompt import Control

        tokens: list[int] = []
        for part in parts:
            control = isinstance(part, Control)
            text = part.token if isinstance(part, Control) else part.text
            # A tokeniser may put a space before a text, but only at its start or after a control
            # token.
            if tokens and self._adds_space and not self._is_control(tokens[-1]):
                tokens += self._encode_continuation(text, control=control)
            else:
                tokens += self.encode(text, control=control)
        if lib.llama_vocab_get_add_bos(self.vocabulary):
            bos = lib.llama_vocab_bos(self.vocabulary)
            while tokens[:1] == [bos]:
                del tokens[0]
            tokens.insert(0, bos)
        return tokens

    def encode(self, text: str, *, control: bool = False) -> list[int]:
        """Return the tokens of `text`. It yields control tokens only if `control` is set."""
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

    @cached_property
    def _adds_space(self) -> bool:
        """Whether the tokeniser puts a space before a text."""
        return b"".join(map(self.piece, self.encode("a"))) != b"a"

    def _encode_continuation(self, text: str, *, control: bool) -> list[int]:
        """Return the tokens of a text that follows another one, without a space before it."""
        newline = self.encode("\n")
        tokens = self.encode(f"\n{text}", control=control)
        if tokens[: len(newline)] == newline:
            return tokens[len(newline) :]
        return self.encode(text, control=control)

    def _is_control(self, token: int) -> bool:
        return bool(lib.llama_vocab_is_control(self.vocabulary, token))

    def _spell(self, token: int) -> str:
        """Return the spelling of a control token, or an empty string if there is no such token."""
        if token < 0:
            return ""
        return bytes(lib.llama_vocab_get_text(self.vocabulary, token)).decode("utf-8", "replace")

    def piece(self, token: int) -> bytes:
        """Return the bytes of a token, which are empty for a control token."""
        if token not in self._pieces:
            buffer = ctypes.create_string_buffer(_PIECE_BYTES)
            count = lib.llama_token_to_piece(self.vocabulary, token, buffer, _PIECE_BYTES, 0, False)
            if count < 0:
                buffer = ctypes.create_string_buffer(-count)
                count = lib.llama_token_to_piece(self.vocabulary, token, buffer, -count, 0, False)
            self._pieces[token] = buffer.raw[:count]
        return self._pieces[token]

    def ends_reply(self, token: int) -> bool:
        """Return whether a token ends the reply, as end-of-turn and all control tokens do."""
        if token not in self._ends:
            self._ends[token] = bool(
                lib.llama_vocab_is_eog(self.vocabulary, token)
                or lib.llama_vocab_is_control(self.vocabulary, token)
            )
        return self._ends[token]

    def has_control_token(self, spelling: str) -> bool:
        """Return whether `spelling` is one control token of this model."""
        tokens = self.encode(spelling, control=True)
        return len(tokens) == 1 and bool(lib.llama_vocab_is_control(self.vocabulary, tokens[0]))


class Context:
    """The KV cache of all sequences, and the batch in which they are decoded."""

    def __init__(self, model: Model, plan: ContextPlan) -> None:
        params = lib.llama_context_default_params()
        params.n_ctx = plan.tokens * plan.sequences
        params.n_batch = params.n_ubatch = plan.batch
        params.n_seq_max = plan.sequences
        params.n_threads = params.n_threads_batch = plan.threads
        params.type_k = params.type_v = GGML_TYPES[plan.cache_type]
        params.flash_attn_type = FLASH_ATTENTION[plan.flash_attention]
        # Each sequence has its own part of the cache. A unified cache was 15 to 40 % slower per
        # step, since attention then skips over the tokens of all other sequences: 121 instead of
        # 97 ms of CPU with the demo model and eight sequences of 350 tokens.
        params.kv_unified = False
        params.no_perf = True
        handle = lib.llama_init_from_model(model.handle, params)
        if not handle:
            raise ContextError(f"llama.cpp could not create a context of {params.n_ctx:,} tokens")
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
        self._logits: dict[int, npt.NDArray[np.float32]] = {}  # by address

    def free(self) -> None:
        """Release the memory. The context must not be used afterwards."""
        lib.llama_batch_free(self._batch)
        lib.llama_free(self.handle)

    def warm_up(self) -> None:
        """Decode one token, so that a device or kernel that fails does so now.

        Raises DecodeError. Some failures abort the process instead.
        """
        self.clear_batch()
        self.add(0, 0, [0], want_logits=True)
        self.decode()
        self.clear_batch()
        self.truncate(0, 0)

    def clear_batch(self) -> None:
        """Remove all tokens from the batch."""
        self._filled = 0

    @property
    def is_batch_empty(self) -> bool:
        """Whether the batch has no tokens."""
        return self._filled == 0

    @property
    def room(self) -> int:
        """Number of tokens that still fit into the batch."""
        return self.capacity - self._filled

    def add(self, sequence: int, position: int, tokens: Sequence[int], *, want_logits: bool) -> int:
        """Add one or more tokens of a sequence to the batch and return the index of the last one.

        `want_logits` requests the logits of that one. Raises DecodeError if the batch is full.
        """
        if not 0 < len(tokens) <= self.room:
            raise DecodeError(
                f"{len(tokens)} tokens do not fit into a batch with room for {self.room}"
            )
        index = self._filled
        for index, token in enumerate(tokens, self._filled):
            self._tokens[index] = token
            self._positions[index] = position + index - self._filled
            self._sequences[index][0] = sequence
            self._wanted[index] = 0
        self._filled = index + 1
        if want_logits:
            self._wanted[index] = 1
        return index

    def decode(self) -> bool:
        """Decode the batch. Return False, without any effect, if the KV cache is full.

        Raises DecodeError.
        """
        self._batch.n_tokens = self._filled
        status = lib.llama_decode(self.handle, self._batch)
        if status not in (0, 1):
            raise DecodeError(f"llama_decode failed with status {status}")
        return bool(status == 0)

    def logits(self, index: int) -> npt.NDArray[np.float32]:
        """Return the logits at an index that `add` returned. The next decode invalidates them."""
        address = _get_logits_address(self.handle, index)
        # Creating an array takes longer than everything else in sampling a token.
        if address not in self._logits:
            row = (ctypes.c_float * self._model.size).from_address(address)
            self._logits[address] = np.frombuffer(row, np.float32)
        return self._logits[address]

    def measure_state(self, sequence: int) -> int:
        """Return the size of `save_state`'s result in bytes."""
        return int(lib.llama_state_seq_get_size(self.handle, sequence))

    def save_state(self, sequence: int) -> bytes:
        """Return the KV cache of a sequence."""
        size = self.measure_state(sequence)
        buffer = (ctypes.c_uint8 * size)()
        return bytes(
            memoryview(buffer)[: lib.llama_state_seq_get_data(self.handle, buffer, size, sequence)]
        )

    def restore_state(self, sequence: int, state: bytes) -> bool:
        """Load a saved state into an empty sequence. If that fails, return False."""
        buffer = (ctypes.c_uint8 * len(state)).from_buffer_copy(state)
        if lib.llama_state_seq_set_data(self.handle, buffer, len(state), sequence):
            return True
        lib.llama_memory_seq_rm(self._memory, sequence, -1, -1)
        return False

    def truncate(self, sequence: int, tokens: int) -> bool:
        """Remove all but the first `tokens` of a sequence from the KV cache.

        Return False if this kind of cache cannot do that. The whole sequence is removed then.
        """
        if lib.llama_memory_seq_rm(self._memory, sequence, tokens, -1):
            return True
        lib.llama_memory_seq_rm(self._memory, sequence, -1, -1)
        return False
