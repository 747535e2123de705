"""Perplexity: how surprised a model is by a text. Lower is better.

The definition is that of llama.cpp's `llama-perplexity`: the text is cut into chunks, and the
tokens of the second half of each chunk are predicted, so that each has at least half a chunk before
it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class Perplexity:
    """The perplexity of a text with its standard error, over `tokens` predicted tokens."""

    value: float
    error: float
    tokens: int
    chunks: int


def token_losses(
    logits: npt.NDArray[np.float32], targets: Sequence[int]
) -> npt.NDArray[np.float64]:
    """Return the negative log-likelihood of each target, given the logits before it."""
    losses = np.empty(len(targets))
    for index, target in enumerate(targets):
        row = logits[index]
        largest = row.max()
        total = np.exp(row - largest).sum(dtype=np.float64)
        losses[index] = math.log(total) - float(row[target] - largest)
    return losses


def summarise_losses(chunks: Sequence[npt.NDArray[np.float64]]) -> Perplexity:
    """Return the perplexity of the losses of all chunks."""
    losses = np.concatenate(chunks)
    mean = float(losses.mean())
    spread = float(losses.var()) / max(1, losses.size - 1)
    value = math.exp(mean)
    return Perplexity(value, value * math.sqrt(spread), losses.size, len(chunks))
