"""Collect the inputs of a model's matrix multiplications, as llama.cpp's `llama-imatrix` does.

llama.cpp calls `ActivationCollector.collect` for each node of its graph: once before the node is
computed, to ask, and once after it, if the answer was True. Only the child process imports this.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bot.engine.local.ggml import get_function
from bot.errors import EngineError
from bot.weights.importance_matrix import ColumnSums

if TYPE_CHECKING:
    import numpy.typing as npt

_F32: Final = 0  # GGML_TYPE_F32
_SMALLEST_BATCH: Final = 16  # tokens; llama.cpp ignores smaller ones too


class _Tensor(ctypes.Structure):
    """ggml's `struct ggml_tensor`. `_require_known_layout` checks it against the library."""

    _fields_ = (
        ("type", ctypes.c_int),
        ("buffer", ctypes.c_void_p),
        ("ne", ctypes.c_int64 * 4),
        ("nb", ctypes.c_size_t * 4),
        ("op", ctypes.c_int),
        ("op_params", ctypes.c_int32 * 16),
        ("flags", ctypes.c_int32),
        ("src", ctypes.c_void_p * 10),
        ("view_src", ctypes.c_void_p),
        ("view_offs", ctypes.c_size_t),
        ("data", ctypes.c_void_p),
        ("name", ctypes.c_char * 64),
    )


class ActivationCollector:
    """Adds up the squared inputs of each weight matrix of the layers.

    An exception within llama.cpp's callback would be lost. It is kept, and `sums` raises it.
    """

    def __init__(self) -> None:
        self._sums: dict[str, npt.NDArray[np.float64]] = {}
        self._counts: dict[str, npt.NDArray[np.float64]] = {}
        self._fault: Exception | None = None
        self._known_layout = False
        pointer = ctypes.c_void_p
        self._op_name = get_function("ggml_op_name", ctypes.c_char_p, ctypes.c_int)
        self._name_of = get_function("ggml_get_name", pointer, pointer)
        self._bytes_of = get_function("ggml_nbytes", ctypes.c_size_t, pointer)
        self._copy = get_function(
            "ggml_backend_tensor_get", None, pointer, pointer, ctypes.c_size_t, ctypes.c_size_t
        )

    def sums(self) -> dict[str, ColumnSums]:
        """Return the sums of all tensors so far. Raises EngineError."""
        if self._fault is not None:
            raise EngineError(f"The model's activations can't be read: {self._fault}") from (
                self._fault
            )
        return {
            name: ColumnSums(sums.astype(np.float32), self._counts[name].astype(np.float32))
            for name, sums in self._sums.items()
        }

    def collect(self, address: int, asking: bool, _data: Any) -> bool:
        """Return whether the node is wanted, or take its inputs after it was computed.

        False stops the computation.
        """
        try:
            node = _Tensor.from_address(address)
            if asking:
                return self._is_wanted(node)
            self._take(node)
        except Exception as fault:
            self._fault = fault
            return False
        return True

    def _is_wanted(self, node: _Tensor) -> bool:
        operation = self._op_name(node.op)
        if operation == b"MUL_MAT_ID":
            return True
        if operation != b"MUL_MAT":
            return False
        weights, inputs = _source(node, 0), _source(node, 1)
        self._require_known_layout(node.src[0], weights)
        return (
            inputs.ne[1] >= _SMALLEST_BATCH
            and inputs.type == _F32
            and _name(weights).startswith("blk.")
        )

    def _take(self, node: _Tensor) -> None:
        weights, inputs = _source(node, 0), _source(node, 1)
        self._require_known_layout(node.src[0], weights)
        values = self._read(node.src[1], inputs, np.float32)
        if self._op_name(node.op) == b"MUL_MAT_ID":
            self._add_experts(node, weights, values)
        else:
            self._add(weights, values)
        if not np.isfinite(self._sums[_name(weights)]).all():
            raise ValueError(f"{_name(weights)} has an input that is not a number")

    def _add(self, weights: _Tensor, values: npt.NDArray[np.float32]) -> None:
        """Add inputs of the shape (…, tokens, columns) of one weight tensor."""
        outer, inner, tokens, columns = values.shape
        matrices = weights.ne[2] * weights.ne[3]
        sums = self._sums.setdefault(_name(weights), np.zeros((1, matrices * columns)))
        counts = self._counts.setdefault(_name(weights), np.zeros(1))
        rows = sums.reshape(matrices, columns)
        for i3 in range(outer):
            for i2 in range(inner):
                matrix = (i3 % weights.ne[3]) * weights.ne[2] + i2 % weights.ne[2]
                rows[matrix] += _square(values[i3, i2])
        counts += outer * inner * tokens // matrices

    def _add_experts(
        self, node: _Tensor, weights: _Tensor, values: npt.NDArray[np.float32]
    ) -> None:
        """Add the inputs of experts. The third source names the experts of each token."""
        experts = self._read(node.src[2], _source(node, 2), np.int32)[0, 0]  # (tokens, used)
        count = weights.ne[2]
        sums = self._sums.setdefault(_name(weights), np.zeros((count, values.shape[-1])))
        counts = self._counts.setdefault(_name(weights), np.zeros(count))
        for place in range(experts.shape[1]):
            chosen = experts[:, place]
            inputs = values[0, :, place % values.shape[2]]
            for expert in np.unique(chosen):
                rows = inputs[chosen == expert]
                sums[expert] += _square(rows)
                counts[expert] += len(rows)

    def _read(self, address: int, tensor: _Tensor, kind: Any) -> npt.NDArray[Any]:
        """Return a copy of a tensor on any device, with the columns as the last axis."""
        size = self._bytes_of(address)
        copied = np.empty(size, np.uint8)
        self._copy(address, copied.ctypes.data, 0, size)
        return np.ndarray(tuple(reversed(tensor.ne)), kind, copied, 0, tuple(reversed(tensor.nb)))

    def _require_known_layout(self, address: int, tensor: _Tensor) -> None:
        if self._known_layout:
            return
        if self._name_of(address) != ctypes.addressof(tensor) + _Tensor.name.offset:
            raise ValueError("this build of llama.cpp stores tensors in another way")
        self._known_layout = True


def _source(node: _Tensor, index: int) -> _Tensor:
    return _Tensor.from_address(node.src[index])


def _name(tensor: _Tensor) -> str:
    """Return a tensor's name without the marks of a copy: `CUDA0#blk.0.attn_k.weight#0`."""
    name = str(tensor.name.decode("utf-8", "replace"))
    _, mark, rest = name.partition("#")
    return rest.partition("#")[0] if mark else name


def _square(rows: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    """Return the sum of squares of each column."""
    squares: npt.NDArray[np.float64] = np.einsum("ij,ij->j", rows, rows, dtype=np.float64)
    return squares
