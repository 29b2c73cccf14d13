"""The tree up-projection of Ahle et al. (2020) in NumPy, to be measured, not to be used: it takes no place in the maps.

A node multiplies randomised Hadamard projections of its two children, place by place. Leaves of up to `leaf_degree`
multiply projections of the row itself, so that `leaf_degree` of the whole degree is a Maclaurin map without a tree.
Weights are complex, and sqrt(coef0) is appended to the row.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

_UNITS = np.array([1, 1j, -1, -1j], np.complex64)


class TreeSketch(TransformerMixin, BaseEstimator):
    """Estimate (x.y + coef0)^degree by a binary tree of products; n_components // 2 complex features."""

    def __init__(
        self,
        degree: int = 7,
        n_components: int = 1024,
        *,
        coef0: float = 1.0,
        leaf_degree: int = 1,
        random_state: int | None = None,
    ):
        self.degree = degree
        self.n_components = n_components
        self.coef0 = coef0
        self.leaf_degree = leaf_degree
        self.random_state = random_state

    def fit(self, X: NDArray, y: None = None) -> "TreeSketch":
        """Look at nothing: `transform` draws the tree again from the seed."""
        return self

    def transform(self, X: NDArray) -> NDArray:
        """Return real and imaginary parts of the features of the rows."""
        rng = np.random.default_rng(self.random_state)
        x = np.hstack([X, np.full((len(X), 1), np.sqrt(self.coef0))]).astype(np.float32)
        z = self._node(x, self.degree, rng)
        return np.hstack([z.real, z.imag])

    def _node(self, x: NDArray, degree: int, rng: np.random.Generator) -> NDArray:
        """Return the features of a degree."""
        if degree == 1:
            return x
        if degree <= self.leaf_degree:
            children = [x] * degree
        else:
            children = [self._node(x, part, rng) for part in (degree - degree // 2, degree // 2)]
        m = self.n_components // 2
        product = _projected(children[0], m, rng)
        for child in children[1:]:
            product = product * _projected(child, m, rng)
        return product / np.float32(np.sqrt(m))

    def n_transforms(self, degree: int | None = None) -> int:
        """Count the complex transforms of n_components // 2 numbers that a row takes."""
        degree = self.degree if degree is None else degree
        if degree <= self.leaf_degree or degree == 1:
            return 0
        parts = (degree - degree // 2, degree // 2)
        return sum(self.n_transforms(part) + (part > 1) for part in parts)


def _projected(rows: NDArray, n: int, rng: np.random.Generator) -> NDArray:
    """Return n rows of randomised Hadamard transforms, without scaling."""
    order = 1 << (rows.shape[1] - 1).bit_length()
    z = np.zeros((rows.shape[0], order), np.complex64)
    z[:, : rows.shape[1]] = rows * _UNITS[rng.integers(0, 4, rows.shape[1])]
    half = 1
    while half < order:
        pairs: Any = z.reshape(rows.shape[0], -1, 2, half)
        pairs[:] = np.stack([pairs[:, :, 0] + pairs[:, :, 1], pairs[:, :, 0] - pairs[:, :, 1]], axis=2)
        half *= 2
    return z[:, np.concatenate([rng.permutation(order) for _ in range(-(-n // order))])[:n]]
