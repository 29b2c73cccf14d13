"""Looks at rows: the sums that logistic regressions ask for again and again, wherever the rows are.

A look is a small value that pickles: coefficients, and a function of rows whose results add up. A source takes it to
all rows, in memory or in the partitions of a cluster, and returns the sum.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from craftmaps._system.threads import cut, for_each

SCALES = tuple(2.0 ** np.arange(-1, 7))
_CACHED_BYTES, _FEWEST_CACHED_ROWS = 2**20, 64
_BLOCKS_AT_ONCE = 16  # sums of more would fill the memory


class WeightedRows(NamedTuple):
    """Features of rows, the indicators of their classes, and weights."""

    Z: NDArray
    targets: NDArray
    weight: NDArray[np.float64]


class Look(Protocol):
    """A function of rows whose results add up."""

    def __call__(self, rows: WeightedRows) -> Any:
        """Return what some rows come to."""
        ...


class RowSource(Protocol):
    """Rows that can be looked at again and again, the same ones every time."""

    def added_up(self, look: Look) -> Any:
        """Return the sum of a look at all rows."""
        ...


@dataclass(frozen=True, eq=False)
class RowBlocks:
    """Rows at hand, in blocks; each is a function without arguments that returns some of them."""

    blocks: Sequence[Callable[[], WeightedRows]]

    def added_up(self, look: Look) -> Any:
        """Return the sum of a look at all blocks, added in their order, whatever the number of threads."""
        total: Any = None
        for some in cut(len(self.blocks), _BLOCKS_AT_ONCE):
            blocks = self.blocks[some]
            parts: list[Any] = [None] * len(blocks)

            def work(i: int, blocks=blocks, parts=parts) -> None:
                parts[i] = look(blocks[i]())

            for_each(work, range(len(blocks)))
            for part in parts:
                total = part if total is None else total + part
        return total


@dataclass(frozen=True, eq=False)
class LossSums:
    """Sums over rows: their weight, losses of several models, and what their gradients are made of.

    Parameters
    ----------
    weight : float
    losses : ndarray of shape (n_models,)
    products : ndarray of shape (n_features, n_models * n_classes)
        Of features and the differences between predicted and true indicators.
    differences : ndarray of shape (n_models * n_classes,)
    """

    weight: float
    losses: NDArray[np.float64]
    products: NDArray[np.float64]
    differences: NDArray[np.float64]

    def __add__(self, other: "LossSums") -> "LossSums":
        return LossSums(
            self.weight + other.weight,
            self.losses + other.losses,
            self.products + other.products,
            self.differences + other.differences,
        )

    def __sizeof__(self) -> int:
        """Return the bytes of the arrays, for schedulers that place work by what it weighs."""
        return object.__sizeof__(self) + self.losses.nbytes + self.products.nbytes + self.differences.nbytes


@dataclass(frozen=True, eq=False)
class Losses:
    """Losses and gradients of models whose coefficients stand side by side.

    Parameters
    ----------
    coef : ndarray of shape (n_features, n_models * n_classes)
    shift : ndarray of shape (n_models * n_classes,)
    n_models : int
    """

    coef: NDArray[np.float64]
    shift: NDArray[np.float64]
    n_models: int

    def __call__(self, rows: WeightedRows) -> LossSums:
        """Return the sums of rows."""
        coef = self.coef.astype(rows.Z.dtype)
        total, products = np.zeros(self.n_models), np.zeros(coef.shape, rows.Z.dtype)
        all_differences = np.zeros(coef.shape[1])
        # So few rows at a time that their features are still in the cache for the second product.
        for part in cut(len(rows.Z), max(_FEWEST_CACHED_ROWS, _CACHED_BYTES // rows.Z[:1].nbytes)):
            Z, targets, weight = rows.Z[part], rows.targets[part, None], rows.weight[part]
            losses, shares = _softmax((Z @ coef + self.shift).reshape(len(Z), self.n_models, -1), targets)
            differences = ((shares - targets) * weight[:, None, None]).reshape(len(Z), -1)
            products += Z.T @ differences.astype(Z.dtype)
            total += weight @ losses
            all_differences += differences.sum(axis=0)
        return LossSums(float(rows.weight.sum()), total, products.astype(np.float64), all_differences)


@dataclass(frozen=True, eq=False)
class ScaledLosses:
    """Losses of the same models with their outputs multiplied by each of a few scales."""

    coef: NDArray[np.float64]
    shift: NDArray[np.float64]
    n_models: int

    def __call__(self, rows: WeightedRows) -> NDArray[np.float64]:
        """Return the sums of losses of rows, of shape (n_scales, n_models)."""
        outputs = (rows.Z @ self.coef.astype(rows.Z.dtype) + self.shift).reshape(len(rows.Z), self.n_models, -1)
        scaled = [_softmax(scale * outputs, rows.targets[:, None])[0] for scale in SCALES]
        return np.array([rows.weight @ loss for loss in scaled])


def _softmax(outputs: NDArray, targets: NDArray) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the losses and the probabilities of classes, along the last axis."""
    outputs = outputs - outputs.max(axis=-1, keepdims=True)
    shares = np.exp(outputs)
    sums = shares.sum(axis=-1)
    return np.log(sums) - (outputs * targets).sum(axis=-1), shares / sums[..., None]
