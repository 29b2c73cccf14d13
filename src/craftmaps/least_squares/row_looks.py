"""Looks at rows: the sums that logistic regressions ask for again and again, wherever the rows are.

A look is a small value that pickles: coefficients, and a function of rows whose results add up. A source takes it to
all rows, in memory or in the partitions of a cluster, and returns the sum.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from craftmaps._system.threads import cut, for_each
from craftmaps.least_squares.stored_features import Features, StoredFeatures

SCALES = tuple(2.0 ** np.arange(-1, 7))
_CACHED_BYTES, _FEWEST_CACHED_ROWS = 2**20, 64
_BLOCK_ROWS = 1024
_BLOCKS_AT_ONCE = 16  # sums of more would fill the memory


class WeightedRows(NamedTuple):
    """Features of rows, the indicators of their classes, and weights."""

    Z: Features
    targets: NDArray
    weight: NDArray[np.float64]

    def at(self, positions: slice | NDArray[np.int64]) -> "WeightedRows":
        """Return some of the rows."""
        return WeightedRows(self.Z[positions], self.targets[positions], self.weight[positions])

    def in_blocks(self) -> "RowBlocks":
        """Return the rows, to be looked at in blocks."""
        return RowBlocks([partial(self.at, part) for part in cut(len(self.Z), _BLOCK_ROWS)])


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
        coef, shift = self.coef.astype(rows.Z.dtype), self.shift
        total, products = np.zeros(self.n_models), np.zeros(coef.shape[::-1], rows.Z.dtype)
        all_differences = np.zeros(coef.shape[1])
        for part in _parts(rows.Z):
            Z, targets, weight = rows.Z[part], np.ascontiguousarray(rows.targets[part].T), rows.weight[part]
            losses, shares = _softmax(_outputs(Z, coef, shift, self.n_models), targets)
            shares -= targets
            shares *= weight
            differences = shares.reshape(-1, len(Z))
            products += sums_of(Z, differences.astype(Z.dtype))
            total += losses @ weight
            all_differences += differences.sum(axis=1)
        return LossSums(float(rows.weight.sum()), total, products.T.astype(np.float64), all_differences)


@dataclass(frozen=True, eq=False)
class ScaledLosses:
    """Losses of the same models with their outputs multiplied by each of a few scales."""

    coef: NDArray[np.float64]
    shift: NDArray[np.float64]
    n_models: int

    def __call__(self, rows: WeightedRows) -> NDArray[np.float64]:
        """Return the sums of losses of rows, of shape (n_scales, n_models)."""
        outputs = _outputs(rows.Z, self.coef.astype(rows.Z.dtype), self.shift, self.n_models)
        scaled = [_softmax(scale * outputs, rows.targets.T)[0] for scale in SCALES]
        return np.array([loss @ rows.weight for loss in scaled])


def _parts(Z: Features) -> list[slice]:
    """Return so few rows at a time that their features are still in the cache for the second product."""
    if isinstance(Z, StoredFeatures):  # to arrange coefficients for its loops takes longer than to read it again
        return [slice(0, len(Z))]
    return cut(len(Z), max(_FEWEST_CACHED_ROWS, _CACHED_BYTES // Z[:1].nbytes))


def sums_of(Z: Features, values: NDArray) -> NDArray:
    """Return the sums over rows of values times features, of shape (n_values, n_features)."""
    return Z.sums(np.ascontiguousarray(values.T)).T if isinstance(Z, StoredFeatures) else values @ Z


def _outputs(Z: Features, coef: NDArray, shift: NDArray[np.float64], n_models: int) -> NDArray[np.float64]:
    """Return outputs for rows, of shape (n_models, n_classes, n_rows): sums over few classes are quick over rows."""
    return (np.ascontiguousarray((Z @ coef).T) + shift[:, None]).reshape(n_models, -1, len(Z))


def _softmax(outputs: NDArray[np.float64], targets: NDArray) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the losses of models for each row, and the probabilities of classes."""
    outputs = outputs - outputs.max(axis=1, keepdims=True)
    losses, shares = -(outputs * targets).sum(axis=1), np.exp(outputs, out=outputs)
    sums = shares.sum(axis=1)
    losses += np.log(sums)
    shares /= sums[:, None]
    return losses, shares
