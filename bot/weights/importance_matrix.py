"""The importance matrix of a model: how strongly each column of each weight matrix is used.

llama.cpp's quantiser keeps those columns most exactly that a text drives hardest. The matrix holds,
for each tensor, the sums of the squared inputs of each column over all tokens of a text, and the
number of tokens. A tensor of experts has one row of sums and one count for each expert.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt


@dataclass(frozen=True, slots=True, eq=False)
class ColumnSums:
    """Sums of squared inputs of one tensor: shape (counts, columns). `counts` are in tokens."""

    sums: npt.NDArray[np.float32]
    counts: npt.NDArray[np.float32]

    @property
    def is_partial(self) -> bool:
        """Whether some experts, or all, saw no token."""
        return bool((self.counts == 0).any())

    def mean_squares(self) -> npt.NDArray[np.float32]:
        """Return the mean square of each column, as one row: the weights that the quantiser takes.

        Columns without data weigh 1, as in llama.cpp.
        """
        counts = self.counts.reshape(-1, 1)
        means = np.divide(self.sums, counts, out=np.ones_like(self.sums), where=counts > 0)
        return np.ascontiguousarray(means, np.float32).reshape(-1)


@dataclass(frozen=True, slots=True, eq=False)
class ImportanceMatrix:
    """The sums of all tensors by name, and the text that they come from."""

    tensors: Mapping[str, ColumnSums]
    chunks: int  # pieces of text that were read
    chunk_size: int  # tokens of a piece; 0 if unknown
    datasets: tuple[str, ...] = ()  # names of the texts

    @property
    def partial(self) -> tuple[str, ...]:
        """The names of the tensors with experts that saw no token."""
        return tuple(name for name, one in self.tensors.items() if one.is_partial)
